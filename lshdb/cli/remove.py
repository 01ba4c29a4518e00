"""``lshdb remove``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index

__all__ = ["register"]

EPILOG = """[bold]Example[/bold]\n
  lshdb remove /srv/crawl/old.html\n
\n
The index forgets the documents; files are never touched. An ingest of a file that is still there, and changed since,
brings its documents back."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("remove", epilog=EPILOG)(remove)


def remove(
    context: typer.Context,
    doc_ids: Annotated[list[str], typer.Argument(metavar="ID", help="The documents' ids.")],
    collection: options.Collection = "default",
) -> None:
    """Remove documents from the index, with the pairs that only they had."""
    with open_index(context) as index:
        typer.echo(f"{index.remove(doc_ids, collection):,} documents removed")
