"""The lock that keeps a second ingest off a SQLite file: on a file beside it, given back however its holder ends."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final, TextIO

from lshdb.errors import AccessDenied, IndexBusy, StoreFailed

__all__ = ["is_held", "lock_path", "sole_ingest"]

RETRY_SECONDS: Final = 0.01
# Who only asks whether an ingest runs holds its lock for an instant.
ASKED_TIMES: Final = 10


def lock_path(index: Path) -> Path:
    """The file whose lock an ingest holds."""
    return index.with_name(f"{index.name}-lock")


@contextmanager
def sole_ingest(index: Path, wait: bool) -> Iterator[None]:
    """Holds the lock. Raises: IndexBusy: another process does, and we are not to wait; AccessDenied, StoreFailed."""
    path = lock_path(index)
    with ExitStack() as held:
        try:
            # The file stays: the system gives the lock back when its holder ends, however that is.
            _lock(held.enter_context(path.open("a+")), index, wait)
        except PermissionError as error:
            raise AccessDenied(url=str(index), reason=f"{path}: {error.strerror}") from None
        except OSError as error:
            raise StoreFailed(url=str(index), reason=f"{path}: {error.strerror}") from None
        yield


def is_held(index: Path) -> bool | None:
    """Whether an ingest holds the lock; None where we may not know."""
    try:
        with lock_path(index).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def _lock(lock: TextIO, index: Path, wait: bool) -> None:
    """Takes the lock, and writes into it whose it is."""
    try:
        _flock(lock, wait)
    except BlockingIOError:
        lock.seek(0)
        raise IndexBusy(url=str(index), reason=lock.read().strip() or "an ingest") from None
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    lock.truncate(0)
    lock.write(f"an ingest, process {os.getpid()} on {socket.gethostname()} since {started}")
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
