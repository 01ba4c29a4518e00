"""Texts are read in groups of a few bytes, so that large ones do not fill the memory, and repetitive ones only once."""

from __future__ import annotations

import numpy as np
import pytest

from lshdb import Document, Index
from lshdb.linking import comparison
from lshdb.linking.comparison import ShingledTexts, encoded_texts, text_groups
from lshdb.sketch.sketch import shingle_sets_utf8
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


@pytest.mark.parametrize("kept", [0, 10**6])
def test_texts_that_repeat_themselves_are_read_once(url: str, monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    # One text repeats a page, one a word, one nothing, and two are short. Their keys are 1 to 5.
    long_texts = ["".join(f"w{n % size} " for n in range(20_000)) for size in (500, 1, 10**6)]
    unpacked = list[bytes]()

    def counting(frame: bytes) -> bytes:
        unpacked.append(unpack_utf8(frame))
        return unpacked[-1]

    monkeypatch.setattr(comparison, "LONG_SHINGLES", 10_000)
    monkeypatch.setattr(comparison, "KEPT_SHINGLES", kept)
    monkeypatch.setattr(comparison, "unpack_utf8", counting)
    with Index.create(url) as index:
        index.add(Document(str(number), text) for number, text in enumerate([*long_texts, "a b c d e f", "short"]))
        index.remove("4")
    with Store.open(url) as store, store.reading() as snapshot:
        texts = ShingledTexts(snapshot, store.params)
        num_read = []
        for asked in ([1, 3], [1, 2, 3, 4, 5], [1, 2], [2, 3], [4, 5]):
            unpacked.clear()
            keys, sets = texts.sets(np.array(asked))
            num_read.append(len(unpacked))
            assert keys.tolist() == [key for key in asked if key != 5]
            expected = shingle_sets_utf8(encoded_texts(snapshot, keys)[1], store.params)
            assert [set(some.tolist()) for some in np.split(sets.hashes, sets.offsets[1:-1])] == [
                set(some.tolist()) for some in np.split(expected.hashes, expected.offsets[1:-1])
            ]
        assert num_read == ([2, 3, 0, 1, 1] if kept else [2, 4, 2, 2, 1])
