"""Fingerprints packed into blocks."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.store.tables.entries import BLOCK_ENTRIES, Entries, packed, unpacked

Pair = tuple[int, int]

hashes = st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1))
keys = st.one_of(st.integers(0, 9), st.integers(0, 2**62), st.integers(2**32 - 3, 2**32 + 3))


def entries(pairs: list[Pair]) -> Entries:
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    return Entries(rows[:, 0].astype(np.uint32), rows[:, 1].copy())


def pairs_of(found: Entries) -> list[Pair]:
    return list(zip(found.hashes.tolist(), found.content_keys.tolist(), strict=True))


def rows(packed_entries: Entries) -> list[tuple[int, int, bytes]]:
    columns = packed(packed_entries)
    names = ("prefix", "first_content_key", "entries")
    return list(zip(*(list(columns[name]) for name in names), strict=True))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(hashes, keys), unique=True, max_size=60))
def test_what_is_packed_is_unpacked(pairs: list[Pair]) -> None:
    made = rows(entries(pairs))
    assert sorted(pairs_of(unpacked(*zip(*made, strict=True) if made else ((), (), ())))) == sorted(pairs)
    assert made == sorted(made)
    assert len({row[:2] for row in made}) == len(made)


def test_an_entry_takes_six_bytes() -> None:
    (row,) = rows(entries([(0x0001_0002, 7), (0x0001_FFFF, 9), (0x0001_0002, 9)]))
    assert row == (1, 7, b"\x02\x00\0\0\0\0" + b"\x02\x00\x02\0\0\0" + b"\xff\xff\x02\0\0\0")


def test_many_entries_of_one_prefix_are_several_blocks() -> None:
    made = rows(entries([(5, key) for key in range(2 * BLOCK_ENTRIES + 1)]))
    assert [(prefix, first, len(block) // 6) for prefix, first, block in made] == [
        (0, 0, BLOCK_ENTRIES),
        (0, BLOCK_ENTRIES, BLOCK_ENTRIES),
        (0, 2 * BLOCK_ENTRIES, 1),
    ]


def test_a_content_with_more_fingerprints_than_a_block_has_one_block() -> None:
    made = rows(entries([(low, 7) for low in range(3 * BLOCK_ENTRIES)]))
    assert [(prefix, first, len(block) // 6) for prefix, first, block in made] == [(0, 7, 3 * BLOCK_ENTRIES)]


def test_a_broken_block_yields_the_entries_that_are_whole() -> None:
    assert pairs_of(unpacked([1], [7], [b"\x02\x00\0\0\0\0" + b"\x02\x00"])) == [(0x0001_0002, 7)]
