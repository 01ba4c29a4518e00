"""``lshdb link``."""

from __future__ import annotations

import typer

from lshdb.cli.memory import share_one_arena
from lshdb.cli.options import open_index
from lshdb.cli.table import counted

__all__ = ["EPILOG", "link"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb ingest --no-link ./crawl  # on each of several machines\n
  lshdb link                      # then once"""


def link(context: typer.Context) -> None:
    """Compute the pairs of documents that were ingested with --no-link.

    Questions that need pairs also compute them.
    """
    share_one_arena()
    with open_index(context) as index:
        typer.echo(f"{counted(index.link(), 'pair')} added")
