"""Add a passage index to an index that has documents, from its kept texts, or drop it.

The fingerprints are written part by part. If the process is killed, the next call continues after the last part. The
passages become a parameter of the index in the transaction that finds no further text, so every question about passages
sees all contents.

Limitation: a process that opened the index before fails when it writes to it afterwards, because it would write no
fingerprints. It has to open the index again.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

import numpy as np

from lshdb.errors import UsageError
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.upkeep import PassagesReport
from lshdb.model.values import Fingerprints
from lshdb.sketch.normalization import normalise_utf8
from lshdb.sketch.texts import unpack_utf8
from lshdb.sketch.winnowing import fingerprints
from lshdb.store.store import Store
from lshdb.store.tables import bands
from lshdb.store.tables import fingerprints as table

__all__ = ["build", "drop"]

# Texts whose fingerprints are computed together, and texts whose fingerprints are written in one transaction. The more
# are written together, the larger the blocks: 20,000 web pages put 60 fingerprints into each.
READ_TEXTS: Final = 1_000
WRITTEN_TEXTS: Final = 20_000


def build(store: Store, num_words: int, progress: Progress, *, written_texts: int = WRITTEN_TEXTS) -> PassagesReport:
    """Make every shared run of `num_words` words findable, replacing an index of passages of another length.

    Args: written_texts: how many texts go into one transaction.
    Raises: InvalidParams: the index holds sets or keeps no texts, or `num_words` is out of range; StoreError:
        committed parts stay.
    """
    started = time.monotonic()
    wanted = replace(store.params, passages=num_words)
    if num_words < 1:
        raise UsageError(reason="a passage has at least one word")
    if store.params.passages != num_words:
        with store.writing() as transaction:
            begun = table.building(transaction)
            if begun is None or begun.passages != num_words:
                table.begin(transaction, num_words)
        store.reload()
        while not _write_part(store, wanted, progress, written_texts):
            pass
        store.reload()
    return PassagesReport(num_words, time.monotonic() - started)


def drop(store: Store) -> None:
    """Drop the passage index, finished or not. Its space is free for new rows; `vacuum` returns it to the system."""
    with store.writing() as transaction:
        table.finish(transaction, 0)
        table.clear(transaction)
    store.reload()


def _write_part(store: Store, wanted: Params, progress: Progress, written_texts: int) -> bool:
    """Write the fingerprints of the next texts. Returns: whether these were the last."""
    with store.writing() as transaction:
        begun = table.building(transaction)
        position = 0 if begun is None else begun.position
        keys, prints = [np.empty(0, np.int64)], list[Fingerprints]()
        while sum(map(len, keys)) < written_texts:
            found, frames = table.next_texts(transaction, position, min(READ_TEXTS, written_texts))
            if not len(found):
                break
            position = int(found[-1])
            keys.append(found)
            prints.append(_fingerprints(frames, wanted))
        is_last = sum(map(len, keys)) < written_texts
        if prints:
            table.put(transaction, np.concatenate(keys), Fingerprints.concatenate(prints))
            table.advance(transaction, position)
        if is_last:
            table.finish(transaction, wanted.passages)
        share = 1.0 if is_last else position / (bands.last_content(transaction) or 1)
    progress.advanced("passages", share)
    return is_last


def _fingerprints(frames: list[bytes], wanted: Params) -> Fingerprints:
    forms = normalise_utf8([unpack_utf8(frame) for frame in frames], wanted.shingling)
    return fingerprints(forms, wanted.shingling, wanted.passages)
