"""``lshdb remove``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index

__all__ = ["EPILOG", "remove"]

EPILOG = """[bold]Example[/bold]\n
  lshdb remove /srv/crawl/old.html\n
\n
Files are never touched. If a file is still there and changes, the next ingest adds its documents again."""


def remove(
    context: typer.Context,
    doc_ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of the documents.")],
    collection: options.Collection = "default",
) -> None:
    """Remove documents from the index, with the pairs that only they had."""
    with open_index(context) as index:
        typer.echo(f"{index.remove(doc_ids, collection):,} documents removed")
