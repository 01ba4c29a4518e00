"""Texts held in a temporary file on this machine while one command needs them.

The database is not used for this, so that a role without write access can run such a command too.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from lshdb.linking.spilling import close, spilling, temporary_file

__all__ = ["Spool"]


class Spool:
    """Texts as zstd frames, by content_key. Memory: 24 bytes for each text. The file disappears with the object.

    Args: texts: (content_key, zstd frame) in any order. If a key occurs twice, its first text is kept.
    Raises: SpillFailed: the temporary file cannot be written; most often the disk is full.
    """

    def __init__(self, texts: Iterable[tuple[int, bytes]]) -> None:
        with spilling():
            self._file = temporary_file()
        finalize(self, close, self._file)
        places = array("q")
        for key, frame in texts:
            with spilling():
                places.extend((key, self._file.tell(), len(frame)))
                self._file.write(frame)
        with spilling():
            self._file.flush()
        rows = np.frombuffer(places, dtype=np.int64).reshape(-1, 3)
        self._keys, first = np.unique(rows[:, 0], return_index=True)
        self._places = rows[first, 1:]

    def texts(self, content_keys: NDArray[np.int64]) -> Iterator[tuple[int, bytes]]:
        """Yield (content_key, zstd frame) for those of the contents that are held, ascending.

        Args: content_keys: int64, distinct, ascending.
        Raises: SpillFailed: the temporary file cannot be read.
        """
        held = np.intersect1d(content_keys, self._keys, assume_unique=True)
        places = self._places[np.searchsorted(self._keys, held)]
        for key, (offset, size) in zip(held.tolist(), places.tolist(), strict=True):
            with spilling():
                self._file.seek(offset)
                frame = self._file.read(size)
            yield key, frame
