"""``lshdb copy``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import settings_of
from lshdb.cli.render import counted, print_report
from lshdb.errors import UsageError

__all__ = ["EPILOG", "copy"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb copy crawl.db postgresql://me@db.example/crawl\n
  lshdb copy 'postgresql://me@db.example/crawl' crawl.db\n
\n
Afterwards, write to only one of the two: they are not kept in sync."""


def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SRC", help="The index: a database URL or a path.")],
    destination: Annotated[str, typer.Argument(metavar="DST", help="A URL or a path where there is no index yet.")],
    json: options.Json = False,
) -> None:
    """Copy an index, for example from SQLite to Postgres.

    The copy appears once it is complete, has been read back, and equals the original row by row. --db is ignored.
    """
    from lshdb.cli.display import display_of
    from lshdb.index import Index

    if settings_of(context).schema is not None:
        raise UsageError(reason="copy takes no --schema: write ?schema=NAME into the URL of SRC or DST")
    with Index.open(source, display_of(context)) as index:
        report = index.copy(destination)
    tables = f"{counted(report.num_rows, 'row')} in {len(report.tables)} tables"
    text = f"{report.source} -> {report.destination}: {tables}, found equal; {report.seconds:,.1f} s"
    print_report(report, text, as_json=json)
