"""Generate synthetic texts for measurements at scale.

Words are drawn by Zipf's law (the frequency of the n-th word is proportional to 1/n) from 50,000 words of 2 to 11
letters. Texts have 300 to 800 bytes, uniformly distributed. 5 % of them are an earlier text with one to three words
replaced. The same count and seed give the same texts.

Limitation: these texts share fewer phrases than real ones, so there are fewer candidates. Reading and writing are as
fast as with real texts of that size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

__all__ = ["SEED", "texts", "write_files", "write_jsonl"]

SEED: Final = 1
NUM_WORDS: Final = 50_000
WORD_LETTERS: Final = (2, 11)
TEXT_BYTES: Final = (300, 800)
SHARE_NEAR_DUPLICATES: Final = 0.05

# Texts generated at a time. A near-duplicate is derived from an earlier text of its block.
BLOCK_TEXTS: Final = 1_000
# Enough words for the longest text, even if all of them are short.
DRAWN_WORDS: Final = TEXT_BYTES[1] // (WORD_LETTERS[0] + 1) + 1
FILES_IN_FOLDER: Final = 100


def texts(count: int, seed: int = SEED) -> Iterator[str]:
    """Yield the texts. One block is in memory at a time."""
    chance = np.random.default_rng(seed)
    words = vocabulary(chance)
    shares = np.cumsum(1.0 / np.arange(1, NUM_WORDS + 1))
    for begin in range(0, count, BLOCK_TEXTS):
        yield from block(chance, words, shares / shares[-1], min(BLOCK_TEXTS, count - begin))


def vocabulary(chance: np.random.Generator) -> list[str]:
    """Return words of random letters, most frequent first."""
    lengths = chance.integers(WORD_LETTERS[0], WORD_LETTERS[1], NUM_WORDS, endpoint=True)
    letters = chance.integers(ord("a"), ord("z"), int(lengths.sum()), dtype=np.uint8, endpoint=True).tobytes().decode()
    ends = np.cumsum(lengths)
    return [letters[end - length : end] for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]


def block(
    chance: np.random.Generator, words: list[str], shares: np.ndarray[tuple[int], np.dtype[np.float64]], count: int
) -> Iterator[str]:
    """Yield the next texts. `shares` are the cumulative frequencies of the words."""
    drawn = np.searchsorted(shares, chance.random((count, DRAWN_WORDS))).tolist()
    num_bytes = chance.integers(*TEXT_BYTES, count, endpoint=True).tolist()
    is_near = (chance.random(count) < SHARE_NEAR_DUPLICATES).tolist()
    made: list[str] = []
    for index in range(count):
        if made and is_near[index]:
            made.append(edited(chance, words, made[int(chance.integers(len(made)))]))
        else:
            made.append(" ".join([words[rank] for rank in drawn[index]])[: num_bytes[index]])
    yield from made


def edited(chance: np.random.Generator, words: list[str], text: str) -> str:
    """Return the text with one to three words replaced."""
    parts = text.split(" ")
    for _ in range(int(chance.integers(1, 3, endpoint=True))):
        parts[int(chance.integers(len(parts)))] = words[int(chance.integers(NUM_WORDS))]
    return " ".join(parts)


def write_jsonl(file: Path, count: int) -> None:
    """Write a JSON lines file, one text at a time."""
    encoder = msgspec.json.Encoder()
    with file.open("wb") as out:
        for number, text in enumerate(texts(count)):
            out.write(encoder.encode({"id": f"d{number}", "text": text}) + b"\n")


def write_files(folder: Path, count: int) -> None:
    """Write one file per text: 100 files per folder, and 100 such folders in each folder above."""
    for number, text in enumerate(texts(count)):
        inner = folder / f"{number // FILES_IN_FOLDER**2:03}" / f"{number // FILES_IN_FOLDER % FILES_IN_FOLDER:02}"
        if number % FILES_IN_FOLDER == 0:
            inner.mkdir(parents=True)
        (inner / f"{number:07}.txt").write_text(text)
