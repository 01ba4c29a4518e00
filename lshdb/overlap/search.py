"""Search the training side once for everything that the test side shares with it, and put the answers together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.spool import Spool
from lshdb.model.overlap import Overlap, OverlapOptions, TrainingMatch
from lshdb.overlap.findings import Findings
from lshdb.overlap.runs import OtherText, Runs, num_covered
from lshdb.overlap.sought import Sought
from lshdb.overlap.tested import Tested
from lshdb.overlap.training import Training
from lshdb.sketch.texts import unpack_utf8

__all__ = ["overlaps"]

# Training texts that are held while the matches of successive test documents are listed.
HELD_TEXTS = 64


def overlaps(sides: Sequence[Tested], training: Training, options: OverlapOptions) -> Iterator[Overlap]:
    """Yield every document of the test sides, in their order, with what it shares with the training texts."""
    sought = Sought.of([text for side in sides for text in side.texts], options.ngram)
    findings = Findings(sought, options.k)
    spool = Spool(_remembered(training, sought, findings))
    answers = _Answers(sought, findings, spool, training, options.k)
    first = 0
    for side in sides:
        answered = lru_cache(maxsize=HELD_TEXTS)(answers.of)
        for doc_id, row in zip(side.doc_ids, side.rows, strict=True):
            found = answered(first + row)
            yield Overlap(
                doc_id, side.name, found.num_words, found.num_covered, found.longest, found.num_train, found.matches
            )
        first += len(side.texts)


def _remembered(training: Training, sought: Sought, findings: Findings) -> Iterator[tuple[int, bytes]]:
    """Search all training texts, and yield those that may be listed: (key, zstd frame)."""
    for part in training.parts(sought.probe):
        findings.take(part)
        for row in np.flatnonzero(part.accepted).tolist():
            yield int(part.keys[row]), part.frames[row]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a sought text shares with the training texts; the fields are those of `Overlap`."""

    num_words: int
    num_covered: int
    longest: int
    num_train: int
    matches: tuple[TrainingMatch, ...]


class _Answers:
    """Puts together the answers about sought texts."""

    def __init__(self, sought: Sought, findings: Findings, spool: Spool, training: Training, k: int) -> None:
        self._sought = sought
        self._findings = findings
        self._spool = spool
        self._training = training
        self._k = k
        self._longest = findings.longest()
        self._other = lru_cache(maxsize=HELD_TEXTS)(self._read)

    def of(self, text: int) -> _Answer:
        """Return the answer about one text."""
        num_words = self._sought.num_words(text)
        found = self._findings.found[self._sought.numbers_of(text)]
        if not found.any():
            return _Answer(num_words, 0, 0, 0, ())
        size = min(self._sought.size, num_words)
        longest, nearest = self._longest_of(text)
        return _Answer(
            num_words,
            _num_covered(found, size),
            longest - 1 + size,
            self._findings.num_texts(text),
            self._matches(text, nearest),
        )

    def _longest_of(self, text: int) -> tuple[int, int]:
        """Return the number of N-grams of the longest run, and the key of the training text that has it."""
        first, end = self._sought.offsets[text : text + 2].tolist()
        place = first + int(np.argmax(self._longest.lengths[first:end]))
        return int(self._longest.lengths[place]), int(self._longest.keys[place])

    def _matches(self, text: int, nearest: int) -> tuple[TrainingMatch, ...]:
        others = [key for key in self._findings.best(text) if key != nearest]
        runs = Runs(self._sought, text)
        matches: list[TrainingMatch] = []
        for key in [nearest, *others]:
            names = self._training.names(key, self._k - len(matches))
            if not names:
                break
            shared = runs.shared_with(self._other(key))
            longest = max(run.num_words for run in shared)
            matches += (TrainingMatch(name, num_covered(shared), longest, shared) for name in names)
        return tuple(matches)

    def _read(self, key: int) -> OtherText:
        ((_, frame),) = self._spool.texts(np.asarray([key], np.int64))
        return OtherText(unpack_utf8(frame), self._sought)


def _num_covered(found: NDArray[np.bool_], size: int) -> int:
    """Return how many words lie in an N-gram that was found. Args: found: bool, for each N-gram of a text."""
    starts = np.flatnonzero(found)
    return int(np.minimum(np.diff(starts, append=starts[-1] + size), size).sum())
