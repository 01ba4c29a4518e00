"""``lshdb report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from lshdb.cli.options import open_index, require_installed
from lshdb.cli.output import Output

__all__ = ["EPILOG", "report"]

NEEDED: Final = ("jinja2",)

EPILOG = """[bold]Examples[/bold]\n
  lshdb report crawl.html\n
  lshdb report news.html --collection news --force\n
  lshdb report night.html --run 17  # what this run changed"""


def report(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT.html|-", help="The page; - is standard output.")],
    collection: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only documents of this collection.", show_default=False)
    ] = None,
    run: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only what this run changed.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a page about the index that needs no server, to mail or to keep with a build.

    It shows the largest clusters and what differs in them, the similarities of the pairs, which pairs are found, and
    the last runs. It loads nothing from elsewhere, runs no script, and has at most 2 MB. With --run, it shows the
    clusters that the run created or enlarged.
    """
    require_installed("report", NEEDED, "web")
    from lshdb.web.report import report

    with open_index(context) as index, Output(out=out, force=force).opened() as file:
        file.write(report(index, collection, run))
