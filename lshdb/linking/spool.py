"""Texts held in a temporary file of this machine while one question needs them.

They are not held in the database, because a role that may not write can ask the question too.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spool"]


class Spool:
    """Zstd frames by content_key. The file goes with the object; memory is 24 bytes a text.

    Args: texts: (content_key, zstd frame) in any order.
    """

    def __init__(self, texts: Iterable[tuple[int, bytes]]) -> None:
        self._file = TemporaryFile()  # noqa: SIM115
        finalize(self, self._file.close)
        places = array("q")
        for key, frame in texts:
            places.extend((key, self._file.tell(), len(frame)))
            self._file.write(frame)
        rows = np.frombuffer(places, dtype=np.int64).reshape(-1, 3)
        self._keys, first = np.unique(rows[:, 0], return_index=True)
        self._places = rows[first, 1:]

    def texts(self, content_keys: NDArray[np.int64]) -> Iterator[tuple[int, bytes]]:
        """(content_key, zstd frame) of those of the contents that are held, ascending.

        Args: content_keys: int64, distinct, ascending.
        """
        held = np.intersect1d(content_keys, self._keys, assume_unique=True)
        places = self._places[np.searchsorted(self._keys, held)]
        for key, (offset, size) in zip(held.tolist(), places.tolist(), strict=True):
            self._file.seek(offset)
            yield key, self._file.read(size)
