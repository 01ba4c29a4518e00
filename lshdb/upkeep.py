"""What is done to an index as a whole: a backup of it, a copy elsewhere, and giving up space that nothing takes."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lshdb.model.progress import Progress
from lshdb.outputs import require_free
from lshdb.store import Store
from lshdb.store.address import masked, parse
from lshdb.store.copying import CopiedTable, copy

__all__ = ["BackupReport", "CopyReport", "VacuumReport", "back_up", "copy_to", "vacuum"]


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was written and checked."""

    path: str
    revision: str
    num_bytes: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``backup --json`` prints."""
        seconds = round(self.seconds, 3)
        return {"path": self.path, "revision": self.revision, "bytes": self.num_bytes, "seconds": seconds}


@dataclass(frozen=True, slots=True)
class CopyReport:
    """A copy whose tables were found equal to the original's."""

    source: str
    destination: str
    tables: tuple[CopiedTable, ...]
    seconds: float

    @property
    def num_rows(self) -> int:
        """The rows of all tables."""
        return sum(table.num_rows for table in self.tables)

    def as_json(self) -> dict[str, object]:
        """The object that ``copy --json`` prints."""
        tables = {table.name: {"rows": table.num_rows, "digest": table.digest} for table in self.tables}
        return {**asdict(self), "tables": tables, "rows": self.num_rows, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """The bytes that an index took, and takes."""

    bytes_before: int
    bytes_after: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``vacuum --json`` prints."""
        return asdict(self) | {"seconds": round(self.seconds, 3)}


def back_up(store: Store, path: Path, progress: Progress, *, force: bool) -> BackupReport:
    """Copies the file of an index, of whatever revision, while others go on using it.

    Raises: IndexMissing; OutputExists, OutputFailed; IndexDamaged; UsageError: the index is in Postgres.
    """
    started = time.monotonic()
    with store.whole() as engine:
        require_free(path, force=force, taken=frozenset(file.resolve() for file in store.files))
        revision = store.dialect.back_up(engine, path, progress.copied)
    progress.done()
    return BackupReport(str(path), revision, path.stat().st_size, time.monotonic() - started)


def copy_to(store: Store, destination: str, progress: Progress) -> CopyReport:
    """Copies an open index to a place where there is none, in either database.

    Raises: IndexExists, NotAnIndex: something is there; CopyDiffers; OutputFailed; StoreError.
    """
    started = time.monotonic()
    tables = copy(store, destination, progress.copied)
    progress.done()
    return CopyReport(store.url, masked(parse(destination)), tuple(tables), time.monotonic() - started)


def vacuum(store: Store, *, full: bool) -> VacuumReport:
    """Gives up the space that nothing takes any more.

    Args: full: on Postgres, give it back to the system too, while nobody can use the index.
    Raises: IndexBusy: an ingest runs; IndexReadOnly, AccessDenied.
    """
    started = time.monotonic()
    with store.sole_ingest(wait=False):
        before = _size(store)
        with store.whole() as engine:
            store.dialect.vacuum(engine, full=full)
        return VacuumReport(before, _size(store), time.monotonic() - started)


def _size(store: Store) -> int:
    with store.reading() as transaction:
        return transaction.dialect.size(transaction.connection)
