"""Find the files under the named paths.

Files are found in a fixed order, with one directory scan per folder and one stat per file. No file is opened. Memory
grows with the largest folder, not with the number of files.

Glob patterns choose files. A pattern matches the path below the root (``docs/a/b.html``) or the name alone
(``b.html``). The rules are those of Python's fnmatch: ``*`` and ``?`` also match a slash, ``[abc]`` matches one of
these characters, and case matters. A folder that matches an exclude pattern is not entered. A file that the caller
names is matched by its name.

Anyone who can write to a folder can create a symbolic link to any file of the machine. A link inside a folder is
therefore followed only to a file under one of the paths, unless the caller allows more. A link to a folder under one of
the paths is never followed, because that folder is walked anyway. Of several ways to another folder, the first one is
taken, so a loop of links ends.

Limitation: a file that is added after its folder was scanned is found by the next walk.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import quote_from_bytes

from lshdb.errors import PathMissing, SourceError, SourceUnreadable, reason_of
from lshdb.model.values import MAX_NAME_BYTES
from lshdb.readers.base import STDIN_NAME, STDIN_URI, OutwardLink, Rejection, Skipped, SourceFile, absolute
from lshdb.readers.bytes.streams import open_regular, open_stdin, read_whole
from lshdb.readers.naming import uri_path

__all__ = [
    "Found",
    "Globs",
    "listed",
    "path_uri",
    "require_existing",
    "source_at",
    "source_file",
    "stdin_source",
    "walk",
]

Found: TypeAlias = SourceFile | Rejection | Skipped

# Version control keeps copies of every text in these.
UNWALKED_FOLDERS: Final = frozenset({".git", ".hg", ".svn"})
# The reason of an OutwardLink.
OUTWARD: Final = "symbolic link that leads out of the folder"


def walk(
    paths: Sequence[str | Path],
    exclude: frozenset[Path] = frozenset(),
    *,
    include_globs: Sequence[str] = (),
    exclude_globs: Sequence[str] = (),
    must_exist: bool = True,
    follow_links: bool = False,
) -> Iterator[Found]:
    """Yield every file under the paths, folder by folder, sorted by name.

    Args:
        paths: files and folders, and ``-`` for standard input. If one path contains another, files under the inner one
            are yielded once, under the inner path.
        exclude: files to leave out silently, such as those of the index.
        include_globs: if any, a file has to match one of these patterns.
        exclude_globs: patterns of files and folders to leave out silently.
        must_exist: whether a missing path is an error, rather than a Rejection as in a list of paths.
        follow_links: whether to follow symbolic links that lead out of the paths, rather than yield an OutwardLink.

    Raises: PathMissing: a path does not exist; raised by the call itself, before the walk.
    """
    if must_exist:
        require_existing(paths)
    roots = tuple(dict.fromkeys(STDIN_NAME if str(path) == STDIN_NAME else absolute(path) for path in paths))
    return _Walk(roots, exclude, Globs(include_globs, exclude_globs), follow_links=follow_links).found()


def require_existing(paths: Iterable[str | Path]) -> None:
    """Check that the paths exist. Raises: PathMissing: one of them does not."""
    for path in paths:
        if str(path) != STDIN_NAME and not os.path.lexists(absolute(path)):
            raise PathMissing(path=absolute(path))


def path_uri(path: str | Path) -> str:
    """Return the URI of a path as the walk writes it: absolute, without ``..``, percent-encoded; for ``-``, that of
    stdin.
    """
    return STDIN_URI if str(path) == STDIN_NAME else _uri(absolute(path))


def stdin_source() -> SourceFile:
    """Return standard input as a source with the current time, so that it always counts as changed."""
    return SourceFile(STDIN_URI, Path(STDIN_NAME), 0, time.time_ns(), STDIN_URI)


def source_at(uri: str) -> SourceFile | None:
    """Return the file of a URI that the walk wrote; None if it no longer exists, or for standard input."""
    if uri == STDIN_URI:
        return None
    try:
        return source_file(uri_path(uri))
    except SourceError:
        return None


def source_file(path: str | Path) -> SourceFile:
    """Return one file by its path. Raises: PathMissing; SourceUnreadable: it cannot be accessed."""
    named = absolute(path)
    try:
        return _source_file(named, Path(named).stat(), None)
    except FileNotFoundError:
        raise PathMissing(path=named) from None
    except OSError as error:
        raise SourceUnreadable(path=named, reason=reason_of(error)) from None


class _Walk:
    """One walk; its excluded paths apply to all roots."""

    def __init__(self, roots: tuple[str, ...], exclude: frozenset[Path], globs: Globs, *, follow_links: bool) -> None:
        self._roots = roots
        self._globs = globs
        self._follow_links = follow_links
        # The folders that were or will be entered, by device and inode. Needed only if links are followed.
        self._entered: set[tuple[int, int]] = set()
        self._passed_over = {*map(absolute, exclude), *roots}

    def found(self) -> Iterator[Found]:
        """Yield the files under each root."""
        if self._follow_links:
            self._entered.update(self._folders.values())
        for root in self._roots:
            yield from self._under(root)

    def _under(self, root: str) -> Iterator[Found]:
        if root == STDIN_NAME:
            yield stdin_source()
            return
        try:
            status = Path(root).stat()
        except OSError as error:
            yield Rejection(_uri(root), "", reason_of(error))
            return
        if stat.S_ISDIR(status.st_mode):
            yield from self._folder(root)
        elif not self._globs.takes(name := os.path.basename(root), name):  # noqa: PTH119
            return
        elif stat.S_ISREG(status.st_mode):
            yield _storable(_source_file(root, status, None))
        else:
            yield Rejection(_uri(root), "", "not a regular file")

    def _folder(self, root: str) -> Iterator[Found]:
        root_uri, start = _uri(root), len(root.rstrip("/")) + 1
        # A stack instead of recursion: folders may be nested deeper than Python's recursion limit.
        levels = [_scan(root)]
        while levels:
            entry = next(levels[-1], None)
            if entry is None:
                levels.pop()
            elif isinstance(entry, Rejection):
                yield entry
            elif entry.path in self._passed_over:
                continue
            elif not _is_folder(entry):
                if self._globs.takes(entry.path[start:], entry.name):
                    yield self._file(entry, root_uri)
            elif entry.name in UNWALKED_FOLDERS or not self._globs.enters(entry.path[start:], entry.name):
                continue
            elif (left_out := self._left_out(entry)) is not None:
                yield left_out
            elif self._is_new(entry):
                levels.append(_scan(entry.path))

    def _file(self, entry: os.DirEntry[str], root_uri: str) -> Found:
        found = _of_entry(entry, root_uri)
        may_lead_out = isinstance(found, SourceFile) and entry.is_symlink() and not self._follow_links
        return OutwardLink(_uri(entry.path), OUTWARD) if may_lead_out and self._leads_out(entry.path) else found

    def _left_out(self, entry: os.DirEntry[str]) -> Skipped | None:
        """Return why a folder is not entered: it is a link that must not be followed. None for other folders."""
        if not entry.is_symlink():
            return None
        if not self._leads_out(entry.path):
            return Skipped(_uri(entry.path), "symbolic link to a folder")
        return None if self._follow_links else OutwardLink(_uri(entry.path), OUTWARD)

    def _is_new(self, entry: os.DirEntry[str]) -> bool:
        """Return whether a folder was not entered before, which is possible only if links are followed."""
        if not self._follow_links:
            return True
        try:
            status = entry.stat()
        except OSError:
            return True  # the scan will report the error
        folder = (status.st_dev, status.st_ino)
        is_new = folder not in self._entered
        self._entered.add(folder)
        return is_new

    def _leads_out(self, link: str) -> bool:
        """Return whether a symbolic link leads to a place that is under none of the roots."""
        target = os.path.realpath(link)
        return not any(str(parent) in self._folders for parent in (target, *Path(target).parents))

    @cached_property
    def _folders(self) -> Mapping[str, tuple[int, int]]:
        """The device and inode of each root that is a folder, by its path without symbolic links."""
        found: dict[str, tuple[int, int]] = {}
        for root in self._roots:
            with suppress(OSError):
                status = Path(root).stat()
                if stat.S_ISDIR(status.st_mode):
                    found[os.path.realpath(root)] = (status.st_dev, status.st_ino)
        return found


def _scan(folder: str) -> Iterator[os.DirEntry[str] | Rejection]:
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield Rejection(_uri(folder), "", reason_of(error))
        return
    yield from ordered


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder or a link to one."""
    with suppress(OSError):
        return entry.is_dir()
    return False


def _of_entry(entry: os.DirEntry[str], root_uri: str) -> Found:
    try:
        status = entry.stat()
    except FileNotFoundError:
        reason = "broken symbolic link" if entry.is_symlink() else "it no longer exists"
        return Rejection(_uri(entry.path), "", reason)
    except OSError as error:
        return Rejection(_uri(entry.path), "", reason_of(error))
    if stat.S_ISREG(status.st_mode):
        return _storable(_source_file(entry.path, status, root_uri))
    return Skipped(_uri(entry.path), "not a regular file")


def _source_file(path: str, status: os.stat_result, root_uri: str | None) -> SourceFile:
    uri = _uri(path)
    return SourceFile(uri, Path(path), status.st_size, status.st_mtime_ns, root_uri or uri)


def _storable(file: SourceFile) -> Found:
    if len(file.uri) > MAX_NAME_BYTES:
        return Rejection(
            file.uri, "", f"its address is too long: {len(file.uri):,} bytes; at most {MAX_NAME_BYTES:,} are possible"
        )
    return file


def _uri(path: str) -> str:
    # The result of Path.as_uri on POSIX, without creating a Path.
    return "file://" + quote_from_bytes(os.fsencode(path))


class Globs:
    """Compiled include and exclude patterns."""

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _compiled(include)
        self._exclude = _compiled(exclude)

    def takes(self, path: str, name: str) -> bool:
        """Return whether a file is wanted: it matches an include pattern, if there are any, and no exclude pattern."""
        wanted = self._include is None or _fits(self._include, path, name)
        return wanted and self.enters(path, name)

    def enters(self, path: str, name: str) -> bool:
        """Return whether no exclude pattern matches."""
        return self._exclude is None or not _fits(self._exclude, path, name)


def _compiled(patterns: Sequence[str]) -> re.Pattern[str] | None:
    # A shell completes the name of a folder as "docs/".
    tidied = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    return re.compile("|".join(map(fnmatch.translate, tidied))) if tidied else None


def _fits(pattern: re.Pattern[str], path: str, name: str) -> bool:
    return pattern.match(name) is not None or pattern.match(path) is not None


# Two million paths of 128 characters.
MAX_LIST_BYTES: Final = 256_000_000


def listed(path: str | Path, *, null: bool = False) -> list[str]:
    """Return the paths or ids that a file lists, one per line, in order, without blank lines. They may contain any
    bytes.

    Args:
        path: the list; ``-`` is standard input. If it contains NULs, they separate its entries (``find -print0``).
        null: NULs separate the entries, even if there is only one.

    Raises: PathMissing; SourceUnreadable: it cannot be read, or is larger than 256 MB.
    """
    try:
        with open_stdin() if str(path) == STDIN_NAME else open_regular(Path(path)) as file:
            raw = read_whole(file, MAX_LIST_BYTES)
    except FileNotFoundError:
        raise PathMissing(path=path) from None
    except OSError as error:
        raise SourceUnreadable(path=path, reason=reason_of(error)) from None
    if raw is None:
        raise SourceUnreadable(path=path, reason="it is larger than 256 MB, the limit for a list")
    entries = raw.split(b"\0") if null or b"\0" in raw else [line.removesuffix(b"\r") for line in raw.split(b"\n")]
    return [os.fsdecode(entry) for entry in entries if entry.strip()]
