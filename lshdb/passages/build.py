"""Add a passage index to an index that has documents, from its kept texts, or drop it.

The fingerprints are written part by part. If the process is killed, the next call continues after the last part. The
passages become a parameter of the index in the transaction that finds no further text, so every question about passages
sees all contents.

Limitation: a process that opened the index before fails when it writes to it afterwards, because it would write no
fingerprints. It has to open the index again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

from lshdb.errors import UsageError
from lshdb.linking.comparison import text_groups
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.upkeep import PassagesReport
from lshdb.model.values import Fingerprints
from lshdb.sketch.normalization import normalise_utf8
from lshdb.sketch.winnowing import fingerprints
from lshdb.store.store import Store
from lshdb.store.tables import bands
from lshdb.store.tables import fingerprints as table

__all__ = ["build", "drop"]

# Texts whose fingerprints are written in one transaction, unless they have more fingerprints than this. The more are
# written together, the larger the blocks: 20,000 web pages put 60 fingerprints into each.
WRITTEN_TEXTS: Final = 20_000
WRITTEN_FINGERPRINTS: Final = 4_000_000


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
        keys = table.next_contents(transaction, position, written_texts)
        prints, num_texts, num_prints = list[Fingerprints](), 0, 0
        with closing(text_groups(transaction, keys)) as groups:
            for found, texts in groups:
                prints.append(_fingerprints(texts, wanted))
                num_texts += len(found)
                num_prints += len(prints[-1].hashes)
                if num_prints >= WRITTEN_FINGERPRINTS:
                    break
        is_last = num_texts == len(keys) < written_texts
        if prints:
            position = int(keys[num_texts - 1])
            table.put(transaction, keys[:num_texts], Fingerprints.concatenate(prints))
            table.advance(transaction, position)
        if is_last:
            table.finish(transaction, wanted.passages)
        share = 1.0 if is_last else position / (bands.last_content(transaction) or 1)
    progress.advanced("passages", share)
    return is_last


def _fingerprints(texts: Sequence[bytes], wanted: Params) -> Fingerprints:
    return fingerprints(normalise_utf8(texts, wanted.shingling), wanted.shingling, wanted.passages)
