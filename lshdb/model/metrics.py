"""The figures of an index in the text format of Prometheus.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from lshdb.model.reports import Figures, RunRow

__all__ = ["metrics"]

COUNTED: Final = ("added", "updated", "removed", "rejected")
MEASURED: Final = ("documents", "contents", "sources", "unlinked", "pairs", "hot_buckets", "bytes")


def metrics(figures: Figures, found: Sequence[RunRow]) -> Iterator[str]:
    """Yield the lines of a file of metrics. Args: found: the last runs, the newest first."""
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
