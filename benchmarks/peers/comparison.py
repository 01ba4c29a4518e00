"""Run every peer on the same documents, measure it from start to exit, and compare its answers with the oracle.

    python -m benchmarks peers FILE.jsonl --documents 20000
    python -m benchmarks quality FILE.jsonl --quality-documents 5000

``peers`` asks for pairs at 0.8. ``quality`` takes all candidates of a peer and counts how many true pairs of each
similarity are among them, which the formula of the bands predicts. Before each measured run, the peer processes a
hundred documents, so that compiling and loading libraries is not measured. If a peer is not installed, fails or takes
too long, the record has the reason.

The peers run in turn, in several rounds, because the speed of a machine changes. Slow ones run only once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from benchmarks.page.records import PeerRecord, write
from benchmarks.peers.answers import Pairs, compare, read_answers
from benchmarks.peers.figures import read_records
from benchmarks.runs.ingest import StepError, head
from benchmarks.runs.processes import watch
from benchmarks.runs.servers import Server, server

__all__ = [
    "ENTRIES",
    "PEERS",
    "QUALITY",
    "REPEATED_SECONDS",
    "Corpus",
    "Entry",
    "Question",
    "corpus_of",
    "in_the_middle",
    "measure",
    "measure_all",
]

WARM_UP_DOCUMENTS: Final = 100
# A peer that takes longer runs only once.
REPEATED_SECONDS: Final = 100.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table.

    Args:
        name: for people.
        module: in `benchmarks.peers`.
        needs: the module that must be installed; empty if lshdb's own dependencies are enough.
        survives: the result remains after the process has ended.
        on_postgres: the peer needs a database.
        documented: as in `protocol.Task`. A name ends with "as documented".
    """

    name: str
    module: str
    needs: str = ""
    workers: int = 1
    survives: bool = False
    on_postgres: bool = False
    documented: bool = False


ENTRIES: Final = (
    Entry("lshdb, SQLite", "lshdb", survives=True),
    Entry("lshdb, SQLite", "lshdb", workers=2, survives=True),
    Entry("lshdb, Postgres", "lshdb", survives=True, on_postgres=True),
    Entry("lshdb, Postgres", "lshdb", workers=2, survives=True, on_postgres=True),
    Entry("NumPy loop", "bare_numpy"),
    Entry("datasketch", "datasketch", "datasketch"),
    Entry("datasketch, as documented", "datasketch", "datasketch", documented=True),
    Entry("rensa", "rensa", "rensa"),
    Entry("rensa, as documented", "rensa", "rensa", documented=True),
    Entry("gaoya", "gaoya", "gaoya"),
    Entry("gaoya", "gaoya", "gaoya", workers=2),
    Entry("FastSketchLSH", "fastsketchlsh", "FastSketchLSH"),
    Entry("FastSketchLSH", "fastsketchlsh", "FastSketchLSH", workers=2),
    Entry("FastSketchLSH, as documented", "fastsketchlsh", "FastSketchLSH", documented=True),
    Entry("datatrove", "datatrove", "datatrove", survives=True),
    Entry("datatrove", "datatrove", "datatrove", workers=2, survives=True),
    Entry("datatrove, as documented", "datatrove", "spacy", survives=True, documented=True),
    Entry("text-dedup", "text_dedup", "text_dedup", survives=True),
    Entry("text-dedup", "text_dedup", "text_dedup", workers=2, survives=True),
    Entry("dedup-pg, Postgres", "dedup_pg", "dedup_pg", survives=True, on_postgres=True),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the peers.

    Args:
        min_sim: pairs at this similarity or above are true.
        edges: bounds of the ranges of similarity, ascending.
    """

    name: str
    min_sim: float
    edges: tuple[float, ...]


PEERS: Final = Question("peers", 0.8, (0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.95, 1.0))
QUALITY: Final = Question("quality", 0.3, tuple(round(0.3 + 0.05 * step, 2) for step in range(15)))


@dataclass(frozen=True, slots=True)
class Corpus:
    """A file of documents, their rows by id, and their true pairs."""

    file: Path
    name: str
    rows: Mapping[str, int]
    text_bytes: int
    truth: Pairs = field(repr=False)


def corpus_of(file: Path, documents: int | None, min_sim: float, work: Path) -> Corpus:
    """Return the first documents of a file, with the true pairs found by the oracle."""
    part = head(file, documents, work / "corpus.jsonl") if documents else file
    records = list(read_records(part))
    rows = {record.id: row for row, record in enumerate(records)}
    pairs = work / "true.jsonl"
    # In another process, so that its memory (2 GB for 300 MB of text) is free while the peers run.
    oracle = [
        sys.executable,
        "-m",
        "benchmarks.corpora.oracle",
        str(part),
        "--min-sim",
        str(min_sim),
        "--out",
        str(pairs),
    ]
    watch(oracle, quiet=True)
    truth = read_answers(pairs, rows)
    assert isinstance(truth, Pairs)
    return Corpus(part, file.name, rows, sum(record.num_bytes for record in records), truth)


def measure_all(
    corpus: Corpus,
    entries: Iterable[Entry],
    question: Question,
    results: Path,
    command: str,
    timeout: float,
    rounds: int,
) -> Iterator[PeerRecord]:
    """Measure the entries in order, in rounds. Write the record of each so far immediately, and yield each run."""
    runs: dict[Entry, list[PeerRecord]] = {entry: [] for entry in entries}
    with ExitStack() as stack:
        postgres = stack.enter_context(server()) if any(entry.on_postgres for entry in runs) else None
        for _ in range(rounds):
            for entry, before in runs.items():
                if all(run.found and run.seconds < REPEATED_SECONDS for run in before):
                    before.append(measure(corpus, entry, question, postgres, command, timeout))
                    write(results, in_the_middle(before))
                    yield before[-1]


def in_the_middle(runs: Sequence[PeerRecord]) -> PeerRecord:
    """Return the run with the median time, or with the greater of two; a run that failed, if there is one."""
    ordered = sorted(runs, key=lambda run: (run.found is None, run.seconds))
    chosen = ordered[len(runs) // 2] if ordered[-1].found else ordered[-1]
    return replace(chosen, num_runs=len(runs))


def measure(
    corpus: Corpus, entry: Entry, question: Question, postgres: Server | None, command: str, timeout: float
) -> PeerRecord:
    """Return the record of an entry. A failure is a record too."""
    blank = PeerRecord(
        command=command,
        question=question.name,
        peer=entry.name,
        workers=entry.workers,
        corpus=corpus.name,
        documents=len(corpus.rows),
        text_bytes=corpus.text_bytes,
        min_sim=question.min_sim,
        num_true=len(corpus.truth.pairs),
        true_redundant=corpus.truth.num_redundant,
        survives=entry.survives,
    )
    if entry.needs and find_spec(entry.needs) is None:
        return replace(blank, failure="not installed")
    try:
        return measured(blank, corpus, entry, question, postgres, timeout)
    except StepError as error:
        return replace(blank, failure=str(error))


def measured(
    blank: PeerRecord, corpus: Corpus, entry: Entry, question: Question, postgres: Server | None, timeout: float
) -> PeerRecord:
    """Run the peer and return its record. Raises: StepError."""
    with TemporaryDirectory(prefix="lshdb-peer-") as folder:
        work = Path(folder)
        with place(work / "warm-up", entry, postgres) as (url, room):
            few = head(corpus.file, WARM_UP_DOCUMENTS, work / "few.jsonl")
            watch(call_of(few, entry, question, room, url), threads_of(entry), timeout=timeout, quiet=True)
        with place(work / "measured", entry, postgres) as (url, room):
            servers = [postgres.pid] if postgres and entry.on_postgres else []
            call = call_of(corpus.file, entry, question, room, url)
            watched = watch(call, threads_of(entry), servers, timeout, quiet=True)
            disk_bytes = postgres.size_of(url) if postgres and url else folder_bytes(room)
        found = read_answers(answers_of(room), corpus.rows)
    estimated = found.at_least(question.min_sim) if isinstance(found, Pairs) else None
    return replace(
        blank,
        seconds=watched.seconds,
        cpu_seconds=watched.cpu_seconds,
        peak_bytes=watched.peak_pss or watched.peak_rss,
        disk_bytes=disk_bytes if entry.survives else 0,
        found=compare(corpus.truth, found, question.edges),
        estimated=compare(corpus.truth, estimated, question.edges) if estimated is not None else None,
    )


def call_of(file: Path, entry: Entry, question: Question, room: Path, url: str) -> list[str]:
    """Return the command line of a peer."""
    call = [sys.executable, "-m", f"benchmarks.peers.{entry.module}", str(file), "--out", str(answers_of(room))]
    call += ["--work", str(room), "--workers", str(entry.workers), "--min-sim", str(question.min_sim)]
    call += ["--documented"] if entry.documented else []
    return [*call, "--url", url] if url else call


def threads_of(entry: Entry) -> dict[str, str]:
    """Return an environment that limits threads to the number of workers and fixes Python's hash seed."""
    libraries = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(libraries, str(entry.workers)) | {"PYTHONHASHSEED": "0"}


@contextmanager
def place(room: Path, entry: Entry, postgres: Server | None) -> Iterator[tuple[str, Path]]:
    """Provide a database and a folder for a peer."""
    room.mkdir()
    with ExitStack() as stack:
        url = ""
        if entry.on_postgres and postgres:
            postgres.checkpoint()
            url = stack.enter_context(postgres.database())
        yield url, room


def answers_of(room: Path) -> Path:
    """Return the file for the answers, which is outside the folder whose size is measured."""
    return room.with_suffix(".answers.jsonl")


def folder_bytes(folder: Path) -> int:
    """Return the total size of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
