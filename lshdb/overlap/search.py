"""Search the training side once for everything that the test side shares with it, and put the answers together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from lshdb.sketch.texts import decode, unpack_utf8

__all__ = ["overlaps"]

# Training texts that are held while the matches of successive test documents are listed.
HELD_TEXTS = 64


def overlaps(sides: Sequence[Tested], training: Training, options: OverlapOptions) -> Iterator[Overlap]:
    """Yield every document of the test sides, in their order, with what it shares with the training texts."""
    sought = Sought.of([text for side in sides for text in side.texts], options.ngram)
    findings = Findings(sought, options.k)
    spool = Spool(_remembered(training, sought, findings, options.k))
    answers = _Answers(sought, findings, spool, training, options.k)
    first = 0
    for side in sides:
        answered = lru_cache(maxsize=HELD_TEXTS)(answers.of)
        for doc_id, row in zip(side.doc_ids, side.rows, strict=True):
            yield replace(answered(first + row), test=doc_id, collection=side.name)
        first += len(side.texts)


def _remembered(training: Training, sought: Sought, findings: Findings, k: int) -> Iterator[tuple[int, bytes]]:
    """Search all training texts, and yield those that may be listed: (key, zstd frame)."""
    for part in training.parts(sought.probe):
        findings.take(part)
        for row in np.flatnonzero(part.accepted).tolist() if k else ():
            yield int(part.keys[row]), part.frames[row]


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

    def of(self, text: int) -> Overlap:
        """Return the answer about one text, without the name of a document."""
        num_words = self._sought.num_words(text)
        found = self._findings.found[self._sought.numbers_of(text)]
        if not found.any():
            return Overlap("", "", num_words)
        size = min(self._sought.size, num_words)
        end, num_ngrams, nearest = self._longest_of(text)
        passage = self._sought.passage(text, end - num_ngrams + 1, end + size)
        return Overlap(
            test="",
            collection="",
            num_words=num_words,
            num_covered=_num_covered(found, size),
            longest=num_ngrams - 1 + size,
            num_train=self._findings.num_texts(text),
            train=self._training.names(nearest, 1)[0],
            passage=decode(passage),
            matches=self._matches(text, nearest) if self._k else (),
        )

    def _longest_of(self, text: int) -> tuple[int, int, int]:
        """Return the place of the last N-gram of the longest run, how many it has, and the key of its training text."""
        first, stop = self._sought.offsets[text : text + 2].tolist()
        end = int(np.argmax(self._longest.lengths[first:stop]))
        return end, int(self._longest.lengths[first + end]), int(self._longest.keys[first + end])

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
