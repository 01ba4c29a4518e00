"""``lshdb vacuum``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_report

__all__ = ["EPILOG", "vacuum"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb vacuum         # after many documents were removed\n
  lshdb vacuum --full  # Postgres: while nobody uses the index\n
\n
New documents use the space of removed ones anyway. Use this to make a file smaller."""


def vacuum(
    context: typer.Context,
    full: Annotated[
        bool,
        typer.Option("--full", help="Postgres: return the space to the system. Nobody can use the index meanwhile."),
    ] = False,
    json: options.Json = False,
) -> None:
    """Free the space of removed documents.

    It first merges the buckets that ingests left unmerged, which makes questions faster. It prints the size of the
    index before and after. A SQLite file is rewritten and needs as much free space again; readers continue, writers
    wait. On Postgres, the planner's statistics are refreshed too, and without --full the space stays in the tables for
    new documents.
    """
    with open_index(context) as index:
        report = index.vacuum(full=full)
    before, after = (f"{number / 1e6:,.1f} MB" for number in (report.bytes_before, report.bytes_after))
    print_report(report, f"{before} before, {after} now; {report.seconds:,.1f} s", as_json=json)
