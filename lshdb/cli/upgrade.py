"""``lshdb upgrade``."""

from __future__ import annotations

import typer

from lshdb.cli.options import settings_of

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("upgrade")(upgrade)


def upgrade(context: typer.Context) -> None:
    """Bring an index that an older lshdb made to this version's schema. A SQLite file is copied before."""
    from lshdb.index import Index

    done = Index.upgrade(settings_of(context).db)
    if done.is_current:
        typer.echo(f"already at revision {done.after}")
        return
    kept = f"; the old file is {done.copy}" if done.copy else ""
    typer.echo(f"upgraded from revision {done.before} to {done.after}{kept}")
