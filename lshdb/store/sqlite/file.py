"""Open the file of a SQLite index without write access, copy it while others write, and create it out of sight.

Limitation: if the file has no log, and its folder is read-only and cannot hold SQLite's shared memory, the file is read
as one that never changes. If another user writes to it at that moment, answers are unreliable.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from lshdb.errors import FileUnusable, IndexDamaged, OutputFailed

__all__ = ["beside", "connection_for_reading", "copy_online", "keep_log", "require_no_log", "why_unwritable"]

# 16 MB of an index. For 132 MB, steps of 64 to 4,096 pages take 0.24 s; one step, which would show no progress, takes
# 0.96 s, and VACUUM INTO takes 0.57 s.
STEP_PAGES: Final = 1_024
# lshdb.store.upgrade owns the name of this table.
REVISION: Final = "SELECT version_num FROM lshdb_revision"

# Errors of a backup that only its target can cause, because the source is read.
_UNWRITTEN: Final = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE")


def why_unwritable(path: Path, *, read_only: bool) -> str | None:
    """Return why this process cannot write the index; None if it can, or if there is no index yet.

    Args: read_only: whoever opened it asked for reading only.
    """
    if read_only:
        return "it was opened read-only"
    if not path.exists() or not path.is_file():
        return None
    if not _may_write(path):
        return f"{path.name} is read-only"
    # SQLite writes its log into the same folder.
    return None if _may_write(path.absolute().parent) else "its folder is read-only"


def connection_for_reading(
    path: Path, arguments: dict[str, Any], *, read_only: bool = False
) -> sqlite3.Connection | None:
    """Return a read-only connection if this process cannot or must not write the index; None if it may.

    Args: arguments: the arguments of sqlite3.connect. read_only: as of `why_unwritable`.
    Raises: FileUnusable: the log has commits that cannot be read without write access.
    """
    if why_unwritable(path, read_only=read_only) is None:
        return None
    log, shared = _beside(path)
    mode = "mode=ro"
    if not _may_write(path.absolute().parent) and not (log.exists() and shared.exists()):
        if log.exists() and log.stat().st_size:
            reason = f"{log.name} holds commits that only a process which may write the folder can read"
            raise FileUnusable(url=str(path), reason=reason)
        mode += "&immutable=1"
    connection: sqlite3.Connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, **arguments)
    return connection


def copy_online(original: Path, copy: Path, copied: Callable[[float], None]) -> str:
    """Copy the current state of an index, without making writers wait. Returns: its revision.

    Args: copied: is called with the share that is done.
    Raises: IndexDamaged: the copy, and therefore the index, is inconsistent; OSError: the copy cannot be written.
    """
    reading = connection_for_reading(original, {}) or sqlite3.connect(original)
    with closing(reading) as source, closing(sqlite3.connect(copy)) as target:
        # One read transaction for all steps. Without it, every commit of a writer would restart the copy.
        source.execute("BEGIN")
        (revision,) = source.execute(REVISION).fetchone()
        # The copy is discarded if it is incomplete, so it needs no journal, which would stay on a full disk.
        target.execute("PRAGMA journal_mode = OFF")
        try:
            source.backup(
                target,
                pages=STEP_PAGES,
                progress=lambda _status, left, total: copied(1 - left / total if total else 1.0),
            )
        except sqlite3.Error as error:
            if error.sqlite_errorname in _UNWRITTEN:
                raise OSError(str(error)) from None
            raise
    _require_sound(copy, str(original), revision)
    shutil.copymode(original, copy)
    return str(revision)


def beside(path: Path) -> tuple[Path, Path, Path]:
    """Return the files that SQLite keeps beside an index: its log, the shared memory of the log, and the journal."""
    return *_beside(path), path.with_name(f"{path.name}-journal")


def require_no_log(path: Path) -> None:
    """Check that no log is left at `path`, because SQLite would apply it to any file there. Raises: OutputFailed."""
    for rest in _beside(path):
        if rest.exists():
            raise OutputFailed(path=path, reason=f"{rest.name} is next to it, as with an index that is in use")


def keep_log(path: Path) -> None:
    """Switch a file that was created without a log to WAL mode. No other process may have it open."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def _require_sound(copy: Path, url: str, revision: str) -> None:
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise IndexDamaged(url=url, reason=str(found).splitlines()[-1])
        if connection.execute(REVISION).fetchone() != (revision,):
            raise IndexDamaged(url=url, reason=f"its copy is not of revision {revision}")


def _beside(path: Path) -> tuple[Path, Path]:
    """Return the paths of SQLite's log of a file, and of the shared memory that indexes the log."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
