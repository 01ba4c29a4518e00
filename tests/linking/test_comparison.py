"""Texts are read in groups of a few bytes, so that large ones do not fill the memory."""

from __future__ import annotations

import numpy as np

from lshdb import Document, Index
from lshdb.linking.comparison import encoded_texts, text_groups
from lshdb.sketch.texts import unpack_utf8
from lshdb.store.store import Store


def test_texts_are_read_in_groups_of_bytes(url: str) -> None:
    with Index.create(url) as index:
        index.add(Document(str(number), "word " * number) for number in range(1, 9))
    with Store.open(url) as store, store.reading() as snapshot:
        keys = np.arange(1, 9)
        every, texts = encoded_texts(snapshot, keys)
        assert (every.tolist(), [len(text) for text in texts]) == (list(range(1, 9)), [5 * n for n in range(1, 9)])
        groups = [(found.tolist(), some) for found, some in text_groups(snapshot, keys, 50)]
        assert [found for found, _ in groups] == [[1, 2, 3, 4], [5, 6], [7, 8]]
        assert [text for _, some in groups for text in some] == texts
        assert [found.tolist() for found, _ in text_groups(snapshot, keys)] == [every.tolist()]
        assert [*text_groups(snapshot, keys[:0])] == []

        def odd(frame: bytes) -> bytes | None:
            text = unpack_utf8(frame)
            return text if len(text) % 2 else None

        assert [found.tolist() for found, _ in text_groups(snapshot, keys, 20, odd)] == [[1, 3], [5], [7]]
