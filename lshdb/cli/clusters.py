"""``lshdb clusters``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import KeepName, LinkageName, cluster_options, open_index
from lshdb.cli.render import print_rows

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb clusters --min-sim 0.9 --min-size 10\n
  lshdb clusters --keep newest --prefer '^https://www[.]' --format jsonl\n
  lshdb clusters --members --linkage complete-to-keep --format csv > members.csv"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("clusters", epilog=EPILOG)(clusters)


def clusters(
    context: typer.Context,
    min_sim: options.MinSim = None,
    keep: options.Keep = KeepName.first,
    prefer: options.Prefer = [],  # noqa: B006  (Typer makes a new one)
    linkage: options.Linkage = LinkageName.single,
    within: options.Within = None,
    min_size: Annotated[int, typer.Option(min=2, metavar="N", help="Least number of documents.")] = 2,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the N largest.", show_default=False)
    ] = None,
    members: Annotated[
        bool, typer.Option("--members", help="A row a document, with its similarity to the one kept.")
    ] = False,
    form: options.FormatOption = None,
) -> None:
    """Print the clusters of near-duplicates, the largest first, and which document of each to keep.

    A cluster's name is made of its first document's id: it stays, whoever else comes or goes and whatever is kept.
    With --members, where the index has several collections and none is chosen, two more columns say whose the ids are.
    """
    chosen = cluster_options(keep, prefer, linkage, within, min_size=min_size, limit=limit)
    with open_index(context) as index:
        if not members:
            found = index.clusters(min_sim, chosen)
            rows = ((one.cluster, one.keep, len(one.members), one.members) for one in found)
            print_rows(("cluster", "keep", "size", "members"), rows, form)
            return
        columns = ["cluster", "keep", "document", "similarity", "exact"]
        if within is None and len(index.collections()) > 1:
            columns += ["collection", "keep_collection"]
        flat = index.members(min_sim, chosen)
        print_rows(columns, ([getattr(member, name) for name in columns] for member in flat), form)
