"""``lshdb init``."""

from __future__ import annotations

import typer

from lshdb.cli.options import Making, settings_of

__all__ = ["EPILOG", "init"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb init --shingle char:10 --floor 0.7\n
  lshdb init --min-sim 0.6 --recall 0.99                 bands and rows follow from these\n
  lshdb --db features.db init --shingle set --bands 500 --rows 20"""


def init(context: typer.Context, making: Making) -> None:
    """Create an empty index.

    The first [bold]ingest[/bold] does so too, with the same options.
    """
    from lshdb.index import Index

    with Index.create(settings_of(context).db, making.chosen()) as index:
        params = index.params
        typer.echo(f"{index.url}: {params.shingle}, {params.scheme}, {params.bands} bands of {params.rows} rows")
        typer.echo(f"a pair at {params.min_sim} is found with probability {params.recall:.4f}")
