"""The standard streams, so that one that is full, broken or closed ends every verb in the same way.

Standard output raises OutputFailed, but BrokenPipeError for a broken pipe. Messages on stderr are lost, because there
is no other place for them; the exit status stays. Reading a closed standard input is an OSError, as for any file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from typing import Any, Final, TextIO

from lshdb.errors import OutputFailed, reason_of

__all__ = ["guard"]

INCOMPLETE: Final = " The output is incomplete; everything committed is kept."


def guard() -> None:
    """Replace the streams of the process. Streams that somebody else has replaced stay as they are."""
    # In this order, closed streams get their own numbers back, which no file of an index can take then.
    if sys.stdin is None:
        sys.stdin = TextIOWrapper(BufferedReader(FileIO(_number(None, os.O_WRONLY), closefd=False)))
    if sys.stdout is sys.__stdout__:
        sys.stdout = _written(sys.stdout, _Output)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _written(sys.stderr, _Messages)


class _Messages(FileIO):
    """Loses what cannot be written."""

    def write(self, data: Any) -> int:
        try:
            written = super().write(data)
            if written is None:
                raise BlockingIOError(0, "it is full and does not block")
        except OSError as error:
            # Python writes the rest of the buffer when it exits. If that failed, the exit status would be 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            self._failed(error)
            return len(data)
        return written

    def _failed(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise error


class _Output(_Messages):
    def _failed(self, error: OSError) -> None:
        super()._failed(error)
        reason = reason_of(error)
        raise OutputFailed(path="standard output", reason=reason, outcome=INCOMPLETE) from None


def _written(stream: TextIO | None, kind: Callable[..., FileIO]) -> TextIO:
    raw = kind(_number(stream, os.O_RDONLY), "w", closefd=False)
    is_immediate = isinstance(stream, TextIOWrapper) and (stream.line_buffering or stream.write_through)
    return TextIOWrapper(BufferedWriter(raw), **_settings(stream), line_buffering=is_immediate)


def _number(stream: TextIO | None, wrong_way: int) -> int:
    """Return the descriptor of a stream; of a closed one, a new descriptor that fails when it is used."""
    return os.open(os.devnull, wrong_way) if stream is None else stream.fileno()


def _settings(stream: TextIO | None) -> dict[str, Any]:
    if stream is None:
        return {"encoding": "utf-8", "errors": "backslashreplace"}
    return {"encoding": stream.encoding, "errors": stream.errors}
