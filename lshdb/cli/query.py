"""``lshdb query``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import Listing, Output, print_records
from lshdb.errors import UsageError

__all__ = ["EPILOG", "query"]

NO_MATCH = 1

EPILOG = """[bold]Examples[/bold]\n
  lshdb query page.html\n
  curl -s https://example.org | lshdb query - --input-format html\n
  lshdb query --id https://example.org/ --min-sim 0.6\n
\n
Exits with status 1 if it finds nothing, as grep does."""


def query(
    context: typer.Context,
    file: Annotated[str | None, typer.Argument(metavar="FILE|-", help="A document, in the index or not.")] = None,
    doc_id: Annotated[str | None, typer.Option("--id", help="A document of the index.", show_default=False)] = None,
    min_sim: options.MinSim = None,
    collection: options.Collection = "default",
    input_format: options.InputFormat = None,
    *,
    output: Output,
) -> None:
    """Print the near-duplicates of one document, the most similar first."""
    from lshdb.readers import ReadOptions

    if (file is None) == (doc_id is None):
        raise UsageError(reason="query takes a FILE (or -), or --id ID")
    columns = ["id", "similarity", "exact"]
    with open_index(context) as index:
        columns += ["collection"] if len(index.collections()) > 1 else []
        if doc_id is not None:
            found = index.query_id(index.meant(doc_id, collection), min_sim, collection)
        else:
            found = index.query_file(file or "-", min_sim, ReadOptions(input_format=input_format))
    print_records(Listing(columns, ("id",), "near-duplicate"), found, output)
    if not found:
        raise typer.Exit(NO_MATCH)
