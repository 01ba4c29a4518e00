"""``lshdb dupes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from lshdb.cli import options
from lshdb.cli.options import asked_index
from lshdb.cli.render import Listing, Output, print_records
from lshdb.errors import UsageError
from lshdb.model.choices import MIN_CONTAINMENT, Comparing, PairOrder

__all__ = ["EPILOG", "dupes"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb dupes --min-sim 0.9\n
  lshdb dupes --sort similarity --limit 20\n
  lshdb dupes --expand --format jsonl | jq -r .right\n
  lshdb dupes --within news\n
  lshdb dupes --complete\n
  lshdb dupes --between corpus benchmark\n
  lshdb dupes --out pairs.csv\n
  lshdb dupes --measure containment --min-sim 0.9"""


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
    measure: Annotated[
        Comparing, typer.Option(help="containment: print pairs in which one document contains the other.")
    ] = "jaccard",
    *,
    output: Output,
) -> None:
    """Print pairs of near-duplicate documents.

    If several documents have the same text, the first one represents it in all other pairs, and each of the others is
    in a pair (first, other, 1.0). If the index has several collections and you choose none, two more columns name the
    collections of the ids.

    A bucket of more than 256 distinct texts is not expanded into all its pairs when documents are added. --complete
    also computes the pairs that were left out, and first prints to stderr how many comparisons that takes at most. They
    are not stored.

    With --measure containment, a line holds the small document, the large one, and the share of the small one's
    shingles that the large one has, if that is at least --min-sim (default: 0.9). Documents with the same text are left
    out. --between names the collections of the small and of the large document. The index must have passages (lshdb
    passages --build).
    """
    chosen: dict[str, Any] = {
        "expand": expand, "between": between, "within": within, "sort": sort, "limit": limit,
    }  # fmt: skip
    sides = ("left", "right") if measure == "jaccard" else ("small", "large")
    with asked_index(context) as index:
        columns = [*sides, options.compared(measure), "exact"]
        if between is None and within is None and len(index.collections()) > 1:
            columns += [f"{side}_collection" for side in sides]
        found: Iterator[object]
        if measure == "containment":
            if complete:
                raise UsageError(reason="--complete is for oversized buckets, and --measure containment uses none")
            found = index.contained_pairs(
                MIN_CONTAINMENT if min_sim is None else min_sim, max_containment=max_sim, **chosen
            )
        else:
            found = index.pairs(min_sim, max_sim=max_sim, complete=complete, **chosen)
        print_records(Listing(columns, sides, "pair", limit), found, output)
