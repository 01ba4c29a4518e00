"""The lock that lets one process at a time ingest, or do other long work. It is on another file next to the index.

The system releases it when its holder ends, however that happens.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final, TextIO

from lshdb.errors import AccessDenied, IndexBusy, StoreFailed, reason_of
from lshdb.store.dialect import INGEST

__all__ = ["is_ingesting", "lock_path", "sole_work"]

RETRY_SECONDS: Final = 0.01
# A process that only checks whether an ingest is running holds the lock for an instant.
ASKED_TIMES: Final = 10


def lock_path(index: Path) -> Path:
    """Return the file that is locked."""
    return index.with_name(f"{index.name}-lock")


@contextmanager
def sole_work(index: Path, work: str, wait: bool) -> Iterator[None]:
    """Hold the lock. Raises: IndexBusy: another process holds it, and `wait` is False; AccessDenied, StoreFailed."""
    path = lock_path(index)
    with ExitStack() as held:
        try:
            # The file stays when the lock is released.
            _lock(held.enter_context(_opened(path)), index, work, wait)
        except PermissionError as error:
            raise AccessDenied(url=str(index), reason=f"{path}: {reason_of(error)}") from None
        except OSError as error:
            reason = "it is a symbolic link" if error.errno == errno.ELOOP else reason_of(error)
            raise StoreFailed(url=str(index), reason=f"{path}: {reason}") from None
        yield


def is_ingesting(index: Path) -> bool | None:
    """Return whether an ingest holds the lock; None if we may not read the file."""
    try:
        with lock_path(index).open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return lock.read().startswith(INGEST)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    return False


def _opened(path: Path) -> TextIO:
    """Return the lock file. Raises: OSError, also if it is a symbolic link, whose target would be overwritten."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+")


def _lock(lock: TextIO, index: Path, work: str, wait: bool) -> None:
    """Take the lock, and write into the file who holds it."""
    try:
        _flock(lock, wait)
    except BlockingIOError:
        lock.seek(0)
        raise IndexBusy(url=str(index), reason=lock.read().strip() or INGEST) from None
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    lock.seek(0)
    lock.truncate()
    lock.write(f"{work}, process {os.getpid()} on {socket.gethostname()} since {started}")
    lock.flush()


def _flock(lock: TextIO, wait: bool) -> None:
    if wait:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return
    for _ in range(ASKED_TIMES):
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(RETRY_SECONDS)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
