"""``lshdb copy``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import settings_of
from lshdb.cli.render import print_json

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb copy crawl.db postgresql://me@db.example/crawl\n
  lshdb copy 'postgresql://me@db.example/crawl?options=-csearch_path%3Dlshdb' crawl.db\n
\n
Afterwards, add to one of the two only: they do not follow each other."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("copy", epilog=EPILOG)(copy)


def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SRC", help="The index: a database URL or a path.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="A place without an index: a URL or a path.")],
    json: options.Json = False,
) -> None:
    """Copy an index, as it is at this moment, to another place: from SQLite to Postgres, or back, or to its like.

    The copy can be found when all of it is there and was read back: the rows of every table, and a digest of them, are
    the same on both sides. --db is not looked at.
    """
    from lshdb.cli.display import progress_for
    from lshdb.index import Index

    with Index.open(source, progress_for(settings_of(context).quiet)) as index:
        report = index.copy(destination)
    if json:
        print_json(report.as_json())
    else:
        tables = f"{report.num_rows:,} rows in {len(report.tables)} tables"
        typer.echo(f"{report.source} -> {report.destination}: {tables}, found equal; {report.seconds:,.1f} s")
