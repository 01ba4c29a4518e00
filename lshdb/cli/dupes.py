"""``lshdb dupes``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_rows

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb dupes --min-sim 0.9\n
  lshdb dupes --expand --format jsonl | jq -r .right\n
  lshdb dupes --format csv > pairs.csv"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("dupes", epilog=EPILOG)(dupes)


def dupes(
    context: typer.Context,
    min_sim: options.MinSim = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Every pair of documents, instead of one for each two contents.")
    ] = False,
    form: options.FormatOption = None,
) -> None:
    """Print the pairs of near-duplicates.

    A content that many documents have is named by its first one; its other documents are pairs (first, other, 1.0).
    """
    with open_index(context) as index:
        rows = ((pair.left, pair.right, pair.similarity, pair.exact) for pair in index.pairs(min_sim, expand=expand))
        print_rows(("left", "right", "similarity", "exact"), rows, form)
