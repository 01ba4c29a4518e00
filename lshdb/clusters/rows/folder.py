"""The folder that filtered files are written to: each file once, and completely or not at all.

Its subfolder ``.lshdb`` holds a lock, the file being written, and the list of complete files. The list records what
each file was made from, so the next run skips it if nothing has changed. An entry is written before its file is moved
into place: a file that is in the folder but not in the list is not ours.

Others may be able to write to the folder, but not to its subfolder. From the folder on, no link is followed.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, Self
from urllib.parse import quote_from_bytes

import msgspec

from lshdb.clusters.rows.options import RecordCounts, Taken
from lshdb.clusters.rows.shards import Shard
from lshdb.errors import NotIngested, OutputExists, OutputFailed, OutputStopped, reason_of
from lshdb.readers.bytes.streams import open_regular
from lshdb.readers.naming import uri_path
from lshdb.store.files import require_no_database

__all__ = ["OutFolder", "Written"]

OWN_FOLDER: Final = ".lshdb"
LIST: Final = "written.jsonl"
PART: Final = "part"
COPIED_BYTES: Final = 1 << 20
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
        self._opened = ExitStack()
        # Descriptors of the folder and its subfolder.
        self._root = self._own = -1
        self._list: BinaryIO | None = None
        self._written: dict[str, Written] = {}
        with self._failing(), suppress(FileNotFoundError), ExitStack() as opened:
            own = _own_folder(opened, _folder(opened, path))
            self._written = _read(opened.enter_context(_list(own, os.O_RDONLY)))

    def __enter__(self) -> Self:
        """Raises: OutputFailed: the folder cannot be created, is not ours, or another process is writing to it."""
        with self._failing(), ExitStack() as opened:
            self._path.mkdir(parents=True, exist_ok=True)
            self._root = _folder(opened, self._path)
            with suppress(FileExistsError):
                os.mkdir(OWN_FOLDER, 0o700, dir_fd=self._root)
            self._own = _own_folder(opened, self._root)
            self._list = opened.enter_context(_list(self._own, os.O_RDWR | os.O_CREAT | os.O_APPEND))
            fcntl.flock(self._list, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._written = _read(self._list)
            # A run that was killed may have left half a line.
            self._list.write(b"\n")
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def require_place(self, shard: Shard) -> None:
        """Raises: OutputExists, OutputFailed: a filtered file must not be written there."""
        place = self._place(shard)
        root = uri_path(shard.file.root)
        parent = Path(os.path.realpath(place.parent))
        # The result must not overwrite its own source, nor lie in a folder that is read.
        is_inside = parent.is_relative_to(os.path.realpath(root))
        if is_inside or parent / place.name == Path(os.path.realpath(shard.file.path)):
            raise OutputFailed(path=place, reason=f"it would be among the files that are read, in {root}")
        if parent != Path(os.path.realpath(self._path)) / shard.relative.parent:
            raise OutputFailed(path=place, reason=f"a link leads out of the folder, to {parent}")
        if shard.relative.parts[0] == OWN_FOLDER:
            raise OutputFailed(path=place, reason=f"lshdb keeps its list there; add --exclude {OWN_FOLDER}")
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
        # Creating its folder may fail, so it is done before the work.
        with self._stopping(shard), self._folder_of(shard), self._new_part() as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def complete(self, shard: Shard, made_of: str, counts: RecordCounts, taken: Taken) -> None:
        """Move the written file into place."""
        with self._stopping(shard):
            self._note(shard, made_of, counts, taken)
            assert self._list is not None
            os.fsync(self._list.fileno())
            self._move(shard)

    def copy(self, shard: Shard, counts: RecordCounts, *, link: bool) -> None:
        """Write a copy of a file, with its time, or a hard link to it."""
        with self._stopping(shard):
            if link:
                self._drop_part()
                os.link(os.path.realpath(shard.file.path), PART, dst_dir_fd=self._own)
            else:
                with open_regular(shard.file.path) as source, self._new_part() as file:
                    _copy(source, file)
            status = self._part_status()
            if (status.st_size, status.st_mtime_ns) != (shard.file.size, shard.file.mtime_ns):
                raise NotIngested(path=shard.file.path, reason="has changed while it was read")
            # Unlike a filtered file, a copy is not synced: its size and time show whether it is complete, and there may
            # be millions of copies.
            self._note(shard, "copy", counts)
            self._move(shard)

    def leave_out(self, shard: Shard) -> None:
        """Delete the copy of a file that an earlier run wrote."""
        if self.has_copy(shard):
            with self._stopping(shard), self._folder_of(shard) as folder:
                os.unlink(shard.relative.name, dir_fd=folder)

    def _place(self, shard: Shard) -> Path:
        return self._path / shard.relative

    def _note(self, shard: Shard, made_of: str, counts: RecordCounts, taken: Taken = NOTHING) -> None:
        assert self._list is not None
        status = self._part_status()
        entry = Written(_name(shard), made_of, status.st_size, status.st_mtime_ns, counts, taken)
        self._list.write(msgspec.json.encode(entry) + b"\n")
        self._list.flush()

    def _new_part(self) -> BinaryIO:
        def opened(_name: str, flags: int) -> int:
            return os.open(PART, flags | os.O_NOFOLLOW, 0o666, dir_fd=self._own)

        self._drop_part()
        return io.BufferedWriter(io.FileIO(str(self._path / OWN_FOLDER / PART), "xb", opener=opened))

    def _drop_part(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(PART, dir_fd=self._own)

    def _part_status(self) -> os.stat_result:
        return os.stat(PART, dir_fd=self._own, follow_symlinks=False)

    def _move(self, shard: Shard) -> None:
        with self._folder_of(shard) as folder:
            os.replace(PART, shard.relative.name, src_dir_fd=self._own, dst_dir_fd=folder)

    @contextmanager
    def _folder_of(self, shard: Shard) -> Iterator[int]:
        """Yield the folder that a file belongs in, and create it. Raises: OSError: for instance, a part is a link."""
        with ExitStack() as opened:
            folder = self._root
            for name in shard.relative.parent.parts:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
                folder = _folder(opened, name, folder, os.O_NOFOLLOW)
            yield folder

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            raise OutputFailed(path=self._path, reason="another lshdb filter is writing to this folder") from None
        except OSError as error:
            raise OutputFailed(path=self._path, reason=reason_of(error)) from None

    @contextmanager
    def _stopping(self, shard: Shard) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            with suppress(OSError):
                self._drop_part()
            if not isinstance(error, OSError):
                raise
            raise OutputStopped(path=self._place(shard), reason=reason_of(error)) from None


def _name(shard: Shard) -> str:
    # A file name may contain any bytes, JSON only characters.
    return quote_from_bytes(os.fsencode(shard.relative))


def _folder(opened: ExitStack, path: str | Path, above: int | None = None, flags: int = 0) -> int:
    """Return a descriptor of a folder, which `opened` will close."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | flags, dir_fd=above)
    opened.callback(os.close, folder)
    return folder


def _own_folder(opened: ExitStack, root: int) -> int:
    """Return a descriptor of the subfolder. Raises: OSError: it is a link, does not exist, or belongs to somebody."""
    own = _folder(opened, OWN_FOLDER, root, os.O_NOFOLLOW)
    status = os.fstat(own)
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, f"its folder {OWN_FOLDER} belongs to another user")
    if stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
        # Made with an umask that lets a group write. Some file systems have no permissions to change.
        with suppress(PermissionError):
            os.fchmod(own, 0o700)
    return own


def _list(own: int, flags: int) -> BinaryIO:
    # O_NONBLOCK: opening a pipe would block.
    return os.fdopen(os.open(LIST, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666, dir_fd=own), "r+b")


def _copy(source: BinaryIO, file: BinaryIO) -> None:
    """Copy a file with its permissions and time."""
    shutil.copyfileobj(source, file, COPIED_BYTES)
    file.flush()
    status = os.fstat(source.fileno())
    os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
    os.utime(file.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))


def _read(file: BinaryIO) -> dict[str, Written]:
    """Return the complete files of a list by name."""
    written: dict[str, Written] = {}
    for line in file:
        with suppress(msgspec.DecodeError):
            entry = msgspec.json.decode(line, type=Written)
            written[entry.name] = entry
    return written
