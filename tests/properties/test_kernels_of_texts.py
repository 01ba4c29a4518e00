"""The compiled kernels from texts to shingles equal their references, and the normal form its definition."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lshdb.model.params import Shingling, TableVersion
from lshdb.model.values import NormalForms
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints, reference
from lshdb.sketch.normalization import normalise, normalise_utf8, words_utf8
from lshdb.sketch.shingling import shingle
from lshdb.sketch.texts import encode
from tests.properties.strategies import MARKS, batches, mostly_ascii, texts

WORDS = Shingling("word", 1)
TABLE = codepoints.table()


def encoded(batch: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    parts = [text.encode("utf-8", "surrogatepass") for text in batch]
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum([0, *map(len, parts)], dtype=np.int64)


def strings(forms: NormalForms) -> list[str]:
    rows = pairwise(forms.offsets.tolist())
    return ["".join(map(chr, forms.codepoints[start:stop].tolist())) for start, stop in rows]


def normal_form(text: str) -> str:
    """Apply the definition: NFKC, drop and lower-case until nothing changes, then separate."""
    while True:
        entries = [int(TABLE[ord(character)]) for character in unicodedata.normalize("NFKC", text)]
        kept = [entry for entry in entries if entry >> codepoints.KIND_SHIFT & 3 != codepoints.DROPPED]
        folded = "".join(chr(entry & codepoints.CODEPOINT_MASK) for entry in kept)
        if folded == text:
            return " ".join(part for part in text.split(" ") if part)
        text = folded


@settings(max_examples=500, deadline=None)
@given(batches)
def test_normal_forms_are_what_the_definition_says(batch: list[str]) -> None:
    assert strings(normalise(batch, WORDS)) == [normal_form(text) for text in batch]


@settings(max_examples=300, deadline=None)
@given(batches)
def test_normalising_a_normal_form_changes_nothing(batch: list[str]) -> None:
    once = strings(normalise(batch, WORDS))
    assert strings(normalise(once, WORDS)) == once


@settings(max_examples=300, deadline=None)
@given(
    st.lists(mostly_ascii | texts, max_size=5),
    st.integers(1, 6),
    st.booleans(),
    st.sampled_from(get_args(TableVersion)),
)
@example([" " * 200, ", a. " * 50, "\u4e2d" * 200, " \u4e2d\u4e2d a, \u4e2d" * 30], 1, False, "unicode14-2")
def test_forms_with_the_same_words_have_the_same_shingles(
    batch: list[str], size: int, multiset: bool, version: TableVersion
) -> None:
    shingling, utf8 = Shingling("word", size, multiset, version), [encode(text) for text in batch]
    found, expected = shingle(words_utf8(utf8), shingling), shingle(normalise_utf8(utf8, shingling), shingling)
    np.testing.assert_array_equal(found.hashes, expected.hashes)
    np.testing.assert_array_equal(found.offsets, expected.offsets)


@settings(max_examples=300, deadline=None)
@given(st.lists(mostly_ascii | texts, max_size=5))
@example(["a" * 30 + "\u0651" + "a" * 32 + "\u05b8"])  # a block between two marks that are not in canonical order
def test_compiled_contextual_spans_equal_the_reference(batch: list[str]) -> None:
    utf8, offsets = encoded(batch)
    expected = reference.contextual_spans(utf8, offsets, TABLE)
    np.testing.assert_array_equal(kernels.contextual_spans(utf8, offsets, TABLE), expected)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(f"{MARKS}a", min_size=100, max_size=400), max_size=2))
def test_compiled_contextual_spans_of_long_clusters_equal_the_reference(batch: list[str]) -> None:
    utf8, offsets = encoded(batch)
    expected = reference.contextual_spans(utf8, offsets, TABLE)
    np.testing.assert_array_equal(kernels.contextual_spans(utf8, offsets, TABLE), expected)


@pytest.mark.parametrize("spaced", [True, False])
def test_compiled_fold_makes_of_each_ascii_character_what_the_table_says(spaced: bool) -> None:
    utf8, offsets = encoded(["".join(map(chr, range(128)))])
    none, no_spans = encoded([]), np.empty((0, 2), np.int64)
    compiled = kernels.fold(utf8, offsets, TABLE, no_spans, *none, spaced)
    np.testing.assert_array_equal(compiled[0], reference.fold(utf8, offsets, TABLE, no_spans, *none, spaced)[0])


@settings(max_examples=300, deadline=None)
@given(st.lists(mostly_ascii | texts, max_size=5), st.booleans(), st.data())
def test_compiled_fold_equals_the_reference(batch: list[str], spaced: bool, data: st.DataObject) -> None:
    utf8, offsets = encoded(batch)
    spans = reference.contextual_spans(utf8, offsets, TABLE)
    settled, settled_offsets = encoded([data.draw(texts) for _ in spans])
    compiled = kernels.fold(utf8, offsets, TABLE, spans, settled, settled_offsets, spaced)
    expected = reference.fold(utf8, offsets, TABLE, spans, settled, settled_offsets, spaced)
    np.testing.assert_array_equal(compiled[0], expected[0])
    np.testing.assert_array_equal(compiled[1], expected[1])


@settings(max_examples=300, deadline=None)
@given(batches, st.integers(1, 64), st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=2))
@example(["\0", "a\n\0\0\nb"], 1, [0, 0])
@example(["a b"], 1, [2**64 - ord("a"), 0])
def test_compiled_shingles_equal_the_reference(batch: list[str], size: int, numbers: list[int]) -> None:
    forms = normalise(batch, WORDS)
    lines = normalise(batch, Shingling("set", 1))
    secret = np.array(numbers, np.uint64) | np.array([0, 1], np.uint64)
    for name, arguments in (
        ("shingle_words", (forms.codepoints, forms.offsets, size, TABLE)),
        ("shingle_chars", (forms.codepoints, forms.offsets, size)),
        ("shingle_lines", (lines.codepoints, lines.offsets)),
        ("keyed_words", (forms.codepoints, forms.offsets, size, TABLE, secret)),
        ("keyed_chars", (forms.codepoints, forms.offsets, size, secret)),
        ("keyed_lines", (lines.codepoints, lines.offsets, secret)),
    ):
        compiled, expected = getattr(kernels, name)(*arguments), getattr(reference, name)(*arguments)
        np.testing.assert_array_equal(compiled[0], expected[0], err_msg=name)
        np.testing.assert_array_equal(compiled[1], expected[1], err_msg=name)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("ab 中ก", min_size=90, max_size=200), max_size=3))
def test_compiled_shingles_of_texts_taken_in_two_halves_equal_the_reference(batch: list[str]) -> None:
    forms = normalise(batch, WORDS)
    arguments = (forms.codepoints, forms.offsets, 1, TABLE, np.array([3, 2**63 + 1], np.uint64))
    compiled, expected = kernels.keyed_words(*arguments), reference.keyed_words(*arguments)
    np.testing.assert_array_equal(compiled[0], expected[0])
    np.testing.assert_array_equal(compiled[1], expected[1])


@settings(max_examples=300, deadline=None)
@given(batches, st.data())
def test_compiled_words_equal_the_reference(batch: list[str], data: st.DataObject) -> None:
    utf8, offsets = encoded(batch)
    spans = reference.contextual_spans(utf8, offsets, TABLE)
    folding = (utf8, offsets, TABLE, spans, *encoded([data.draw(texts) for _ in spans]))
    forms = reference.fold(*folding, False)
    for name, arguments in (("split_words", (*forms, TABLE)), ("place_words", folding)):
        compiled, expected = getattr(kernels, name)(*arguments), getattr(reference, name)(*arguments)
        np.testing.assert_array_equal(compiled[0], expected[0], err_msg=name)
        np.testing.assert_array_equal(compiled[1], expected[1], err_msg=name)
