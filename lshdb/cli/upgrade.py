"""``lshdb upgrade``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli.options import settings_of
from lshdb.cli.table import counted

if TYPE_CHECKING:
    from lshdb.model.upkeep import Upgrade

__all__ = ["EPILOG", "upgrade"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb upgrade\n
  lshdb --db postgresql://me@db.example/crawl upgrade --dry-run  # print the SQL"""


def upgrade(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL. It is run and rolled back, so nothing changes.")
    ] = False,
) -> None:
    """Upgrade an index of an older lshdb to the schema of this version.

    A SQLite file is copied first. The upgrade is one transaction, and waits for an ingest into the same file or another
    upgrade.

    Then the digests that recognise equal texts, and that can be forged in an older index, are computed again from its
    texts or their sources. If this is interrupted, run the same command again to continue.
    """
    from lshdb.cli.display import display_of
    from lshdb.index import Index

    done = Index.upgrade(settings_of(context).db, dry_run=dry_run, progress=display_of(context))
    typer.echo("\n".join([_summary(done, dry_run), *_digest_lines(done)]))


def _digest_lines(done: Upgrade) -> list[str]:
    if done.digests is None:
        return []
    lines = [f"computed the digests of {counted(done.digests.num_computed, 'text')}"]
    if done.digests.num_left:
        lines.append(
            f"{counted(done.digests.num_left, 'text is', 'texts are')} neither kept nor in a source, so the index "
            "keeps its old digests; run the same command once the sources are back"
        )
    return lines


def _summary(done: Upgrade, dry_run: bool) -> str:
    if done.is_current:
        return f"already at revision {done.after}"
    if dry_run:
        return "\n".join((f"-- from revision {done.before} to {done.after}", *done.statements))
    kept = f"; the old file is {done.copy}" if done.copy else ""
    return f"upgraded from revision {done.before} to {done.after}{kept}"
