"""The walk: which files lie under the paths that were named.

Owns order, what is passed over and why. Opens no file: one directory scan a folder and one stat a file. Memory grows
with the largest folder, not with the number of files.
Limitations: symbolic links to folders are not followed (their targets may be walked already, or for ever); a name that
appears after its folder was scanned waits for the next walk.

Which files of a walk are wanted, by glob patterns.

A pattern is matched against the path below the root (``docs/a/b.html``) and against the name alone (``b.html``): where
either fits, it fits. ``*`` and ``?`` match a slash too, ``[abc]`` is one of these, upper and lower case differ: the
rules of Python's fnmatch. A folder that an exclude pattern fits is not entered. A file that was named itself is matched
by its name.

Files that list paths, one a line, as ``find`` and ``git ls-files`` print them.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import quote_from_bytes, unquote_to_bytes

from lshdb.errors import PathMissing, SourceUnreadable
from lshdb.readers.base import STDIN_NAME, STDIN_URI, Rejection, Skipped, SourceFile, absolute, reason_of
from lshdb.readers.bytes.streams import open_regular, open_stdin, read_whole

__all__ = [
    "Found",
    "Globs",
    "listed_paths",
    "path_uri",
    "source_at",
    "source_file",
    "stdin_source",
    "walk",
]

Found: TypeAlias = SourceFile | Rejection | Skipped

# The copies of every text that version control keeps are no documents of their own.
UNWALKED_FOLDERS: Final = frozenset({".git", ".hg", ".svn"})
DATABASE_SUFFIXES: Final = ("", "-wal", "-shm", "-journal")


def walk(
    paths: Sequence[str | Path],
    exclude: frozenset[Path] = frozenset(),
    *,
    include_globs: Sequence[str] = (),
    exclude_globs: Sequence[str] = (),
    must_exist: bool = True,
) -> Iterator[Found]:
    """Every file under the paths, folder by folder, sorted by name.

    Args:
        paths: files and folders, and ``-`` for standard input; a path that lies under another one is walked once,
            under its own name.
        exclude: files to pass over in silence, such as the index itself, and SQLite's files beside them.
        include_globs: patterns of which a file has to fit one, where there are any; see `Globs`.
        exclude_globs: patterns of files and folders to pass over in silence.
        must_exist: whether a path that does not exist is an error, rather than a Rejection, as in a list of paths.
    Raises: PathMissing: one of the paths does not exist; raised by the call, before anything is walked.
    """
    roots = tuple(dict.fromkeys(STDIN_NAME if str(path) == STDIN_NAME else absolute(path) for path in paths))
    for root in roots:
        if must_exist and root != STDIN_NAME and not os.path.lexists(root):
            raise PathMissing(path=root)
    return _Walk(roots, exclude, Globs(include_globs, exclude_globs)).found()


def path_uri(path: str | Path) -> str:
    """The URI of a path as the walk writes it: absolute, with no ``..``, percent-encoded; that of ``-`` is stdin's."""
    return STDIN_URI if str(path) == STDIN_NAME else _uri(absolute(path))


def stdin_source() -> SourceFile:
    """Standard input, as a source of now: no time before can equal it."""
    return SourceFile(STDIN_URI, Path(STDIN_NAME), 0, time.time_ns(), STDIN_URI)


def source_at(uri: str) -> SourceFile | None:
    """The file of a URI that the walk wrote; None where there is none any more, and for standard input."""
    if uri == STDIN_URI:
        return None
    try:
        return source_file(os.fsdecode(unquote_to_bytes(uri.removeprefix("file://"))))
    except (OSError, PathMissing):
        return None


def source_file(path: str | Path) -> SourceFile:
    """One file that is named itself. Raises: PathMissing; OSError: it cannot be looked at."""
    named = absolute(path)
    try:
        return _source_file(named, Path(named).stat(), None)
    except FileNotFoundError:
        raise PathMissing(path=named) from None


class _Walk:
    """One walk; the paths not to be entered are known to all of it."""

    def __init__(self, roots: tuple[str, ...], exclude: frozenset[Path], globs: Globs) -> None:
        self._roots = roots
        self._globs = globs
        excluded = {absolute(path) + suffix for path in exclude for suffix in DATABASE_SUFFIXES}
        self._passed_over = excluded.union(roots)

    def found(self) -> Iterator[Found]:
        """What lies under each root."""
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
            yield _source_file(root, status, None)
        else:
            yield Rejection(_uri(root), "", "not a regular file")

    def _folder(self, root: str) -> Iterator[Found]:
        root_uri, start = _uri(root), len(root.rstrip("/")) + 1
        # A stack and not recursion: folders may nest deeper than Python's calls.
        levels = [_scan(root)]
        while levels:
            entry = next(levels[-1], None)
            if entry is None:
                levels.pop()
            elif isinstance(entry, Rejection):
                yield entry
            elif entry.path in self._passed_over:
                continue
            elif not entry.is_dir(follow_symlinks=False):
                if self._globs.takes(entry.path[start:], entry.name):
                    yield _of_entry(entry, root_uri)
            elif entry.name not in UNWALKED_FOLDERS and self._globs.enters(entry.path[start:], entry.name):
                levels.append(_scan(entry.path))


def _scan(folder: str) -> Iterator[os.DirEntry[str] | Rejection]:
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield Rejection(_uri(folder), "", reason_of(error))
        return
    yield from ordered


def _of_entry(entry: os.DirEntry[str], root_uri: str) -> Found:
    try:
        status = entry.stat()
    except FileNotFoundError:
        reason = "symbolic link to nothing" if entry.is_symlink() else "it is gone"
        return Rejection(_uri(entry.path), "", reason)
    except OSError as error:
        return Rejection(_uri(entry.path), "", reason_of(error))
    if stat.S_ISREG(status.st_mode):
        return _source_file(entry.path, status, root_uri)
    is_folder = stat.S_ISDIR(status.st_mode)
    return Skipped(_uri(entry.path), "symbolic link to a folder" if is_folder else "not a regular file")


def _source_file(path: str, status: os.stat_result, root_uri: str | None) -> SourceFile:
    uri = _uri(path)
    return SourceFile(uri, Path(path), status.st_size, status.st_mtime_ns, root_uri or uri)


def _uri(path: str) -> str:
    # What Path.as_uri gives on POSIX, without making a Path first.
    return "file://" + quote_from_bytes(os.fsencode(path))


class Globs:
    """Include and exclude patterns, compiled."""

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _compiled(include)
        self._exclude = _compiled(exclude)

    def takes(self, path: str, name: str) -> bool:
        """Whether a file is wanted: an include pattern fits, if there are any, and no exclude pattern does."""
        wanted = self._include is None or _fits(self._include, path, name)
        return wanted and self.enters(path, name)

    def enters(self, path: str, name: str) -> bool:
        """Whether no exclude pattern fits."""
        return self._exclude is None or not _fits(self._exclude, path, name)


def _compiled(patterns: Sequence[str]) -> re.Pattern[str] | None:
    # "docs/" means the folder, as a shell completes it.
    tidied = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    return re.compile("|".join(map(fnmatch.translate, tidied))) if tidied else None


def _fits(pattern: re.Pattern[str], path: str, name: str) -> bool:
    return pattern.match(name) is not None or pattern.match(path) is not None


# Two million paths of 128 characters.
MAX_LIST_BYTES: Final = 256_000_000


def listed_paths(path: str | Path) -> list[str]:
    """The paths that a file lists, in its order, blank lines left out; any bytes of a name survive.

    Args: path: the list; ``-`` is standard input. Where it holds a NUL, NULs end its paths (``find -print0``).
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
        raise SourceUnreadable(path=path, reason="a list of paths is not larger than 256 MB")
    listed = raw.split(b"\0") if b"\0" in raw else [line.removesuffix(b"\r") for line in raw.split(b"\n")]
    return [os.fsdecode(path) for path in listed if path.strip()]
