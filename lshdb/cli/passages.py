"""``lshdb passages``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import Listing, Output, counted, print_records, print_report
from lshdb.errors import UsageError

__all__ = ["EPILOG", "passages"]

NONE_FOUND = 1
COLUMNS = ("start", "num_words", "num_documents", "exact", "first", "text")

EPILOG = """[bold]Examples[/bold]\n
  lshdb passages --build             # once, for an index that has documents\n
  lshdb passages https://example.org/\n
  lshdb passages crawl/page.html --format jsonl\n
\n
Exits with status 1 if no other document contains a passage of this one."""


def passages(
    context: typer.Context,
    doc_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A document of the index.", show_default=False)
    ] = None,
    build: Annotated[
        bool, typer.Option("--build", help="Add a passage index, from the kept texts. Run it again to continue.")
    ] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Drop the passage index.")] = False,
    words: Annotated[
        int, typer.Option("--words", min=1, max=1000, metavar="N", help="For --build: find every run of N words.")
    ] = 13,
    collection: options.Collection = "default",
    wait: options.Wait = False,
    *,
    output: Output,
) -> None:
    """Print the passages of a document that other documents contain, in reading order.

    A passage is a run of words that cannot be extended in some other document. For each, it prints its first word,
    counted from 0, its length in words, how many other documents contain it, and the first of these. If exact is false,
    there are more: a passage in more than 256 texts is not looked up in all of them. JSON lines have the first ten
    documents, and the bytes of the passage.
    """
    if (doc_id is not None) + build + drop != 1:
        raise UsageError(reason="passages takes one of ID, --build and --drop")
    with open_index(context) as index:
        if build:
            report = index.build_passages(words, wait=wait)
            shown = (
                f"every run of {counted(report.passages, 'word')} that texts share is found; {report.seconds:,.1f} s"
            )
            print_report(report, shown, as_json=output.chosen == "jsonl")
        elif drop:
            index.drop_passages(wait=wait)
        else:
            columns = [*COLUMNS, *(["start_byte", "stop_byte", "documents"] if output.chosen == "jsonl" else [])]
            found = index.passages(index.meant(doc_id or "", collection), collection)
            print_records(Listing(columns, ("first", "text"), "passage"), found, output)
            if not found:
                raise typer.Exit(NONE_FOUND)
