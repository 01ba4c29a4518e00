"""What a peer prints about itself, and the documents it reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec


class Record(msgspec.Struct):
    """One line of the corpus."""

    id: str
    text: str

    @property
    def num_bytes(self) -> int:
        """The text's size in UTF-8."""
        return len(self.text) if self.text.isascii() else len(self.text.encode())


class Figures(msgspec.Struct):
    """What one peer did.

    Args:
        documents, bytes: how many texts were worked on, and their size in UTF-8.
        seconds: for the work alone; None where the whole process counts.
        note: what the reader of the table must know.
    """

    documents: int
    bytes: int
    seconds: float | None = None
    note: str = ""


def read_records(path: Path) -> Iterator[Record]:
    """The documents of a file with one JSON object a line."""
    decoder = msgspec.json.Decoder(Record)
    with path.open("rb", buffering=1 << 20) as lines:
        yield from map(decoder.decode, lines)


def show(figures: Figures) -> None:
    """Print the figures for the process that started this one."""
    print(msgspec.json.encode(figures).decode())
