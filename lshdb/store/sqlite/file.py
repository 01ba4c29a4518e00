"""The file of a SQLite index: how it is opened by who may not write it, copied while others do, and made unseen.

Limitation: where neither the file's folder can hold SQLite's shared memory nor a log is there, the file is read as one
that does not change. Somebody else who may write it, and does so in that moment, makes the answer unreliable.
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

__all__ = ["connection_for_reading", "copy_online", "keep_log", "require_no_log", "why_unwritable"]

# 16 MB of an index. 64 to 4,096 pages a step take 0.24 s for 132 MB; all in one step, without progress, 0.96 s; VACUUM
# INTO takes 0.57 s.
STEP_PAGES: Final = 1_024
# Of the table that lshdb.store.upgrade names.
REVISION: Final = "SELECT version_num FROM lshdb_revision"


def why_unwritable(path: Path) -> str | None:
    """Why this process cannot write the index; None where it can, or where there is none yet."""
    if not path.exists() or not path.is_file():
        return None
    if not _may_write(path):
        return f"{path.name} is read-only"
    # SQLite writes its log beside the file.
    return None if _may_write(path.absolute().parent) else "its folder is read-only"


def connection_for_reading(path: Path, arguments: dict[str, Any]) -> sqlite3.Connection | None:
    """A connection that only reads, where this process cannot write the index; None where it can.

    Args: arguments: of sqlite3.connect.
    Raises: FileUnusable: the log beside the file has commits that cannot be read without writing.
    """
    if why_unwritable(path) is None:
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
    """Copies an index as it is at this moment, also while others write it, and they do not wait. Returns: its revision.

    Args: copied: hears the share that is done.
    Raises: IndexDamaged: the copy, and so the index, contradicts itself.
    """
    reading = connection_for_reading(original, {}) or sqlite3.connect(original)
    with closing(reading) as source, closing(sqlite3.connect(copy)) as target:
        # All steps in one transaction that reads: without it, each commit of a writer starts the copy over.
        source.execute("BEGIN")
        (revision,) = source.execute(REVISION).fetchone()
        source.backup(
            target, pages=STEP_PAGES, progress=lambda _status, left, total: copied(1 - left / total if total else 1.0)
        )
    _require_sound(copy, str(original), revision)
    shutil.copymode(original, copy)
    return str(revision)


def require_no_log(path: Path) -> None:
    """Raises: OutputFailed: a log is at `path` that SQLite would take for that of any file put there."""
    for rest in _beside(path):
        if rest.exists():
            raise OutputFailed(path=path, reason=f"{rest.name} is beside it, which an index that is in use has")


def keep_log(path: Path) -> None:
    """Gives a file that was made without a log the mode of an index, with one; nobody else has it open."""
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
    """SQLite's log of a file, and the index into it that its readers and writers share."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
