"""``lshdb clusters``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import Clustering, asked_index
from lshdb.cli.render import Listing, Output, print_rows

__all__ = ["EPILOG", "clusters"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb clusters --min-sim 0.9 --min-size 10\n
  lshdb clusters --keep newest --prefer '^https://www[.]' --format jsonl\n
  lshdb clusters --members --linkage complete-to-keep --format csv > members.csv\n
  lshdb clusters --measure containment"""


def clusters(
    context: typer.Context,
    clustering: Clustering,
    min_sim: options.MinSim = None,
    min_size: Annotated[int, typer.Option(min=2, metavar="N", help="Least number of documents.")] = 2,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Print only the N largest.", show_default=False)
    ] = None,
    members: Annotated[
        bool, typer.Option("--members", help="Print a row per document, with its similarity to the one kept.")
    ] = False,
    *,
    output: Output,
) -> None:
    """Print clusters of near-duplicates, each with the document to keep.

    The largest cluster comes first. The name of a cluster is derived from the id of its first document. It stays the
    same when other documents come or go, no matter which document is kept. If the index has several collections and
    you choose none, --members prints two more columns with the collections of the ids.

    With --measure containment, a cluster is a document and those that it contains; for each of these, --members prints
    the share of its shingles that the kept one has. The index must have passages (lshdb passages --build).
    """
    chosen = clustering.options(min_size=min_size, limit=limit)
    with asked_index(context) as index:
        if not members:
            found = index.clusters(min_sim, chosen)
            rows = ((one.cluster, one.keep, len(one.members), one.members) for one in found)
            listing = Listing(("cluster", "keep", "size", "members"), ("keep", "members"), "cluster", limit)
            print_rows(listing, rows, output)
            return
        names = ["cluster", "keep", "document", "similarity", "exact"]
        if chosen.within is None and len(index.collections()) > 1:
            names += ["collection", "keep_collection"]
        columns = [options.compared(clustering.measure) if name == "similarity" else name for name in names]
        rows = (tuple(getattr(member, name) for name in names) for member in index.members(min_sim, chosen))
        print_rows(Listing(columns, ("keep", "document"), "document"), rows, output)
