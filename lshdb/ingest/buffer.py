"""Collects documents that arrive individually, and adds them in batches.

A document is durable once its batch is committed. That happens when the buffer is full, some seconds after its first
document arrived, at `flush`, and at the end of the ``with`` block, even if the block ends with an error. A process that
is killed loses the documents that arrived later: at most `size` of them, and only those of the last `seconds` plus the
time that writing a batch takes.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock, Timer
from typing import Self

from lshdb.model import arguments
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.sketch.sketch import require_fit

__all__ = ["Buffer"]


class Buffer:
    """Documents that are not added yet. Several threads may share it; use it in a ``with`` statement.

    Args:
        write: adds documents to the index.
        size: the number of documents that fill the buffer.
        seconds: how long a document waits at most.
    """

    def __init__(self, write: Callable[[list[Document]], object], params: Params, size: int, seconds: float) -> None:
        self._write = write
        self._params = params
        self._size = size
        self._seconds = seconds
        self._held: list[Document] = []
        self._timer: Timer | None = None
        self._has_failed = False
        self._lock = RLock()

    def __len__(self) -> int:
        """Return the number of documents that are not added yet."""
        return len(self._held)

    def add(self, document: Document) -> None:
        """Accept a document; add all documents if the buffer is full.

        Raises: BadDocument: it does not fit the index, and is not accepted; StoreError: adding failed, perhaps earlier
            and in the background. The documents stay in the buffer, and the next call tries again.
        """
        require_fit(arguments.document(document), self._params)
        with self._lock:
            self._held.append(document)
            if self._has_failed or len(self._held) >= self._size:
                self.flush()
            elif self._timer is None:
                self._timer = Timer(self._seconds, self._flush_in_background)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Add the documents now. Raises: StoreError: they stay in the buffer."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._held:
                self._write(self._held)
            self._held, self._has_failed = [], False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()

    def _flush_in_background(self) -> None:
        try:
            self.flush()
        except Exception:  # The next call tries again, and raises its own error.
            self._has_failed = True
