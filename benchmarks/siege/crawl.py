"""A crawl of two days: containers and small files, bad lines, copies and near-duplicates.

On the second day, half of the texts of each container have changed, one container is missing and one is new.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Literal

import msgspec

from benchmarks.corpora import synthetic

__all__ = ["Crawl", "Day", "write"]

Day = Literal["monday", "tuesday"]

NUM_CONTAINERS: Final = 6
NUM_FILES: Final = 600
COPY_EVERY: Final = 97  # records
BAD_LINE: Final = b'{"id": "unfinished\n'


@dataclass(frozen=True, slots=True)
class Crawl:
    """A folder, and the folders of both days that it is filled from."""

    folder: Path
    days: Path

    def turn(self, day: Day) -> None:
        """Fill the folder as on that day, with the times of its files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.days / day, self.folder)


def write(place: Path, num_documents: int) -> Crawl:
    """Write a crawl with that many documents on the first day, and return it."""
    count = (num_documents - NUM_FILES) // NUM_CONTAINERS
    monday = list(islice(synthetic.texts(num_documents, seed=1), num_documents))
    other = list(synthetic.texts(num_documents, seed=2))
    tuesday = [new if number % 2 else old for number, (old, new) in enumerate(zip(monday, other, strict=True))]
    for day, texts, first in (("monday", monday, 0), ("tuesday", tuesday, 1)):
        folder = place / "days" / day
        folder.mkdir(parents=True)
        for number in range(first, NUM_CONTAINERS + first):
            # The new container of the second day takes the place of the missing one.
            begin = number % NUM_CONTAINERS * count
            lines = _lines(number, texts[begin : begin + count])
            (folder / f"container-{number}.jsonl").write_bytes(b"".join(lines))
        for number, text in enumerate(texts[-NUM_FILES:]):
            (folder / f"note-{number:04}.txt").write_text(text)
    return Crawl(place / "crawl", place / "days")


def _lines(container: int, texts: list[str]) -> Iterator[bytes]:
    encoder = msgspec.json.Encoder()
    for number, text in enumerate(texts):
        shown = texts[number - 1] if number % COPY_EVERY == 1 else text
        yield encoder.encode({"id": f"{container}/{number}", "text": shown}) + b"\n"
    yield BAD_LINE
