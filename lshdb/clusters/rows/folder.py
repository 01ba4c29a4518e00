"""The folder that filtered files are written to: each file once, and completely or not at all.

Its subfolder ``.lshdb`` holds a lock, the file being written, and the list of complete files. The list records what
each file was made from, so the next run skips it if nothing has changed. An entry is written before its file is moved
into place: a file that is in the folder but not in the list is not ours.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, Self
from urllib.parse import quote_from_bytes

import msgspec

from lshdb.clusters.rows.options import RecordCounts, Taken
from lshdb.clusters.rows.shards import Shard
from lshdb.errors import NotIngested, OutputExists, OutputFailed, OutputStopped
from lshdb.readers.naming import uri_path
from lshdb.store.files import require_no_database

__all__ = ["OutFolder", "Written"]

OWN_FOLDER: Final = ".lshdb"
NOTHING: Final = Taken()


class Written(msgspec.Struct, frozen=True):
    """A complete file: its name, a digest of its inputs, its size and time on completion, and its counts."""

    name: str
    made_of: str
    size: int
    mtime_ns: int
    counts: RecordCounts
    taken: Taken = NOTHING


class OutFolder:
    """The folder. You can query it right away. To write to it, use a ``with`` statement, which creates and locks it.

    Args: force: whether files that are not ours may be replaced.
    """

    def __init__(self, path: Path, *, force: bool) -> None:
        self._path = path
        self._force = force
        self._part = path / OWN_FOLDER / "part"
        self._list_path = path / OWN_FOLDER / "written.jsonl"
        self._list: BinaryIO | None = None
        self._written = _read(self._list_path)

    def __enter__(self) -> Self:
        """Raises: OutputFailed: the folder cannot be created, or another process is writing to it."""
        try:
            self._list_path.parent.mkdir(parents=True, exist_ok=True)
            self._list = _locked(self._list_path)
        except BlockingIOError:
            raise OutputFailed(path=self._path, reason="another lshdb filter is writing to this folder") from None
        except OSError as error:
            raise OutputFailed(path=self._path, reason=error.strerror or str(error)) from None
        self._written = _read(self._list_path)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._list is not None
        self._list.close()

    def require_place(self, shard: Shard) -> None:
        """Raises: OutputExists, OutputFailed: a filtered file must not be written there."""
        place = self._place(shard)
        root = uri_path(shard.file.root)
        parent = Path(os.path.realpath(place.parent))
        # The result must not overwrite its own source, nor lie in a folder that is read.
        is_inside = parent.is_relative_to(os.path.realpath(root))
        if is_inside or parent / place.name == Path(os.path.realpath(shard.file.path)):
            raise OutputFailed(path=place, reason=f"it would be among the files that are read, in {root}")
        require_no_database(place)
        if self._force or not os.path.lexists(place):
            return
        if place.is_dir() or not (_name(shard) in self._written or self.has_copy(shard)):
            raise OutputExists(path=place)

    def has_copy(self, shard: Shard) -> bool:
        """Return whether the file is already in place, as a copy or a hard link."""
        try:
            found = (self._place(shard)).lstat()
        except OSError:
            return False
        return (found.st_size, found.st_mtime_ns) == (shard.file.size, shard.file.mtime_ns)

    def before(self, shard: Shard, made_of: str) -> Written | None:
        """Return the entry of a complete file whose inputs have not changed; None if it must be written."""
        before = self._written.get(_name(shard))
        if before is None or before.made_of != made_of:
            return None
        try:
            found = (self._place(shard)).lstat()
        except OSError:
            return None
        return before if (found.st_size, found.st_mtime_ns) == (before.size, before.mtime_ns) else None

    @contextmanager
    def writing(self, shard: Shard) -> Iterator[BinaryIO]:
        """Yield a file to write; `complete` moves it into place.

        Raises: OutputStopped: it cannot be written, most often because the disk is full.
        """
        with self._stopping(shard):
            (self._place(shard)).parent.mkdir(parents=True, exist_ok=True)
            self._part.unlink(missing_ok=True)
            with self._part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())

    def complete(self, shard: Shard, made_of: str, counts: RecordCounts, taken: Taken) -> None:
        """Move the written file into place."""
        with self._stopping(shard):
            self._note(shard, made_of, counts, taken)
            assert self._list is not None
            os.fsync(self._list.fileno())
            self._part.replace(self._place(shard))

    def copy(self, shard: Shard, counts: RecordCounts, *, link: bool) -> None:
        """Write a copy of a file, with its time, or a hard link to it."""
        with self._stopping(shard):
            self._place(shard).parent.mkdir(parents=True, exist_ok=True)
            self._part.unlink(missing_ok=True)
            if link:
                os.link(os.path.realpath(shard.file.path), self._part)
            else:
                shutil.copy2(shard.file.path, self._part)
            status = self._part.stat()
            if (status.st_size, status.st_mtime_ns) != (shard.file.size, shard.file.mtime_ns):
                raise NotIngested(path=shard.file.path, reason="has changed while it was read")
            # Unlike a filtered file, a copy is not synced: its size and time show whether it is complete, and there may
            # be millions of copies.
            self._note(shard, "copy", counts)
            self._part.replace(self._place(shard))

    def leave_out(self, shard: Shard) -> None:
        """Delete the copy of a file that an earlier run wrote."""
        if self.has_copy(shard):
            with self._stopping(shard):
                (self._place(shard)).unlink()

    def _place(self, shard: Shard) -> Path:
        return self._path / shard.relative

    def _note(self, shard: Shard, made_of: str, counts: RecordCounts, taken: Taken = NOTHING) -> None:
        assert self._list is not None
        status = self._part.lstat()
        entry = Written(_name(shard), made_of, status.st_size, status.st_mtime_ns, counts, taken)
        self._list.write(msgspec.json.encode(entry) + b"\n")
        self._list.flush()

    @contextmanager
    def _stopping(self, shard: Shard) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            with suppress(OSError):
                self._part.unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            raise OutputStopped(path=self._place(shard), reason=error.strerror or str(error)) from None


def _name(shard: Shard) -> str:
    # A file name may contain any bytes, JSON only characters.
    return quote_from_bytes(os.fsencode(shard.relative))


def _locked(path: Path) -> BinaryIO:
    """Open the list to append to it. Raises: BlockingIOError: another process has it; OSError."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A run that was killed may have left half a line.
        file.write(b"\n")
    except BaseException:
        file.close()
        raise
    return file


def _read(path: Path) -> dict[str, Written]:
    """Return the complete files of a list by name."""
    written: dict[str, Written] = {}
    with suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            with suppress(msgspec.DecodeError):
                entry = msgspec.json.decode(line, type=Written)
                written[entry.name] = entry
    return written
