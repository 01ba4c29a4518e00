"""``lshdb tune``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index, settings_of
from lshdb.cli.render import Listing, Output, print_json, print_rows
from lshdb.errors import IndexMissing, UsageError
from lshdb.model.banding import Banding

if TYPE_CHECKING:
    from lshdb.model.upkeep import Outlook
    from lshdb.tuning.prospect import Prospect

__all__ = ["EPILOG", "tune"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb tune --min-sim 0.7 --recall 0.99\n
  lshdb tune --measure                          # of the index's own texts\n
  lshdb tune --measure --seconds 600            # large groups take longer\n
  lshdb tune --plot curve.svg\n
  lshdb tune --bands 7 --rows 4                 # these bands and no others\n
  lshdb tune --bands 7 --rows 4 --bands 20 --rows 5 --plot curves.svg\n
  lshdb tune --num-perm 256 --contents 5000000  # before there is an index\n
\n
Columns: candidates is the number of other documents that a document shares a bucket with, bytes the size of its
signature and buckets. Without an index, or before the first measurement, the similarities are those of a typical crawl.
threshold is (1/bands)^(1/rows), about where the S-curve is the steepest. false_positives and false_negatives are the
areas under the curve below --min-sim and over it above. The note marks the bands of the index, and those that reband
would choose: the cheapest for 100,000 distinct texts or more."""


def tune(
    context: typer.Context,
    min_sim: options.MinSim = None,
    recall: options.Recall = None,
    num_perm: options.NumPerm = None,
    bands: Annotated[
        list[int] | None,
        typer.Option("--bands", min=1, help="Show this number of bands, with --rows. Repeat both.", show_default=False),
    ] = None,
    rows: Annotated[
        list[int] | None,
        typer.Option("--rows", min=1, help="Minima in a band, with --bands.", show_default=False),
    ] = None,
    contents: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Distinct texts to plan for. Default: the index's, or 100000.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[bool, typer.Option("--measure", help="Measure the index on a sample of its own texts.")] = False,
    probes: Annotated[
        int | None,
        typer.Option(min=1, help="Size of the sample. Default: until recall is known to 2 points.", show_default=False),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.0, help="When to stop sampling, if recall is not known by then.")
    ] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample.")] = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg|png|html", help="Also draw the curve.", show_default=False)
    ] = None,
    json: options.Json = False,
    *,
    output: Output,
) -> None:
    """Show which bands and rows find how many pairs, and at what cost.

    With --measure, first measure what this index finds.
    """

    from lshdb.tuning.prospect import prospect

    named = _named(bands or [], rows or [], recall)
    output.refuse_with_json(json)
    outlook = _outlook(context, measure, probes, seed, seconds)
    found = prospect(outlook, min_sim=min_sim, recall=recall, num_perm=num_perm, num_contents=contents, named=named)
    if plot is not None:
        from lshdb.tuning.plot import draw

        draw(found, plot)
    if json:
        print_json(found.as_json())
    else:
        print_rows(_listing(found), found.rows(), output)


def _named(bands: list[int], rows: list[int], recall: float | None) -> list[Banding]:
    """Return the bandings that --bands and --rows name. Raises: UsageError."""
    if len(bands) != len(rows):
        raise UsageError(reason="give --bands and --rows together; repeat both for several curves")
    if bands and recall is not None:
        raise UsageError(reason="--recall chooses the bands; leave it out if you name --bands and --rows")
    return [Banding(*banding) for banding in zip(bands, rows, strict=True)]


def _outlook(context: typer.Context, measure: bool, probes: int | None, seed: int, seconds: float) -> Outlook | None:
    """Return the figures of the index that tuning needs, or None without an index."""
    try:
        with open_index(context) as index:
            if measure:
                index.measure(probes, seed, seconds)
            return index.outlook()
    except IndexMissing:
        if measure:
            raise
        if not settings_of(context).quiet:
            typer.echo("note  there is no index here: this is of a typical crawl", err=True)
        return None


def _listing(found: Prospect) -> Listing:
    from lshdb.tuning.prospect import COLUMNS

    return Listing(COLUMNS, below=("", *found.curve_lines(), *_measured(found)))


def _measured(found: Prospect) -> list[str]:
    """Return the measured recall of the bands that the index has now, if there is one."""
    measured, now = found.measured, found.now
    if measured is None or now is None or (measured.bands, measured.rows) != (now.banding.bands, now.banding.rows):
        return []
    return ["", f"recall      {options.recall_line(measured)}"]
