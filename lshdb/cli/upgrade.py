"""``lshdb upgrade``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli.options import settings_of

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb upgrade\n
  lshdb --db postgresql://me@db.example/crawl upgrade --dry-run      the SQL, for who has to agree to it"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("upgrade", epilog=EPILOG)(upgrade)


def upgrade(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL: it is run, and rolled back. Nothing is changed.")
    ] = False,
) -> None:
    """Bring an index that an older lshdb made to this version's schema. A SQLite file is copied before.

    It is one transaction. An ingest into the same file, or another upgrade, is waited for.
    """
    from lshdb.index import Index

    done = Index.upgrade(settings_of(context).db, dry_run=dry_run)
    if done.is_current:
        typer.echo(f"already at revision {done.after}")
    elif dry_run:
        typer.echo("\n".join((f"-- from revision {done.before} to {done.after}", *done.statements)))
    else:
        kept = f"; the old file is {done.copy}" if done.copy else ""
        typer.echo(f"upgraded from revision {done.before} to {done.after}{kept}")
