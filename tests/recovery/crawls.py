"""A small crawl of every shape: containers, compressed and not, pages and notes, copies and near-duplicates.

`write` creates it, and `edit` changes it into the crawl of the next day.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.readers.crawls import response

WORDS: Final = [f"word{number}" for number in range(400)]
NUM_ARCHIVED: Final = 450
NUM_PLAIN: Final = 120
NUM_CAPTURED: Final = 60
NUM_FILES: Final = 40

Record = tuple[str, str]


class Texts:
    """Random texts: one in five is similar to an earlier one, one in twenty equals an earlier one."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._made: list[list[str]] = []

    def text(self) -> str:
        """Return the next text."""
        draw = self._chance.random()
        if not self._made or draw > 0.25:
            words = self._chance.choices(WORDS, k=self._chance.randint(30, 60))
        else:
            words = list(self._chance.choice(self._made))
            if draw > 0.05:
                words[self._chance.randrange(len(words))] = self._chance.choice(WORDS)
        self._made.append(words)
        return " ".join(words)

    def records(self, prefix: str, count: int) -> list[Record]:
        """Return texts with ids that start with `prefix`."""
        return [(f"{prefix}-{number}", self.text()) for number in range(count)]


def write(folder: Path, seed: int) -> None:
    """Write the crawl."""
    texts = Texts(random.Random(seed))
    (folder / "pages" / "deep").mkdir(parents=True)
    write_jsonl(folder / "archive.jsonl.gz", texts.records("archive", NUM_ARCHIVED))
    write_warc(folder / "capture.warc.gz", texts.records("capture", NUM_CAPTURED))
    write_jsonl(folder / "more.jsonl", texts.records("more", NUM_PLAIN), ["not JSON", '{"id": "blank", "text": ""}'])
    for number in range(NUM_FILES):
        write_file(folder, number, texts.text())


def edit(folder: Path, seed: int) -> None:
    """Change, delete and add some records and files."""
    texts = Texts(random.Random(seed))
    archived = read_jsonl(folder / "archive.jsonl.gz")
    changed = [(doc_id, texts.text() if index % 7 == 0 else text) for index, (doc_id, text) in enumerate(archived)]
    write_jsonl(folder / "archive.jsonl.gz", changed[40:] + texts.records("new", 60))
    (folder / "more.jsonl").unlink()
    write_jsonl(folder / "since.jsonl", texts.records("since", 40) + archived[:20])
    for number in range(0, NUM_FILES, 3):
        write_file(folder, number, texts.text() + " of today")
    for number in range(1, NUM_FILES, 5):
        file_path(folder, number).unlink()


def write_jsonl(path: Path, records: Iterable[Record], others: Iterable[str] = ()) -> None:
    """Return a container of JSON records and invalid lines."""
    lines = [json.dumps({"id": doc_id, "text": text}) for doc_id, text in records]
    content = "".join(f"{line}\n" for line in (*lines, *others)).encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def read_jsonl(path: Path) -> list[Record]:
    """Return the records of a compressed container."""
    records = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    return [(record["id"], record["text"]) for record in records]


def write_warc(path: Path, records: Iterable[Record]) -> None:
    """Return a WARC file with one page per record."""
    path.write_bytes(b"".join(response(f"http://crawl.example/{doc_id}", page(text)) for doc_id, text in records))


def write_file(folder: Path, number: int, text: str) -> None:
    """Write a page or a note as a file."""
    path = file_path(folder, number)
    path.write_bytes(page(text) if path.suffix == ".html" else text.encode())


def file_path(folder: Path, number: int) -> Path:
    """Return the path of the file with this number."""
    inner = folder / "pages" / ("deep" if number % 4 == 0 else "")
    return inner / f"{number:03}.{'html' if number % 2 else 'txt'}"


def page(text: str) -> bytes:
    """Return a page with the text as main content."""
    return f"<!doctype html><html><body><main><p>{text}.</p></main></body></html>".encode()
