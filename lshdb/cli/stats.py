"""``lshdb stats``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_json, print_rows

if TYPE_CHECKING:
    from lshdb.reports import Stats

__all__ = ["register"]

# A run that was killed could not say so.
STATES = {"running": "running or killed"}

EPILOG = """[bold]Examples[/bold]\n
  lshdb stats\n
  lshdb stats --json | jq .figures.pairs\n
  lshdb stats --rejected 3"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("stats", epilog=EPILOG)(stats)


def stats(
    context: typer.Context,
    json: options.Json = False,
    rejected: Annotated[
        int | None, typer.Option(metavar="RUN", help="List what this run could not ingest.", show_default=False)
    ] = None,
    form: options.FormatOption = None,
) -> None:
    """Print what the index holds, how it was made, and its last runs."""
    with open_index(context) as index:
        if rejected is not None:
            items = ((item.source, item.locator, item.reason) for item in index.rejections(rejected))
            print_rows(("source", "locator", "reason"), items, form)
            return
        found = index.stats()
    if json:
        print_json(found.as_json())
    else:
        typer.echo("\n".join(_lines(found)))


def _lines(stats: Stats) -> list[str]:
    params, figures = stats.params, stats.figures
    rows = {
        "index": stats.url,
        "size": f"{figures.num_bytes / 1e6:,.1f} MB",
        "documents": f"{figures.num_documents:,} ({figures.num_empty:,} empty) from {figures.num_sources:,} sources",
        "contents": f"{figures.num_contents:,} ({figures.num_texts:,} texts kept, {figures.num_unlinked:,} not linked)",
        "pairs": f"{figures.num_pairs:,} at {params.floor} or more ({figures.num_estimated_pairs:,} only estimated)",
        "hot buckets": f"{figures.num_hot_buckets:,}, with {figures.num_skipped_pairs:,} pairs not expanded",
        "shingles": f"{params.shingle}{', multiset' if params.multiset else ''}",
        "signatures": f"{params.scheme}, {params.num_perm} minima, {params.bands} bands of {params.rows} rows",
        "recall": f"{params.recall:.4f} promised at {params.min_sim}",
    }
    lines = [f"{name:12}{value}" for name, value in rows.items()]
    for run in stats.runs:
        state = STATES.get(run.state, run.state)
        lines.append(
            f"run {run.run:<8}{run.verb} {state}, {run.started_at}: {run.num_added:,} added, "
            f"{run.num_updated:,} updated, {run.num_removed:,} removed, {run.num_rejected:,} rejected"
        )
    return lines
