"""Collect candidate pairs, remove duplicates, and order them by family.

A pair that shares several bands occurs once for each, but must be computed only once. Occurrences are held in memory
up to a limit, then sorted and written to a temporary file as a run. At the end the runs are merged. Memory is the same
for a thousand pairs as for a billion; the file takes 8 bytes for each pair of a run.

Contents that are connected by pairs form a family, and the pairs of one family are computed together. In key order they
would be far apart, because a family grows over many ingests, and its texts would be read and shingled again and
again: 8 times each with a million texts in families of 25. The family order takes 32 bytes for each content that has
candidates; its pairs are spilled to a file in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.components import Rows, components
from lshdb.linking.spilling import close, spilling, temporary_file
from lshdb.model.arrays import distinct
from lshdb.model.values import CandidatePairs

__all__ = [
    "Occurrences",
    "by_family",
    "connected",
]

# Occurrences held before they become a run: 64 MB, and as much again while they are sorted.
RUN_PAIRS: Final = 8_000_000

# Pairs returned at a time, taken from all runs together.
PART_PAIRS: Final = 100_000

# Texts of a part whose families are small: many texts with few pairs each take as long as few texts with many. Few
# texts are divided into about NUM_PARTS smaller parts, so that all threads end at about the same time.
PART_TEXTS: Final = 2_000
LEAST_TEXTS: Final = 250
NUM_PARTS: Final = 32

# If both keys are below 2**32, a pair fits one integer. Integers sort ten times faster than pairs of them.
NARROW_KEYS: Final = 2**31  # leaves room for contents that other processes add meanwhile
NARROW: Final = np.dtype("<u8")
WIDE: Final = np.dtype([("right", "<i8"), ("left", "<i8")])


class Occurrences:
    """Collects occurrences of candidate pairs and returns each pair once, in order.

    Use it as a context manager. Leaving it closes the temporary file, which has no name and disappears.

    Args: last_key: the greatest content key so far. As an attribute it includes the keys of added pairs.
    Attributes: share: the share of the pairs that `parts` has yielded.
    """

    def __init__(self, last_key: int) -> None:
        self.last_key = last_key
        self._dtype = NARROW if last_key < NARROW_KEYS else WIDE
        self._held: list[NDArray[Any]] = []
        self._num_held = 0
        self._is_compact = True
        self._file: BinaryIO | None = None
        self._runs: list[tuple[int, int]] = []
        self.share = 0.0

    def __enter__(self) -> Occurrences:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            close(self._file)

    def add(self, keys: NDArray[np.int64]) -> None:
        """Add pairs of content keys, shape (m, 2), in either order. Raises: SpillFailed: the disk is full."""
        self.last_key = max(self.last_key, int(keys.max(initial=0)))
        self._held.append(_packed(keys, self._dtype))
        self._num_held += len(keys)
        self._is_compact = False
        if self._num_held >= RUN_PAIRS:
            self.compact()
            # If most occurrences were repeats, there is room for more.
            if self._num_held > RUN_PAIRS // 2:
                self._spill()

    def parts(self) -> Iterator[CandidatePairs]:
        """Yield every pair once, left < right, ordered by the right key.

        Hubs of hot buckets are on the left of many pairs, so in this order a part has few distinct contents. You may
        call it again until you add more pairs.
        """
        self.compact()
        runs = self._runs_so_far()
        places, total = [0] * len(runs), max(1, sum(map(len, runs)))
        while any(place < len(run) for place, run in zip(places, runs, strict=True)):
            ends = _ends(runs, places)
            taken = [run[place:end] for run, place, end in zip(runs, places, ends, strict=True)]
            places = ends
            self.share = sum(places) / total
            yield CandidatePairs(_unpacked(distinct(np.concatenate(taken), in_runs=True)))

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """Yield every pair at least once, left < right, int64, shape (m, 2): unlike `parts`, without sorting them."""
        for run in self._runs_so_far():
            for begin in range(0, len(run), PART_PAIRS):
                yield _unpacked(run[begin : begin + PART_PAIRS])

    def compact(self) -> None:
        """Remove repeats among the pairs that are in memory."""
        if not self._is_compact:
            self._held = [distinct(np.concatenate(self._held))]
            self._num_held = len(self._held[0])
            self._is_compact = True

    def _runs_so_far(self) -> list[NDArray[Any]]:
        """Return the sorted runs, and the pairs in memory: one more sorted run after `compact`."""
        return [self._run(begin, end) for begin, end in self._runs] + self._held

    def _spill(self) -> None:
        with spilling():
            if self._file is None:
                self._file = temporary_file()
            begin = self._file.tell()
            self._file.write(self._held[0].data)
            self._file.flush()
        self._runs.append((begin, begin + self._held[0].nbytes))
        self._held, self._num_held = [], 0

    def _run(self, begin: int, end: int) -> NDArray[Any]:
        assert self._file is not None
        return np.memmap(self._file, self._dtype, "r", begin, ((end - begin) // self._dtype.itemsize,))


def _ends(runs: list[NDArray[Any]], places: list[int]) -> list[int]:
    """Return how far to read each sorted run for about PART_PAIRS pairs, none of which occurs again later."""
    step = max(1, PART_PAIRS // len(runs))
    ends, further = _ends_within(runs, places, step), _ends_within(runs, places, 2 * step)
    # If the runs do not overlap, one of them supplies the whole part.
    while further != ends and sum(further) - sum(places) <= PART_PAIRS:
        step *= 2
        ends, further = further, _ends_within(runs, places, 2 * step)
    return ends


def _ends_within(runs: list[NDArray[Any]], places: list[int], step: int) -> list[int]:
    """Return the same as `_ends`, with up to `step` pairs from each run."""
    ahead = [run[place + step - 1] for run, place in zip(runs, places, strict=True) if place + step <= len(run)]
    if not ahead:
        return [len(run) for run in runs]
    limit = np.sort(np.array(ahead, dtype=runs[0].dtype))[0]
    return [int(np.searchsorted(run, limit, side="right")) for run in runs]


def _packed(keys: NDArray[np.int64], dtype: np.dtype[Any]) -> NDArray[Any]:
    left, right = np.minimum(keys[:, 0], keys[:, 1]), np.maximum(keys[:, 0], keys[:, 1])
    if dtype == NARROW:
        return (right.astype(np.uint64) << np.uint64(32)) | left.astype(np.uint64)
    packed = np.empty(len(keys), dtype=WIDE)
    packed["left"], packed["right"] = left, right
    return packed


def _unpacked(packed: NDArray[Any]) -> NDArray[np.int64]:
    if packed.dtype == NARROW:
        left, right = packed & np.uint64(2**32 - 1), packed >> np.uint64(32)
    else:
        left, right = packed["left"], packed["right"]
    return np.column_stack([left, right]).astype(np.int64)


def by_family(candidates: Occurrences, given: Callable[[float], None]) -> Generator[CandidatePairs, None, None]:
    """Yield every pair once, left < right, family by family. Within a family, pairs are ordered by their right key.

    Parts of about equal work keep several threads busy: a part has up to PART_PAIRS pairs, and a new one begins with
    the first family after PART_TEXTS texts, or fewer if there are not many.

    Close the generator to close its temporary file.

    Args: given: receives the share of the pairs that was yielded so far.
    Raises: SpillFailed: the disk is full.
    """
    # Connecting repeats would take longer than removing them, which `parts` does anyway.
    candidates.compact()
    keys, families = connected(candidates)
    sorting = np.argsort(families, kind="stable")
    keys, families = keys[sorting], families[sorting]
    # Where the family of each content begins.
    first = np.searchsorted(families, families)
    part_texts = max(LEAST_TEXTS, min(PART_TEXTS, len(keys) // NUM_PARTS))
    order = np.argsort(keys)
    rows = Rows(keys[order])
    with Occurrences(len(keys)) as ranked:
        for part in candidates.parts():
            ranked.add(order[rows.of(part.keys)])
        for part in ranked.parts():
            cuts = np.flatnonzero(np.diff(first[part.keys[:, 1]] // part_texts)) + 1
            for pairs in np.split(part.keys, cuts):
                yield CandidatePairs(keys[pairs])
            given(ranked.share)


def connected(pairs: Occurrences) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the contents of the pairs, ascending, and for each the first row that it is connected with.

    Returns: two arrays int64, shape (n,).
    """
    is_there = np.zeros(pairs.last_key + 1, dtype=np.bool_)
    for block in pairs.blocks():
        is_there[block] = True
    keys = np.flatnonzero(is_there)
    return keys, components(Rows(keys), len(keys), pairs.blocks())
