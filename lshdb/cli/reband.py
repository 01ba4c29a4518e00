"""``lshdb reband``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import counted, print_report

if TYPE_CHECKING:
    from lshdb.model.upkeep import RebandReport

__all__ = ["EPILOG", "reband"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb reband --min-sim 0.6 --recall 0.99\n
  lshdb tune --measure && lshdb reband --min-sim 0.7  # by its own texts\n
\n
No document is read. The old bands answer until the new ones replace them. If it is killed, run the same command again
to continue."""


def reband(
    context: typer.Context,
    min_sim: Annotated[
        float, typer.Option("--min-sim", min=0.0, max=1.0, help="Least similarity of the pairs to find.")
    ],
    recall: options.Recall = None,
    wait: options.Wait = False,
    json: options.Json = False,
) -> None:
    """Change the bands, so that the index finds pairs of another similarity.

    All pairs are recomputed.
    """
    from lshdb.model.banding import DEFAULT_RECALL

    with open_index(context) as index:
        report = index.reband(min_sim, DEFAULT_RECALL if recall is None else recall, wait=wait)
    print_report(report, _summary(report), as_json=json)


def _summary(report: RebandReport) -> str:
    before, after = report.before, report.after
    return (
        f"run {report.run}: {after.bands} bands of {after.rows} rows instead of {before.bands} of {before.rows}; "
        f"recall {after.recall:.4f} promised at {after.min_sim}; {counted(report.num_pairs, 'pair')}; "
        f"{report.seconds:,.1f} s"
    )
