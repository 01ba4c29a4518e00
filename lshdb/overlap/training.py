"""What is searched: texts of several places, which pass once, in parts.

Of each part, only the texts with an N-gram that is sought are held.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Protocol, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from lshdb.ingest.workers import in_processes
from lshdb.overlap.probing import Probe
from lshdb.sketch.compiled import compile_ahead

__all__ = ["JoinedTraining", "Part", "Training", "called"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Part(Struct, frozen=True):
    """n texts that have N-grams that are sought.

    Args:
        keys: a key of each text, int64, shape (n,); no key occurs in two parts.
        weights: how many documents each text is, int64, shape (n,).
        hits: (text, first word, N-gram), int64, shape (m, 3); texts are counted from 0 to n - 1.
        frames: the texts, compressed.
        accepted: which of them may be listed, bool, shape (n,). The caller that takes the part sets it; the names of
            the others are forgotten.
    """

    keys: NDArray[np.int64]
    weights: NDArray[np.int64]
    hits: NDArray[np.int64]
    frames: Sequence[bytes]
    accepted: NDArray[np.bool_]


class Training(Protocol):
    """Texts to search."""

    @property
    def num_unread(self) -> int:
        """The number of texts of the index that could not be read again, once all parts were read."""
        ...

    def parts(self, probe: Probe) -> Iterator[Part]:
        """Yield the texts with N-grams that are sought."""
        ...

    def names(self, key: int, count: int) -> list[str]:
        """Return the ids of the first `count` documents with a text that was accepted."""
        ...


class JoinedTraining:
    """The texts of several places, one after the other."""

    def __init__(self, places: Sequence[Training]) -> None:
        self._places = places

    @property
    def num_unread(self) -> int:
        """The number of texts of the index that could not be read again, once all parts were read."""
        return sum(place.num_unread for place in self._places)

    def parts(self, probe: Probe) -> Iterator[Part]:
        """Yield the texts with N-grams that are sought."""
        for number, place in enumerate(self._places):
            for part in place.parts(probe):
                # Two places may use the same key.
                yield replace(part, keys=part.keys * len(self._places) + number)

    def names(self, key: int, count: int) -> list[str]:
        """Return the ids of the first `count` documents with a text that was accepted."""
        place_key, number = divmod(key, len(self._places))
        return self._places[number].names(place_key, count)


def called(function: Callable[[_Given], _Made], given: Iterable[_Given], workers: int) -> Generator[_Made, None, None]:
    """Yield ``map(function, given)``, from worker processes if there are several."""
    if workers == 1:
        yield from map(function, given)
        return
    compile_ahead()
    with closing(in_processes(function, given, workers)) as found:
        yield from found
