"""``lshdb boilerplate``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli.options import open_index
from lshdb.cli.render import Listing, Output, print_records

__all__ = ["EPILOG", "boilerplate"]

COLUMNS = ("num_documents", "num_words", "exact", "first", "text")

EPILOG = """[bold]Examples[/bold]\n
  lshdb boilerplate\n
  lshdb boilerplate --prefix https://example.org/ --limit 5\n
  lshdb boilerplate --within news --min-documents 100 --format jsonl"""


def boilerplate(
    context: typer.Context,
    min_documents: Annotated[
        int, typer.Option("--min-documents", min=2, metavar="N", help="Least number of documents of a passage.")
    ] = 2,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many passages to print.")] = 20,
    within: Annotated[
        str | None, typer.Option(metavar="NAME", help="Count only documents of this collection.", show_default=False)
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Count only documents whose ids begin with this.", show_default=False),
    ] = None,
    *,
    output: Output,
) -> None:
    """Print the passages that many documents share, the most frequent first.

    The index must have passages (lshdb passages --build). For each passage, it prints the number of documents, the
    length in words, the first document, and the text as it appears there. If exact is false, more than 1,000 texts may
    contain it; then the number is that of the documents with the same fingerprints, and may be too high.
    """
    with open_index(context) as index:
        columns = [*COLUMNS, *(["collection"] if within is None and len(index.collections()) > 1 else [])]
        found = index.boilerplate(min_documents, limit, within, prefix)
        print_records(Listing(columns, ("first", "text"), "passage", limit), found, output)
