"""``lshdb runs``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import Listing, Output, print_json, print_records

if TYPE_CHECKING:
    from lshdb.model.reports import Figures, RunRow

__all__ = ["EPILOG", "runs"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb runs\n
  lshdb runs --limit 1 --json | jq .runs[0].state\n
  lshdb runs --prometheus /var/lib/node_exporter/lshdb.prom"""

COLUMNS: Final = (
    "run", "verb", "collection", "state", "started_at", "finished_at",
    "num_added", "num_updated", "num_removed", "num_rejected",
)  # fmt: skip
COUNTED: Final = ("added", "updated", "removed", "rejected")
MEASURED: Final = ("documents", "contents", "sources", "unlinked", "pairs", "hot_buckets", "bytes")


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
    output.refuse_with_json(json)
    with open_index(context) as index:
        found = index.runs(limit)
        if prometheus is not None:
            with Output(out=prometheus, force=True).opened() as out:
                out.writelines(f"{line}\n" for line in _metrics(index.stats().figures, found))
        elif json:
            print_json({"index": index.url, "runs": [asdict(row) for row in found]})
        else:
            print_records(Listing(COLUMNS, noun="run", limit=limit), found, output)


def _metrics(figures: Figures, found: Sequence[RunRow]) -> Iterator[str]:
    """Yield the lines of the text format of Prometheus.

    Source: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
    """
    for name in MEASURED:
        yield f"# TYPE lshdb_{name} gauge"
        yield f"lshdb_{name} {getattr(figures, f'num_{name}')}"
    # The newest come first, so in reverse order the newest overwrites the others.
    last = {(row.verb, row.collection): row for row in reversed(found)}.values()
    yield "# TYPE lshdb_last_run_start_timestamp_seconds gauge"
    for row in last:
        yield f"lshdb_last_run_start_timestamp_seconds{_labels(row)} {_timestamp(row.started_at):.3f}"
    yield "# TYPE lshdb_last_run_finished gauge"
    for row in last:
        yield f"lshdb_last_run_finished{_labels(row)} {int(row.state == 'finished')}"
    yield "# TYPE lshdb_last_run_seconds gauge"
    for row in last:
        if row.finished_at is not None:
            seconds = _timestamp(row.finished_at) - _timestamp(row.started_at)
            yield f"lshdb_last_run_seconds{_labels(row)} {seconds:.3f}"
    yield "# TYPE lshdb_last_run_documents gauge"
    for row in last:
        for name in COUNTED:
            yield f"lshdb_last_run_documents{_labels(row, what=name)} {getattr(row, f'num_{name}')}"


def _labels(row: RunRow, **others: str) -> str:
    pairs = {"verb": row.verb, "collection": row.collection, **others}
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _timestamp(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
