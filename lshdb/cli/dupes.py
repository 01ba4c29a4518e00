"""``lshdb dupes``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_records

__all__ = ["EPILOG", "dupes"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb dupes --min-sim 0.9\n
  lshdb dupes --expand --format jsonl | jq -r .right\n
  lshdb dupes --within news\n
  lshdb dupes --between corpus benchmark\n
  lshdb dupes --format csv > pairs.csv"""


def dupes(
    context: typer.Context,
    min_sim: options.MinSim = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Print every pair of documents, not one per two distinct texts.")
    ] = False,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Left document in collection A, right one in B.", show_default=False),
    ] = None,
    within: Annotated[
        str | None, typer.Option(metavar="NAME", help="Both documents in this collection.", show_default=False)
    ] = None,
    form: options.FormatOption = None,
) -> None:
    """Print pairs of near-duplicate documents.

    If several documents have the same text, the first one stands for it in all other pairs, and the others are pairs
    (first, other, 1.0). If the index has several collections and you choose none, two more columns name the collections
    of the ids.
    """
    columns = ["left", "right", "similarity", "exact"]
    with open_index(context) as index:
        if between is None and within is None and len(index.collections()) > 1:
            columns += ["left_collection", "right_collection"]
        print_records(columns, index.pairs(min_sim, expand=expand, between=between, within=within), form)
