"""``lshdb backup``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import settings_of
from lshdb.cli.render import print_json

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb backup /backups/crawl.db\n
  lshdb --db crawl.db backup --force /backups/crawl.db      every night, over the last one\n
  lshdb --db /backups/crawl.db dupes                        a backup is an index\n
\n
An index in Postgres is backed up by pg_dump; the error message has the command line."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("backup", epilog=EPILOG)(backup)


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to. It appears when it is whole and checked.")],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: options.Json = False,
) -> None:
    """Copy a SQLite index, as it is at this moment, while others use and write it."""
    from lshdb.cli.display import progress_for
    from lshdb.index import Index

    settings = settings_of(context)
    report = Index.backup(settings.db, file, force=force, progress=progress_for(settings.quiet))
    if json:
        print_json(report.as_json())
    else:
        size = f"{report.num_bytes / 1e6:,.1f} MB"
        typer.echo(f"{report.path}: {size}, checked, revision {report.revision}; {report.seconds:,.1f} s")
