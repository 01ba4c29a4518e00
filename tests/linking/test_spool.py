"""Texts held in a temporary file."""

from __future__ import annotations

import errno
import gc
import io
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from lshdb.errors import SpillFailed
from lshdb.linking.spilling import temporary_file
from lshdb.linking.spool import Spool


@contextmanager
def files_of_at_most(num_bytes: int) -> Iterator[None]:
    """Limit the size of files, so that a write beyond the limit fails as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Unreadable(io.BytesIO):
    """A file on a disk that fails."""

    def read(self, _size: int | None = -1) -> bytes:
        raise OSError(errno.EIO, "Input/output error")


def test_a_spool_gives_the_texts_asked_for_by_ascending_key() -> None:
    spool = Spool([(7, b"seven"), (2, b""), (2**40, b"many" * 10_000), (3, b"three")])
    assert list(spool.texts(np.array([2, 3, 5, 2**40]))) == [(2, b""), (3, b"three"), (2**40, b"many" * 10_000)]
    assert list(spool.texts(np.array([7]))) == [(7, b"seven")]


def test_of_two_texts_of_one_content_a_spool_keeps_the_first() -> None:
    assert list(Spool([(2, b"one"), (2, b"two")]).texts(np.array([2]))) == [(2, b"one")]


def test_the_file_is_closed_with_its_spool(monkeypatch: pytest.MonkeyPatch) -> None:
    file = temporary_file()
    monkeypatch.setattr("lshdb.linking.spool.temporary_file", lambda: file)
    held = [Spool([(1, b"one")])]
    assert not file.closed
    held.clear()
    gc.collect()
    assert file.closed


def test_an_empty_spool_has_no_text() -> None:
    assert list(Spool([]).texts(np.array([1, 2]))) == []


@pytest.mark.parametrize("size", [2_000, 200_000], ids=["buffered", "unbuffered"])
def test_no_room_for_the_texts_is_an_error_naming_the_folder(size: int) -> None:
    with files_of_at_most(1_000), pytest.raises(SpillFailed, match=f"in {tempfile.gettempdir()}: File too large"):
        Spool([(1, b"x" * size)])


def test_a_missing_folder_for_the_texts_is_an_error_naming_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(SpillFailed, match="gone: No such file"):
        Spool([])


def test_a_machine_without_a_temporary_folder_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def gettempdir() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp', '/var/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", gettempdir)
    with pytest.raises(SpillFailed, match=r"in any of the usual folders: No usable temporary directory found in \["):
        Spool([])


def test_a_text_that_cannot_be_read_back_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Unreadable())
    spool = Spool([(1, b"one")])
    with pytest.raises(SpillFailed, match="Input/output error"):
        list(spool.texts(np.array([1])))


def test_an_error_of_the_source_of_the_texts_is_not_one_of_the_temporary_file() -> None:
    def texts() -> Iterator[tuple[int, bytes]]:
        yield 1, b"one"
        raise PermissionError(errno.EACCES, "Permission denied")

    with pytest.raises(PermissionError):
        Spool(texts())
