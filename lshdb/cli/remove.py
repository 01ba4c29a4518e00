"""``lshdb remove``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lshdb.cli.options import open_index
from lshdb.cli.table import counted
from lshdb.errors import UsageError

__all__ = ["EPILOG", "remove"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb remove /srv/crawl/old.html\n
  lshdb remove --from-file ids.txt\n
  lshdb remove --collection test --all\n
\n
Files are never touched. If a file is still there and changes, the next ingest adds its documents again. After
--forget-source, it also does so if the file has not changed, and after --all it adds those of all files."""


def remove(
    context: typer.Context,
    doc_ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of the documents.")] = None,
    from_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with one id per line; - is standard input.")
    ] = None,
    null: Annotated[bool, typer.Option("-0", "--null", help="NUL characters separate the ids of the file.")] = False,
    forget_source: Annotated[
        bool,
        typer.Option(
            "--forget-source",
            help="Let the next ingest read the files of the documents again; ID may be a file or folder.",
        ),
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Remove all documents of the collection.")] = False,
    collection: Annotated[
        str | None,
        typer.Option("--collection", metavar="NAME", help="Namespace of the document ids.", show_default="default"),
    ] = None,
) -> None:
    """Remove documents from the index, with the pairs that only they had."""
    from lshdb.readers import listed

    _check(doc_ids, from_file, collection, null=null, everything=everything)
    place = collection or "default"
    found = [] if from_file is None else listed(from_file, null=null)
    with open_index(context) as index:
        if everything:
            number = index.remove_collection(place)
        else:
            meant = (index.meant(one, place) for one in (*(doc_ids or ()), *found))
            number = index.remove(meant, place, forget_sources=forget_source)
    typer.echo(f"{counted(number, 'document')} removed")


def _check(
    doc_ids: list[str] | None, from_file: Path | None, collection: str | None, *, null: bool, everything: bool
) -> None:
    """Raises: UsageError: the arguments do not fit together."""
    named = bool(doc_ids) or from_file is not None
    if everything and (named or collection is None):
        raise UsageError(reason="--all takes --collection NAME and no ids; it removes all documents of that collection")
    if not named and not everything:
        raise UsageError(reason="remove takes an ID, --from-file FILE, or --collection NAME --all")
    if null and from_file is None:
        raise UsageError(reason="-0 says how the ids of --from-file are separated")
