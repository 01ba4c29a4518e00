"""Shared by the tests of the readers: reading a file as ingest does, and running as nobody."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import zstandard

from lshdb.model.values import Document
from lshdb.readers import Item, Reading, ReadOptions, source_file

T = TypeVar("T")
NOBODY = 65534


def read(path: Path, options: ReadOptions = ReadOptions()) -> list[Item]:  # noqa: B008
    """Return the items of a named file."""
    return list(Reading(source_file(path), options))


def texts(path: Path, options: ReadOptions = ReadOptions()) -> list[str]:  # noqa: B008
    """Return the texts of a file without rejections."""
    return [item.text for item in read(path, options)]  # type: ignore[union-attr]


def ids(path: Path) -> list[str]:
    """Return the ids of the documents of a file."""
    return [item.doc_id for item in read(path) if isinstance(item, Document)]


def jsonl(path: Path, *records: object) -> Path:
    """Write a file of JSON lines."""
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def zstd(raw: bytes) -> bytes:
    """Return a frame with a checksum, as zstd(1) writes it. Without one, damage inside a block is not detected."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(raw)


def as_nobody(function: Callable[[], T]) -> T:
    """Return the result of the function in a process that permissions apply to, which is not root."""
    if os.geteuid() != 0:
        return function()
    receiver, sender = os.pipe()
    if (child := os.fork()) == 0:
        os.setuid(NOBODY)
        os.write(sender, pickle.dumps(function()))
        os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    result: T = pickle.loads(answer)
    return result
