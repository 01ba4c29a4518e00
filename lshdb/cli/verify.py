"""``lshdb verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import counted, named, print_report
from lshdb.errors import UsageError

if TYPE_CHECKING:
    from lshdb.model.upkeep import VerifyReport

__all__ = ["EPILOG", "verify"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb verify\n
  lshdb verify --sample 1000 --seed 7  # a spot check\n
  lshdb verify --since 42 --json       # what run 42 and later ones added"""


def verify(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Verify every stored pair. The default.")] = False,
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Verify only N random pairs.", show_default=False)
    ] = None,
    since: Annotated[
        int | None,
        typer.Option(metavar="RUN", min=1, help="Verify only pairs of this run and later ones.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample.")] = 1,
    json: options.Json = False,
) -> None:
    """Recompute stored pairs exactly from the texts, and store the changed similarities.

    If the index keeps no texts, the sources are read again. A pair keeps its estimate if one of its texts is not
    available. Pairs that were linked outside a run, by a query or by link, count as newer than any run.
    """
    from lshdb.audit.verify import Scope

    if every and (sample is not None or since is not None):
        raise UsageError(reason="use either --all, or --sample and --since")
    with open_index(context) as index:
        report = index.verify(Scope(sample, since or 0, seed))
    print_report(report, "\n".join(_lines(report)), as_json=json)


def _lines(report: VerifyReport) -> list[str]:
    counts = report.counts
    lines = [
        f"{counted(counts.num_pairs, 'pair')}: {counts.num_confirmed:,} confirmed, {counts.num_changed:,} changed "
        f"({counts.num_dropped:,} of them below the floor and dropped), "
        f"{counts.num_unknown:,} could not be recomputed; {report.seconds:,.1f} s",
        f"largest difference between a stored similarity and the recomputed one: {report.largest_difference:.4f}",
    ]
    lines += [f"text gone: {named(left)} and {named(right)}" for left, right in report.gone]
    unnamed = counts.num_unknown - len(report.gone)
    return [*lines, f"text gone: {counted(unnamed, 'pair')} more"] if unnamed else lines
