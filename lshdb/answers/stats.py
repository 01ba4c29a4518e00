"""Collect the figures of an index."""

from __future__ import annotations

from typing import Final

from lshdb.model.reports import Stats
from lshdb.store.store import Store
from lshdb.store.tables import answers, collections, measurements, sources

__all__ = ["stats_of"]

SHOWN_RUNS: Final = 5
SHOWN_SOURCES: Final = 5


def stats_of(store: Store) -> Stats:
    """Return the figures of an index, its last runs and its half-read sources."""
    with store.reading() as snapshot:
        # The runs come first: the system is asked which are still running, so ask at the time of the snapshot.
        runs = answers.runs(snapshot, SHOWN_RUNS)
        num_unfinished, unfinished = sources.half_read(snapshot, SHOWN_SOURCES)
        return Stats(
            url=store.url,
            params=store.params,
            figures=answers.figures(snapshot),
            runs=tuple(runs),
            collections=collections.sizes(snapshot),
            num_unfinished=num_unfinished,
            unfinished=tuple(unfinished),
            measured=measurements.last(snapshot),
        )
