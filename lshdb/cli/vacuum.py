"""``lshdb vacuum``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_json

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb vacuum                  after many documents were removed\n
  lshdb vacuum --full           Postgres: while nobody uses the index\n
\n
Space that nothing takes any more is used again by what comes; this is for a file that is to be smaller."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("vacuum", epilog=EPILOG)(vacuum)


def vacuum(
    context: typer.Context,
    full: Annotated[
        bool, typer.Option("--full", help="Postgres: give the space to the system; nobody can use the index meanwhile.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Give up the space of what was removed, and print what the index took before and takes now.

    A SQLite file needs as much room again while it is written anew; readers go on, writers wait. On Postgres, the
    planner's statistics are made anew too, and without --full the space stays in the tables, for what comes.
    """
    with open_index(context) as index:
        report = index.vacuum(full=full)
    if json:
        print_json(report.as_json())
    else:
        before, after = (f"{number / 1e6:,.1f} MB" for number in (report.bytes_before, report.bytes_after))
        typer.echo(f"{before} before, {after} now; {report.seconds:,.1f} s")
