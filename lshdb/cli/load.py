"""``lshdb load``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.ingest import show
from lshdb.cli.options import Making, ensure_index

__all__ = ["EPILOG", "load"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb load /nfs/work\n
  lshdb --db postgresql://me@host/crawl load /nfs/work\n
  lshdb load --no-pairs /nfs/work  # the index computes the pairs"""


def load(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A work folder of lshdb spark.")],
    no_pairs: Annotated[
        bool, typer.Option("--no-pairs", help="Load no pairs; the first question for pairs computes them.")
    ] = False,
    collection: options.Collection = "default",
    json: options.Json = False,
) -> None:
    """Fill an empty index from a work folder of [bold]lshdb spark[/bold].

    The index is the one that an ingest of the same files would have made, and later ingests continue it.
    """
    from lshdb.stages.folder import WorkFolder

    # Now, so that a misspelt folder leaves no index behind.
    WorkFolder(folder)
    with ensure_index(context, Making()) as index:
        report = index.load(folder, collection, pairs=not no_pairs)
    show(context, report, json)
