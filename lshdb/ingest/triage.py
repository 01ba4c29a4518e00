"""What is to be done with a file, by what the index knows of it."""

from __future__ import annotations

from dataclasses import replace

from lshdb.readers import SourceFile, digest
from lshdb.store.tables import sources
from lshdb.store.tables.sources import SourceState

__all__ = ["at", "is_same", "resume_position"]


def is_same(file: SourceFile, state: SourceState) -> bool:
    """Whether the file is as it was when it was read to its end."""
    if file.is_stdin or state.state != sources.DONE or file.size != state.size:
        return False
    if file.mtime_ns == state.mtime_ns:
        return True
    try:
        return state.digest is not None and digest(file.path) == state.digest
    except OSError:
        return False  # reading it will say what is wrong


def at(state: SourceState, file: SourceFile) -> SourceState:
    """The state, with the size and time that the file has now."""
    if (state.size, state.mtime_ns) == (file.size, file.mtime_ns):
        return state
    return replace(state, size=file.size, mtime_ns=file.mtime_ns)


def resume_position(file: SourceFile, state: SourceState | None) -> int:
    """How many items of the file are committed already: none where it changed since."""
    if state is None or state.state == sources.DONE:
        return 0
    return state.position if (file.size, file.mtime_ns) == (state.size, state.mtime_ns) else 0
