"""What crosses from reading to the database: the documents of some sources, sketched, and how far those sources are.

A portion is small enough to cross to another process and to be held a few times over; a batch, which is one
transaction, is made of several. `stretches` makes portions, `ingestion` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from lshdb.model.params import Params
from lshdb.model.values import BandKeys, Document, Rejection, Signatures, Sketches
from lshdb.readers import SourceFile
from lshdb.sketch.sketch import sketch

__all__ = ["STRETCH_BYTES", "Portion", "SourceProgress", "Task", "concatenate"]

# Bytes of files in a stretch. Measured on 550 MB of JSON lines: the rate is flat from 2 MB up, and the memory is not.
STRETCH_BYTES: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class Task:
    """A source to read, from behind its first `position` items on."""

    source: SourceFile
    position: int = 0

    @property
    def is_large(self) -> bool:
        """Whether the source has stretches of its own."""
        return self.source.size > STRETCH_BYTES or self.source.is_stdin


@dataclass(frozen=True, slots=True)
class SourceProgress:
    """How far the reading of a source has come with a portion.

    Args:
        source: the file.
        position: items of it so far, those of earlier portions and runs included.
        num_documents: documents of it in this portion.
        digest: of the whole file; None before it is read to its end, and where it could not be.
        ended: whether there is no more of it to read.
        opened: whether a single byte of it could be read.
    """

    source: SourceFile
    position: int
    num_documents: int
    digest: bytes | None
    ended: bool
    opened: bool


@dataclass(frozen=True, slots=True)
class Portion:
    """Some documents, sketched, and what else was met on the way.

    Args:
        stretch: the number of the stretch it belongs to.
        closes: whether it is the last portion of its stretch.
        documents: without their texts, which are in `sketches`; aligned with it.
        sources: the progress of every source met, in order.
        num_bytes: bytes of files read.
        num_skipped: files and records that were not meant for lshdb.
    """

    stretch: int
    closes: bool
    documents: tuple[Document, ...]
    sketches: Sketches
    rejections: tuple[Rejection, ...]
    sources: tuple[SourceProgress, ...]
    num_bytes: int
    num_skipped: int


def concatenate(parts: Iterable[Sketches], params: Params) -> Sketches:
    """Sketches one behind the other."""
    parts = list(parts)
    if not parts:
        return sketch([], params)
    return Sketches(
        digests=np.concatenate([part.digests for part in parts]),
        num_shingles=np.concatenate([part.num_shingles for part in parts]),
        signatures=Signatures(np.concatenate([part.signatures.minima for part in parts]), params.scheme),
        band_keys=BandKeys(np.concatenate([part.band_keys.keys for part in parts]), params.first_band),
        texts=tuple(text for part in parts for text in part.texts or ()) if params.keep_text else None,
    )
