"""``lshdb reband``."""

from __future__ import annotations

from typing import Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_json

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb reband --min-sim 0.6 --recall 0.99\n
  lshdb tune --measure && lshdb reband --min-sim 0.7      chosen by the index's own similarities\n
\n
No document is read. The old bands answer until the new ones take over; killed, the same command goes on."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("reband", epilog=EPILOG)(reband)


def reband(
    context: typer.Context,
    min_sim: Annotated[
        float, typer.Option("--min-sim", min=0.0, max=1.0, help="Similarity that pairs are to be found from.")
    ],
    recall: options.Recall = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for an ingest into this file to end.")] = False,
    json: options.Json = False,
) -> None:
    """Give the index other bands, so that it finds pairs of another similarity. All pairs are computed anew."""
    from lshdb.model.banding import DEFAULT_RECALL

    with open_index(context) as index:
        report = index.reband(min_sim, DEFAULT_RECALL if recall is None else recall, wait=wait)
    if json:
        print_json(report.as_json())
        return
    before, after = report.before, report.after
    typer.echo(
        f"run {report.run}: {after.bands} bands of {after.rows} rows instead of {before.bands} of {before.rows}; "
        f"recall {after.recall:.4f} promised at {after.min_sim}; {report.num_pairs:,} pairs; {report.seconds:,.1f} s"
    )
