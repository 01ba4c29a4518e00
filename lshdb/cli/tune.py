"""``lshdb tune``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import Format, open_index, settings_of
from lshdb.cli.render import print_json, print_rows
from lshdb.errors import IndexMissing

if TYPE_CHECKING:
    from lshdb.model.reports import Measurement

__all__ = ["register"]

COLUMNS = ("bands", "rows", "minima", "recall", "candidates", "bytes", "note")

EPILOG = """[bold]Examples[/bold]\n
  lshdb tune --min-sim 0.7 --recall 0.99\n
  lshdb tune --measure                              recall and similarities of the index's own contents\n
  lshdb tune --plot curve.svg\n
  lshdb tune --num-perm 256 --contents 5000000      before there is an index\n
\n
Candidates are the others that a document shares a bucket with, bytes what its signature and buckets take. Where the
index was never measured, or is not there, similarities are those typical of a crawl. The note says which one is the
index's now, and which one reband takes: the cheapest for 100,000 contents or more."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("tune", epilog=EPILOG)(tune)


def tune(
    context: typer.Context,
    min_sim: options.MinSim = None,
    recall: options.Recall = None,
    num_perm: options.NumPerm = None,
    contents: Annotated[
        int | None,
        typer.Option(min=1, help="Contents to reckon with. Default: the index's, else 100000.", show_default=False),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure the index on a sample of its own contents.")
    ] = False,
    probes: Annotated[
        int | None, typer.Option(min=1, help="Contents of the sample. Default: 400 or more.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample.")] = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg|png|html", help="Draw the curve, too.", show_default=False)
    ] = None,
    json: options.Json = False,
    form: options.FormatOption = None,
) -> None:
    """Show which bands and rows find how much, at what cost; and measure what this index finds."""
    from lshdb.tuning.prospect import prospect

    try:
        with open_index(context) as index:
            if measure:
                index.measure(probes, seed)
            outlook = index.outlook()
    except IndexMissing:
        if measure:
            raise
        if not settings_of(context).quiet:
            typer.echo("note  there is no index here: this is of a typical crawl", err=True)
        outlook = None
    found = prospect(outlook, min_sim=min_sim, recall=recall, num_perm=num_perm, num_contents=contents)
    if plot is not None:
        from lshdb.tuning.plot import draw

        draw(found, plot)
    if json:
        print_json(found.as_json())
        return
    form = form or (Format.table if sys.stdout.isatty() else Format.tsv)
    print_rows(COLUMNS, found.rows(), form)
    if form is Format.table:
        typer.echo("\n".join(["", *found.curve_lines(), *_measured(found.measured)]))


def _measured(measured: Measurement | None) -> list[str]:
    return [] if measured is None else ["", f"measured    {options.measured_line(measured)}"]
