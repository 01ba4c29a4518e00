"""Remove frequent passages from the texts of records.

A passage is removed if every N consecutive words of it are frequent. The original text is removed from the first letter
of its first word to the last letter of its last word. All other bytes of the text stay, including the punctuation and
white space around the passage. Where its neighbours would become one word, a space takes its place.

Knows no file format: a record is the list of its text fields, and an edit is a range of characters of a field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from xxhash import xxh3_128_digest

from lshdb.clusters.rows.options import Taken, TakenPassage
from lshdb.model.arrays import among
from lshdb.model.params import Params
from lshdb.passages.frequent import windows_of
from lshdb.sketch.texts import encode
from lshdb.sketch.words import Words, words

__all__ = ["Edits", "FrequentPassages", "Tally"]

# Words of a passage that a report shows, and different passages that are counted for it: 30 MB.
SHOWN_WORDS: Final = 40
COUNTED_PASSAGES: Final = 100_000
REPORTED_PASSAGES: Final = 20


class Edits(Struct, frozen=True):
    """What to take out of a record.

    Args:
        spans: for each field the ranges of characters, ascending.
        filler: what takes the place of each range: nothing, or a space.
        is_emptied: the record has no words left.
    """

    spans: tuple[tuple[tuple[int, int], ...], ...]
    filler: str
    is_emptied: bool


class Tally:
    """Counts what was removed from the records of a file."""

    def __init__(self) -> None:
        self._numbers: Counter[str] = Counter()
        self._passages: Counter[tuple[str, int]] = Counter()

    def add(self, *, num_words: int, num_bytes: int, num_runs: int, is_emptied: bool) -> None:
        """Count a record."""
        self._numbers.update(
            num_records=1, num_runs=num_runs, num_words=num_words, num_bytes=num_bytes, num_emptied=int(is_emptied)
        )

    def add_passage(self, beginning: str, num_words: int) -> None:
        """Count a passage by its first words and its length."""
        self._passages[beginning, num_words] += 1
        if len(self._passages) > COUNTED_PASSAGES:
            self._passages = Counter(dict(self._passages.most_common(COUNTED_PASSAGES // 2)))

    def taken(self) -> Taken:
        """Return the counts so far."""
        most = self._passages.most_common(REPORTED_PASSAGES)
        return Taken(**self._numbers, passages=tuple(TakenPassage(*one, number) for one, number in most))


class FrequentPassages:
    """The passages to take out.

    Args: ngrams: uint64, ascending; the N-grams of words that they consist of.
    """

    def __init__(self, ngrams: NDArray[np.uint64], params: Params) -> None:
        self._ngrams = ngrams
        self._params = params

    def digest(self) -> bytes:
        """Return a digest of all passages, 16 bytes."""
        return xxh3_128_digest(self._ngrams.tobytes())

    def edits(self, records: Sequence[Sequence[str]], tally: Tally) -> list[Edits | None]:
        """Return what to take out of each record; None for nothing. Args: records: the text fields of each."""
        encoded = [encode("\n".join(fields)) for fields in records]
        found = words(encoded, self._params.seed)
        cuts = {row: _Cut(found, row, encoded[row], runs) for row, runs in self._runs(found)}
        remaining = words([cut.rest(b"") for cut in cuts.values()], self._params.seed)
        edits: list[Edits | None] = [None] * len(records)
        for place, (row, cut) in enumerate(cuts.items()):
            left = remaining.hashes[remaining.offsets[place] : remaining.offsets[place + 1]]
            filler = "" if np.array_equal(left, cut.words_left) else " "
            edits[row] = Edits(cut.spans_of(records[row]), filler, not len(left))
            cut.count(tally, is_emptied=not len(left))
        return edits

    def _runs(self, found: Words) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield each text that has frequent passages, and these: words [start, stop) of the text."""
        windows = windows_of(found, self._params)
        firsts = np.searchsorted(windows.texts, np.arange(len(found)))
        frequent = np.flatnonzero(among(windows.hashes, self._ngrams))
        for row in np.unique(windows.texts[frequent]).tolist():
            starts = frequent[windows.texts[frequent] == row] - firsts[row]
            begins = np.append(True, starts[1:] > starts[:-1] + self._params.passages)
            stops = np.append(starts[:-1][begins[1:]], starts[-1]) + self._params.passages
            yield row, np.column_stack([starts[begins], stops])


class _Cut:
    """The runs of words to take out of one text.

    Attributes: words_left: uint64; the hashes of the words that stay.
    """

    def __init__(self, found: Words, row: int, text: bytes, runs: NDArray[np.int64]) -> None:
        first, last = found.offsets[row], found.offsets[row + 1]
        self._found, self._first, self._text = found, int(first), text
        places = found.places[first:last]
        self._runs = [run for start, stop in runs.tolist() if (run := _separable(places, start, stop))]
        self._spans = [(int(places[start, 0]), int(places[stop - 1, 1])) for start, stop in self._runs]
        is_left = np.ones(last - first, np.bool_)
        for start, stop in self._runs:
            is_left[start:stop] = False
        self.words_left = found.hashes[first:last][is_left]

    def rest(self, filler: bytes) -> bytes:
        """Return the text without the runs."""
        ends = [0, *(stop for _, stop in self._spans)]
        starts = [*(start for start, _ in self._spans), len(self._text)]
        return filler.join(self._text[end:start] for end, start in zip(ends, starts, strict=True))

    def spans_of(self, fields: Sequence[str]) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Return the runs as ranges of characters of each field."""
        # A byte that begins a character is not 10xxxxxx.
        begins = (np.frombuffer(self._text, np.uint8) & 0xC0) != 0x80
        characters = np.append(0, np.cumsum(begins))[np.asarray(self._spans, np.int64).reshape(-1, 2)].tolist()
        spans, offset = [], 0
        for field in fields:
            inside = ((max(start - offset, 0), min(stop - offset, len(field))) for start, stop in characters)
            spans.append(tuple((start, stop) for start, stop in inside if start < stop))
            offset += len(field) + 1
        return tuple(spans)

    def count(self, tally: Tally, *, is_emptied: bool) -> None:
        """Count the record and its runs."""
        for start, stop in self._runs:
            shown = self._found.spelled(self._first + start, self._first + min(stop, start + SHOWN_WORDS))
            tally.add_passage(shown, stop - start)
        tally.add(
            num_runs=len(self._runs),
            num_words=sum(stop - start for start, stop in self._runs),
            num_bytes=sum(stop - start for start, stop in self._spans),
            is_emptied=is_emptied,
        )


def _separable(places: NDArray[np.int64], start: int, stop: int) -> tuple[int, int] | None:
    """Return the run without words at its ends that share a character with a word outside, such as those of ½."""
    while start < stop and start > 0 and places[start, 0] < places[start - 1, 1]:
        start += 1
    while start < stop < len(places) and places[stop, 0] < places[stop - 1, 1]:
        stop -= 1
    return (start, stop) if start < stop else None
