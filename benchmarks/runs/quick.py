"""A guard against slow-downs, for any machine: lshdb's processor time over datasketch's and over a bare NumPy loop's.

    python -m benchmarks quick

Synthetic texts, in one run, each as processes of its own from the file to the list of duplicates; the best of a few.
Ratios of processor time hardly depend on the machine or on what else it does, seconds do.
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
    """The least that a peer took."""

    name: str
    seconds: float
    cpu_seconds: float
    recall: float


def lines(documents: int) -> Iterator[str]:
    """The report, line by line as it is known. Raises: StepError: one of them failed."""
    with TemporaryDirectory(prefix="lshdb-quick-") as work:
        file = Path(work) / "synthetic.jsonl"
        synthetic.write_jsonl(file, documents)
        corpus = corpus_of(file, None, PEERS.min_sim, Path(work))
        yield f"{documents:,} texts, {corpus.text_bytes / 1e6:.1f} MB, {len(corpus.truth.pairs):,} true pairs"
        yield f"{'':16}{'wall s':>9}{'CPU s':>9}{'recall':>10}{'lshdb takes, CPU':>20}{'wall':>9}"
        ours = best(corpus, OURS)
        for one in (ours, *(best(corpus, each) for each in OTHERS)):
            ratios = f"{ours.cpu_seconds / one.cpu_seconds:>19.2f}x{ours.seconds / one.seconds:>8.2f}x"
            yield f"{one.name:16}{one.seconds:>9.2f}{one.cpu_seconds:>9.2f}{one.recall:>10.5f}{ratios}"


def best(corpus: Corpus, entry: Entry) -> Best:
    """The best of a few runs."""
    return least(entry.name, [measure(corpus, entry, PEERS, None, "", TIMEOUT) for _ in range(ROUNDS)])


def least(name: str, records: Iterable[PeerRecord]) -> Best:
    """The least of each figure; the recall is the same in all. Raises: StepError: there is no result."""
    done = list(records)
    for record in done:
        if record.found is None:
            raise StepError(f"{name}: {record.failure}")
    recalls = [record.found.recall for record in done if record.found]
    seconds, cpu_seconds = ([getattr(record, field) for record in done] for field in ("seconds", "cpu_seconds"))
    return Best(name, min(seconds), min(cpu_seconds), min(recalls))
