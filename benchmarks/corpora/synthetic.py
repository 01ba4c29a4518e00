"""Texts for measurements of scale: synthetic, for a million real ones cannot be had in a moment, but of their shape.

Words are drawn by Zipf's law (the frequency of the n-th word is proportional to 1/n) from 50,000 words of 2 to 11
letters; a text has 300 to 800 bytes, evenly; 5 in 100 texts are an earlier one with one to three words replaced.
The same count and seed give the same texts. Limitation: such texts share fewer phrases than real ones, so that
there are fewer candidates; speeds of reading and writing are what they are with real texts of that size.
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

# Texts that are made at a time; a near-duplicate is one of an earlier text among them.
BLOCK_TEXTS: Final = 1_000
# Enough words for the longest text, even if all have the least letters.
DRAWN_WORDS: Final = TEXT_BYTES[1] // (WORD_LETTERS[0] + 1) + 1
FILES_IN_FOLDER: Final = 100


def texts(count: int, seed: int = SEED) -> Iterator[str]:
    """The texts, one by one; a block of them is in memory."""
    chance = np.random.default_rng(seed)
    words = vocabulary(chance)
    shares = np.cumsum(1.0 / np.arange(1, NUM_WORDS + 1))
    for begin in range(0, count, BLOCK_TEXTS):
        yield from block(chance, words, shares / shares[-1], min(BLOCK_TEXTS, count - begin))


def vocabulary(chance: np.random.Generator) -> list[str]:
    """Words of random letters, the most frequent one first."""
    lengths = chance.integers(WORD_LETTERS[0], WORD_LETTERS[1], NUM_WORDS, endpoint=True)
    letters = chance.integers(ord("a"), ord("z"), int(lengths.sum()), dtype=np.uint8, endpoint=True).tobytes().decode()
    ends = np.cumsum(lengths)
    return [letters[end - length : end] for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]


def block(
    chance: np.random.Generator, words: list[str], shares: np.ndarray[tuple[int], np.dtype[np.float64]], count: int
) -> Iterator[str]:
    """The next texts; `shares` are cumulative frequencies of the words."""
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
    """The text with one to three of its words replaced."""
    parts = text.split(" ")
    for _ in range(int(chance.integers(1, 3, endpoint=True))):
        parts[int(chance.integers(len(parts)))] = words[int(chance.integers(NUM_WORDS))]
    return " ".join(parts)


def write_jsonl(file: Path, count: int) -> None:
    """A file of one text a line, written as it is made."""
    encoder = msgspec.json.Encoder()
    with file.open("wb") as out:
        for number, text in enumerate(texts(count)):
            out.write(encoder.encode({"id": f"d{number}", "text": text}) + b"\n")


def write_files(folder: Path, count: int) -> None:
    """A file a text, a hundred in each of many folders, a hundred folders in each of those above."""
    for number, text in enumerate(texts(count)):
        inner = folder / f"{number // FILES_IN_FOLDER**2:03}" / f"{number // FILES_IN_FOLDER % FILES_IN_FOLDER:02}"
        if number % FILES_IN_FOLDER == 0:
            inner.mkdir(parents=True)
        (inner / f"{number:07}.txt").write_text(text)
