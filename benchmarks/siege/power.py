"""What a power cut may leave of a SQLite file that is being written.

SQLite syncs its log before it copies pages from it to the database. Up to the last such checkpoint, the log is on the
disk. What follows may be missing or garbage, and a page that the checkpoint was copying may be torn.
Source: https://www.sqlite.org/walformat.html
"""

from __future__ import annotations

import random
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

__all__ = ["CUTS", "Cut", "Image", "beside", "copied", "cut", "size_of"]

Cut = Literal["copied", "log truncated", "log garbage", "pages torn"]
CUTS: Final[tuple[Cut, ...]] = get_args(Cut)

LOG_HEADER_BYTES: Final = 32
FRAME_HEADER_BYTES: Final = 24
PAGE_SIZE_AT: Final = 8  # in the header of the log
CHECKPOINTED_AT: Final = 128  # in the shared memory: frames that the last checkpoint started to copy
MAX_TORN: Final = 20


@dataclass(frozen=True, slots=True)
class Image:
    """A copy of the files at one moment, and how many bytes of the log are certainly on the disk."""

    database: Path
    synced_bytes: int

    @property
    def log(self) -> Path:
        """The path of its log."""
        return beside(self.database, "-wal")


def beside(database: Path, ending: str) -> Path:
    """Return the file beside a database with this ending."""
    return database.with_name(database.name + ending)


def size_of(log: Path) -> int:
    """Return the bytes of a log; 0 if it does not exist."""
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0


def copied(database: Path, target: Path) -> Image:
    """Copy a database whose writer is stopped."""
    target.parent.mkdir()
    shutil.copyfile(database, target)
    log, shared = beside(database, "-wal"), beside(database, "-shm")
    if size_of(log) < LOG_HEADER_BYTES:
        return Image(target, 0)
    shutil.copyfile(log, beside(target, "-wal"))
    (num_frames,) = struct.unpack_from("=I", shared.read_bytes(), CHECKPOINTED_AT)
    return Image(target, LOG_HEADER_BYTES + num_frames * _frame_bytes(target))


def cut(image: Image, kind: Cut, chance: random.Random) -> str:
    """Damage an image as a power cut may, and describe the damage."""
    if not image.log.exists():
        return "no log"
    size = image.log.stat().st_size
    if kind == "pages torn":
        return f"{_tear(image, chance)} pages torn"
    begin = chance.randint(min(image.synced_bytes, size), size)
    if kind == "log truncated":
        with image.log.open("r+b") as log:
            log.truncate(begin)
    elif kind == "log garbage":
        with image.log.open("r+b") as log:
            log.seek(begin)
            log.write(chance.randbytes(size - begin))
    return f"log of {size / 1e6:.0f} MB, {image.synced_bytes / 1e6:.0f} MB synced, {(size - begin) / 1e6:.0f} MB lost"


def _tear(image: Image, chance: random.Random) -> int:
    """Overwrite the second half of some pages that the checkpoint was copying, and return how many."""
    page_bytes = _frame_bytes(image.database) - FRAME_HEADER_BYTES
    numbers = sorted(_checkpointed_pages(image) - {1})
    torn = chance.sample(numbers, min(MAX_TORN, len(numbers)))
    with image.database.open("r+b") as database:
        for number in torn:
            database.seek((number - 1) * page_bytes + page_bytes // 2)
            database.write(chance.randbytes(page_bytes // 2))
    return len(torn)


def _checkpointed_pages(image: Image) -> set[int]:
    numbers, step = set(), _frame_bytes(image.database)
    with image.log.open("rb") as log:
        for begin in range(LOG_HEADER_BYTES, image.synced_bytes, step):
            log.seek(begin)
            numbers.add(int.from_bytes(log.read(4), "big"))
    return numbers


def _frame_bytes(database: Path) -> int:
    with beside(database, "-wal").open("rb") as log:
        header = log.read(LOG_HEADER_BYTES)
    return FRAME_HEADER_BYTES + int.from_bytes(header[PAGE_SIZE_AT : PAGE_SIZE_AT + 4], "big")
