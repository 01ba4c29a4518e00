"""The index of a service, and the threads that ask it.

Quick questions, slow ones and changes have threads of their own, so that none of them waits for another kind. Changes
have one thread: SQLite has one writer anyway, and the changes of one thread are one run. The quickest questions are
answered without a thread, because two threads take turns with Python's lock; see `quick`.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from http import HTTPStatus
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
from starlette.exceptions import HTTPException

from lshdb.errors import IndexReadOnly, IndexRebanded
from lshdb.index import Index
from lshdb.web.options import ServeOptions
from lshdb.web.work import Work

__all__ = ["Desk"]

_Made = TypeVar("_Made")

# Lines that are sent together.
LINES: Final = 500


class Desk:
    """Asks one index on behalf of clients.

    Args: opened: opens the index; called again after another process has given it other parameters.
    """

    def __init__(self, opened: Callable[[], Index], options: ServeOptions) -> None:
        self.options = options
        self._opened = opened
        self._index = opened()
        self._reopening = threading.Lock()
        limits = options.limits
        self._quick = Work("quick", limits.threads, limits.waiting, limits.seconds)
        self._slow = Work("slow", limits.lists, limits.waiting, limits.seconds)
        self._changes = Work("change", 1, limits.waiting, limits.seconds)
        self._streams = threading.Semaphore(limits.streams)
        # Until the kernels are loaded, no answer is quick.
        self.is_prepared = False

    @property
    def index(self) -> Index:
        """The index, for its parameters and its address."""
        return self._index

    async def ask(self, question: Callable[[Index], _Made]) -> _Made:
        """Return the answer to a question that takes milliseconds."""
        return await self._quick.call(lambda: self._answer(question))

    def at_once(self, question: Callable[[Index], _Made]) -> _Made | None:
        """Return the answer to a question that takes a millisecond or is None; None as long as nothing is prepared.

        All other requests of this process wait meanwhile.
        """
        return self._answer(question) if self.is_prepared else None

    async def list(self, question: Callable[[Index], _Made]) -> _Made:
        """Return the answer to a question that may take seconds."""
        return await self._slow.call(lambda: self._answer(question))

    async def change(self, change: Callable[[Index], _Made]) -> _Made:
        """Return the result of a change. Raises: IndexReadOnly: the service does not allow any."""
        if not self.options.writable:
            raise IndexReadOnly(url=self._index.url, reason="the service was started without --writable")
        return await self._changes.call(lambda: self._answer(change))

    async def lines(self, question: Callable[[Index], Iterable[Any]]) -> AsyncIterator[bytes]:
        """Return the rows of an answer as NDJSON. They are read while they are sent.

        The first ones are read before this returns, so that an error is still a problem and not half an answer.
        """
        if not self._streams.acquire(blocking=False):
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "too many lists are being read; try again later")
        try:
            rows = await self.list(lambda index: _Rows(iter(question(index))))
        except BaseException:
            self._streams.release()
            raise
        rest = self._rest(rows)
        # Only a generator that has begun runs its `finally` if the client is already gone.
        await anext(rest)
        return rest

    async def _rest(self, rows: _Rows) -> AsyncIterator[bytes]:
        """Yield nothing as soon as the first rows are read, and then all rows."""
        deadline = time.monotonic() + self.options.limits.stream_seconds
        try:
            block = await self._slow.call(rows.block)
            yield b""
            while block:
                yield block
                if time.monotonic() > deadline:
                    raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "the list took too long to read")
                block = await self._slow.call(rows.block)
        finally:
            # A thread may still be reading rows that nobody waits for any more.
            asyncio.get_running_loop().run_in_executor(None, self._end, rows)

    def _end(self, rows: _Rows) -> None:
        try:
            rows.close()
        finally:
            self._streams.release()

    def close(self) -> None:
        """Wait for what runs, and close the index."""
        for work in (self._changes, self._slow, self._quick):
            work.close()
        self._index.close()

    def _answer(self, question: Callable[[Index], _Made]) -> _Made:
        index = self._index
        try:
            return question(index)
        except IndexRebanded:
            return question(self._reopen(index))

    def _reopen(self, outdated: Index) -> Index:
        """Return an index with the new parameters. Other threads still use the old one, so it is not closed."""
        with self._reopening:
            if self._index is outdated:
                self._index = self._opened()
            return self._index


class _Rows:
    """The rows of an answer. One thread at a time reads or closes them."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows = rows
        self._lock = threading.Lock()

    def block(self) -> bytes:
        """Return the next rows, one per line; nothing at the end."""
        with self._lock:
            return b"".join(msgspec.json.encode(row) + b"\n" for row in islice(self._rows, LINES))

    def close(self) -> None:
        """End their transaction."""
        with self._lock:
            if isinstance(self._rows, Generator):
                self._rows.close()
