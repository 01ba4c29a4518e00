"""``lshdb runs``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from lshdb.cli import options
from lshdb.cli.options import asked_index
from lshdb.cli.render import Listing, Output, print_json, print_records

__all__ = ["EPILOG", "runs"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb runs\n
  lshdb runs --limit 1 --json | jq .runs[0].state\n
  lshdb runs --prometheus /var/lib/node_exporter/lshdb.prom"""

COLUMNS: Final = (
    "run", "verb", "collection", "state", "started_at", "finished_at",
    "num_added", "num_updated", "num_removed", "num_rejected",
)  # fmt: skip


def runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Number of runs.")] = 20,
    prometheus: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write metrics for Prometheus's node_exporter instead.", show_default=False),
    ] = None,
    json: options.Json = False,
    *,
    output: Output,
) -> None:
    """Print the last runs and their results, the newest first.

    With --prometheus, write a metrics file for node_exporter, with the size of the index and the last of these runs
    of each verb and collection. The file is replaced as a whole.
    """
    from lshdb.model.metrics import metrics

    output.refuse_with_json(json)
    with asked_index(context) as index:
        found = index.runs(limit)
        if prometheus is not None:
            with Output(out=prometheus, force=True).opened() as out:
                out.writelines(f"{line}\n" for line in metrics(index.stats().figures, found))
        elif json:
            print_json({"index": index.url, "runs": [asdict(row) for row in found]})
        else:
            print_records(Listing(COLUMNS, noun="run", limit=limit), found, output)
