"""``lshdb backup``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import settings_of
from lshdb.cli.render import print_report

__all__ = ["EPILOG", "backup"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb backup /backups/crawl.db\n
  lshdb --db crawl.db backup --force /backups/crawl.db  # every night\n
  lshdb --db /backups/crawl.db dupes                    # a backup is an index\n
\n
Use pg_dump for an index in Postgres; the error message shows its command line."""


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup. It appears once it is complete.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    json: options.Json = False,
) -> None:
    """Back up a SQLite index.

    The backup contains the current state of the index, and is checked. Others can use the index and write to it
    meanwhile.
    """
    from lshdb.cli.display import display_of
    from lshdb.index import Index

    report = Index.backup(settings_of(context).db, file, force=force, progress=display_of(context))
    size = f"{report.num_bytes / 1e6:,.1f} MB"
    text = f"{report.path}: {size}, checked, revision {report.revision}; {report.seconds:,.1f} s"
    print_report(report, text, as_json=json)
