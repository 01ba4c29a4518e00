"""``lshdb verify``."""

from __future__ import annotations

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_json

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb verify\n
  lshdb verify --json"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("verify", epilog=EPILOG)(verify)


def verify(context: typer.Context, json: options.Json = False) -> None:
    """Recompute every pair exactly from the texts, and store what changed.

    An index made with --no-keep-text reads its sources again; a pair whose text is gone keeps its estimate.
    """
    with open_index(context) as index:
        report = index.verify()
    if json:
        print_json(report.as_json())
        return
    counts = report.counts
    typer.echo(
        f"{counts.num_pairs:,} pairs: {counts.num_confirmed:,} confirmed, {counts.num_changed:,} changed "
        f"({counts.num_dropped:,} of them below the floor and dropped), "
        f"{counts.num_unknown:,} could not be recomputed; {report.seconds:,.1f} s"
    )
