"""The documents that peers read, and the figures that they print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec


class Record(msgspec.Struct):
    """A line of the corpus."""

    id: str
    text: str

    @property
    def num_bytes(self) -> int:
        """The size of the text in UTF-8."""
        return len(self.text) if self.text.isascii() else len(self.text.encode())


class Figures(msgspec.Struct):
    """The figures of a peer.

    Args:
        documents, bytes: the number of texts, and their size in UTF-8.
        seconds: for the work alone; None if the whole process counts.
        note: a remark for the table.
    """

    documents: int
    bytes: int
    seconds: float | None = None
    note: str = ""


def read_records(path: Path) -> Iterator[Record]:
    """Yield the documents of a JSON lines file."""
    decoder = msgspec.json.Decoder(Record)
    with path.open("rb", buffering=1 << 20) as lines:
        yield from map(decoder.decode, lines)


def show(figures: Figures) -> None:
    """Print the figures for the parent process."""
    print(msgspec.json.encode(figures).decode())
