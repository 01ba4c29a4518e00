"""``lshdb link``."""

from __future__ import annotations

import typer

from lshdb.cli.options import open_index

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb ingest --no-link ./crawl         on each of several machines, into one Postgres\n
  lshdb link                             then once"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("link", epilog=EPILOG)(link)


def link(context: typer.Context) -> None:
    """Compute the pairs of what was ingested with --no-link; questions do it by themselves."""
    with open_index(context) as index:
        typer.echo(f"{index.link():,} pairs added")
