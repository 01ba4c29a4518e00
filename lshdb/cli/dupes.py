"""``lshdb dupes``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_rows

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb dupes --min-sim 0.9\n
  lshdb dupes --expand --format jsonl | jq -r .right\n
  lshdb dupes --within news\n
  lshdb dupes --between corpus benchmark\n
  lshdb dupes --format csv > pairs.csv"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("dupes", epilog=EPILOG)(dupes)


def dupes(
    context: typer.Context,
    min_sim: options.MinSim = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Every pair of documents, instead of one for each two contents.")
    ] = False,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="The left document of collection A, the right one of B.", show_default=False),
    ] = None,
    within: Annotated[
        str | None, typer.Option(metavar="NAME", help="Both documents of this collection.", show_default=False)
    ] = None,
    form: options.FormatOption = None,
) -> None:
    """Print the pairs of near-duplicates.

    A content that many documents have is named by its first one; its other documents are pairs (first, other, 1.0).
    Where the index has several collections, and none is chosen, two more columns say whose the ids are.
    """
    columns = ["left", "right", "similarity", "exact"]
    with open_index(context) as index:
        if between is None and within is None and len(index.collections()) > 1:
            columns += ["left_collection", "right_collection"]
        pairs = index.pairs(min_sim, expand=expand, between=between, within=within)
        print_rows(columns, ([getattr(pair, name) for name in columns] for pair in pairs), form)
