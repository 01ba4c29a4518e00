"""Detect a slowdown on any machine: compare lshdb's processor time with datasketch and a plain NumPy loop.

    python -m benchmarks quick

Each tool processes the same synthetic texts, from the file to the list of duplicates. The best of a few runs counts.
Unlike seconds, ratios of processor time hardly depend on the machine or its load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.corpora import synthetic
from benchmarks.page.records import PeerRecord
from benchmarks.peers.comparison import PEERS, Corpus, Entry, corpus_of, measure
from benchmarks.runs.ingest import StepError

__all__ = ["DOCUMENTS", "lines"]

DOCUMENTS: Final = 40_000
ROUNDS: Final = 2
TIMEOUT: Final = 100.0

OURS: Final = Entry("lshdb, SQLite", "lshdb")
OTHERS: Final = (Entry("datasketch", "datasketch"), Entry("NumPy loop", "bare_numpy"))


@dataclass(frozen=True, slots=True)
class Best:
    """The best figures of a peer."""

    name: str
    seconds: float
    cpu_seconds: float
    recall: float


def lines(documents: int) -> Iterator[str]:
    """Yield each line of the report immediately. Raises: StepError: a peer failed."""
    with TemporaryDirectory(prefix="lshdb-quick-") as work:
        file = Path(work) / "synthetic.jsonl"
        synthetic.write_jsonl(file, documents)
        corpus = corpus_of(file, None, PEERS.min_sim, Path(work))
        yield f"{documents:,} texts, {corpus.text_bytes / 1e6:.1f} MB, {len(corpus.truth.pairs):,} true pairs"
        yield f"{'':16}{'wall s':>9}{'CPU s':>9}{'recall':>10}{'lshdb needs, CPU':>20}{'wall':>9}"
        ours = best(corpus, OURS)
        for one in (ours, *(best(corpus, each) for each in OTHERS)):
            ratios = f"{ours.cpu_seconds / one.cpu_seconds:>19.2f}x{ours.seconds / one.seconds:>8.2f}x"
            yield f"{one.name:16}{one.seconds:>9.2f}{one.cpu_seconds:>9.2f}{one.recall:>10.5f}{ratios}"


def best(corpus: Corpus, entry: Entry) -> Best:
    """Return the best of a few runs."""
    return least(entry.name, [measure(corpus, entry, PEERS, None, "", TIMEOUT) for _ in range(ROUNDS)])


def least(name: str, records: Iterable[PeerRecord]) -> Best:
    """Return the smallest of each figure; all runs have the same recall. Raises: StepError: a run has no result."""
    done = list(records)
    for record in done:
        if record.found is None:
            raise StepError(f"{name}: {record.failure}")
    recalls = [record.found.recall for record in done if record.found]
    seconds, cpu_seconds = ([getattr(record, field) for record in done] for field in ("seconds", "cpu_seconds"))
    return Best(name, min(seconds), min(cpu_seconds), min(recalls))
