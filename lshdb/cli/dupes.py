"""``lshdb dupes``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import Listing, Output, print_records
from lshdb.model.choices import PairOrder

__all__ = ["EPILOG", "dupes"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb dupes --min-sim 0.9\n
  lshdb dupes --sort similarity --limit 20\n
  lshdb dupes --expand --format jsonl | jq -r .right\n
  lshdb dupes --within news\n
  lshdb dupes --complete\n
  lshdb dupes --between corpus benchmark\n
  lshdb dupes --out pairs.csv"""


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
    max_sim: Annotated[float, typer.Option(min=0.0, max=1.0, help="Largest similarity.")] = 1.0,
    sort: Annotated[
        PairOrder | None,
        typer.Option(help="The most similar first, or by id. Default: exact copies first.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Print only the first N.", show_default=False)
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Also compute the pairs that oversized buckets left out.")
    ] = False,
    *,
    output: Output,
) -> None:
    """Print pairs of near-duplicate documents.

    If several documents have the same text, the first one stands for it in all other pairs, and the others are pairs
    (first, other, 1.0). If the index has several collections and you choose none, two more columns name the collections
    of the ids.

    A bucket of more than 256 distinct texts is not expanded into all its pairs when documents are added. --complete
    computes the others now, after it has said on stderr how many comparisons that takes at most. They are not stored.
    """
    columns = ["left", "right", "similarity", "exact"]
    with open_index(context) as index:
        if between is None and within is None and len(index.collections()) > 1:
            columns += ["left_collection", "right_collection"]
        found = index.pairs(
            min_sim,
            expand=expand,
            between=between,
            within=within,
            max_sim=max_sim,
            sort=sort,
            limit=limit,
            complete=complete,
        )
        print_records(Listing(columns, ("left", "right"), "pair", limit), found, output)
