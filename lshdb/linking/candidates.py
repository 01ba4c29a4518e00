"""Candidate pairs made unique, whatever their number: each is computed once though it meets in many bands.

Occurrences are held up to a bound, then sorted, and written to a temporary file as a run; in the end the runs are
merged. The memory is the same for a thousand pairs and for a billion; the file has 8 bytes for each pair of a run.

The order in which candidate pairs are computed: pairs of the same contents one after the other.

What pairs connect is a family. In the order of their keys the pairs of a family lie as far apart as the nights that
brought its versions, and each of their texts was read and cut again for every part that has a pair of it: 8 times of a
million texts of 25 versions. Memory is 32 bytes a content that has candidates; the pairs are spilled as before.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import SpillFailed
from lshdb.linking.components import Rows, components
from lshdb.model.arrays import distinct
from lshdb.model.values import CandidatePairs

__all__ = [
    "Occurrences",
    "by_family",
]

# Occurrences held before they become a run: 64 MB, and as much again while they are sorted.
RUN_PAIRS: Final = 8_000_000

# Pairs given out at a time, taken from all runs together.
PART_PAIRS: Final = 100_000

# A pair whose keys are both below 2**32 is one integer, which sorts ten times faster than two.
NARROW_KEYS: Final = 2**31  # the rest is room for contents that other processes add meanwhile
NARROW: Final = np.dtype("<u8")
WIDE: Final = np.dtype([("right", "<i8"), ("left", "<i8")])


class Occurrences:
    """Collects occurrences of candidate pairs and gives each pair once, in order.

    Use it as a context manager: its end closes the file, which has no name and goes then.

    Args: last_key: the greatest key that a content has so far; the attribute, also of a pair's content.
    """

    def __init__(self, last_key: int) -> None:
        self.last_key = last_key
        self._dtype = NARROW if last_key < NARROW_KEYS else WIDE
        self._held: list[NDArray[Any]] = []
        self._num_held = 0
        self._file: BinaryIO | None = None
        self._runs: list[tuple[int, int]] = []
        self.share = 0.0

    def __enter__(self) -> Occurrences:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, keys: NDArray[np.int64]) -> None:
        """Takes content keys of shape (m, 2), in either order. Raises: SpillFailed: the disk is full."""
        self.last_key = max(self.last_key, int(keys.max(initial=0)))
        self._held.append(_packed(keys, self._dtype))
        self._num_held += len(keys)
        if self._num_held >= RUN_PAIRS:
            self._compact()
            # Where most were repeats there is room for more of them.
            if self._num_held > RUN_PAIRS // 2:
                self._spill()

    def parts(self) -> Iterator[CandidatePairs]:
        """Every pair once, left < right, ordered by the right one; `share` says how much of them is given out.

        May be called again, until more are added.

        A hot bucket's hubs are on the left of many pairs: so ordered, a part has few contents.
        """
        self._compact()
        runs = [self._run(begin, end) for begin, end in self._runs] + self._held
        places, total = [0] * len(runs), max(1, sum(map(len, runs)))
        while any(place < len(run) for place, run in zip(places, runs, strict=True)):
            ends = _ends(runs, places)
            taken = [run[place:end] for run, place, end in zip(runs, places, ends, strict=True)]
            places = ends
            self.share = sum(places) / total
            yield CandidatePairs(_unpacked(distinct(np.concatenate(taken))))

    def _compact(self) -> None:
        if self._held:
            self._held = [distinct(np.concatenate(self._held))]
            self._num_held = len(self._held[0])

    def _spill(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="lshdb-")  # noqa: SIM115
            begin = self._file.tell()
            self._file.write(self._held[0].data)
            self._file.flush()
        except OSError as error:
            raise SpillFailed(folder=tempfile.gettempdir(), reason=error.strerror or str(error)) from None
        self._runs.append((begin, begin + self._held[0].nbytes))
        self._held, self._num_held = [], 0

    def _run(self, begin: int, end: int) -> NDArray[Any]:
        assert self._file is not None
        return np.memmap(self._file, self._dtype, "r", begin, ((end - begin) // self._dtype.itemsize,))


def _ends(runs: list[NDArray[Any]], places: list[int]) -> list[int]:
    """How far each sorted run may be read so that no pair is met again later, some PART_PAIRS from all of them."""
    step = max(1, PART_PAIRS // len(runs))
    ends, further = _ends_within(runs, places, step), _ends_within(runs, places, 2 * step)
    # Where runs follow each other, all comes from one of them.
    while further != ends and sum(further) - sum(places) <= PART_PAIRS:
        step *= 2
        ends, further = further, _ends_within(runs, places, 2 * step)
    return ends


def _ends_within(runs: list[NDArray[Any]], places: list[int], step: int) -> list[int]:
    """`_ends`, with up to `step` pairs from each run."""
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
    """Every pair once, left < right: family by family, and within a family in the order of their right content.

    A generator to be closed: that closes its file.

    Args: given: hears the share that is given out.
    Raises: SpillFailed: the disk is full.
    """
    keys = _by_family(candidates)
    order = np.argsort(keys)
    rows = Rows(keys[order])
    with Occurrences(len(keys)) as ranked:
        for part in candidates.parts():
            ranked.add(order[rows.of(part.keys)])
        for part in ranked.parts():
            yield CandidatePairs(keys[part.keys])
            given(ranked.share)


def _by_family(candidates: Occurrences) -> NDArray[np.int64]:
    """The contents of the pairs, int64, shape (n,): family by family, ascending within each."""
    is_there = np.zeros(candidates.last_key + 1, dtype=np.bool_)
    for part in candidates.parts():
        is_there[part.keys] = True
    keys = np.flatnonzero(is_there)
    families = components(Rows(keys), len(keys), (part.keys for part in candidates.parts()))
    return keys[np.argsort(families, kind="stable")]
