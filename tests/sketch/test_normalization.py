"""Normal forms and the identity of a content."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import pytest
import xxhash

from lshdb.model.params import Shingling, TableVersion
from lshdb.sketch.normalization import digests, normalise

WORDS = Shingling("word", 5)
SETS = Shingling("set", 1)


def normal_form(text: str, shingling: Shingling = WORDS) -> str:
    return "".join(map(chr, normalise([text], shingling).codepoints.tolist()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", "hello world"),
        ("  one\n\ttwo -- three  ", "one two three"),
        ("snake_case x86", "snake_case x86"),
        ("don't", "don t"),
        ("\ufb01ne \uff26\uff35\uff2c\uff2c", "fine full"),
        ("\u00bd \u2460 \u2122 x\u00b2", "1 2 1 tm x2"),
        ("a\u00a0b\u2026c", "a b c"),
        ("Stra\u00dfe STRASSE", "stra\u00dfe strasse"),
        ("\u0130stanbul", "istanbul"),
        ("\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03bf\u03c2", "\u03bf\u03b4\u03bf\u03c3 \u03bf\u03b4\u03bf\u03c3"),
        ("\ud55c\uad6d\uc5b4", "\ud55c\uad6d\uc5b4"),
        ("", ""),
        (" .,;\n", ""),
        ("\U0001f680\U0001f469\u200d\U0001f4bb", ""),
    ],
)
def test_the_normal_form_is_lower_case_words_with_one_space_between(text: str, expected: str) -> None:
    assert normal_form(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cafe\u0301", "caf\u00e9"),
        ("a\u0323\u0302", "a\u0302\u0323"),
        ("J\u030c", "\u01f0"),
        ("so\u00adft", "soft"),
        ("\u2764\ufe0f love", "\u2764 love"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("\uff76\uff9e", "\u30ac"),
        ("\u212bngstrom", "\u00e5ngstrom"),
        ("\ufeffbom", "bom"),
        # Marks before and after a joiner compose and are ordered as if it were not there.
        ("e\u200d\u0301", "\u00e9"),
        ("e\u00ad\u0301tude", "\u00e9tude"),
        ("a\u0302\u200d\u0323", "\u1ead"),
        ("a\u200c\u0323\u200d\u0302", "\u1ead"),
        ("\u1112\u200d\u1161\u11ab", "\ud55c"),
        ("e\u0301\u200d\u0301", "\u00e9\u0301"),
    ],
)
def test_two_spellings_of_one_text_have_one_normal_form(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0643\u062a\u0627\u0628", "\u0643\u0627\u062a\u0628"),
        ("\u0915\u093f", "\u0915\u0940"),
        ("\u0e01\u0e34\u0e19", "\u0e01\u0e31\u0e19"),
        ("\u0643\u064e\u062a\u064e\u0628", "\u0643\u064f\u062a\u0650\u0628"),
        ("\u4eba", "\u5165"),
    ],
)
def test_texts_that_differ_in_letters_or_marks_have_different_normal_forms(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


def test_a_text_has_the_same_normal_form_alone_and_in_a_batch() -> None:
    batch = ["Ascii only", "", "e\u0301tude", "\u0301 mark first", "\u0e17\u0e33 12", "\U0001f680", "last"]
    forms = normalise(batch, WORDS)
    joined = "".join(map(chr, forms.codepoints.tolist()))
    rows = [joined[start:stop] for start, stop in pairwise(forms.offsets.tolist())]
    assert rows == [normal_form(text) for text in batch]


def test_no_texts_have_no_normal_forms() -> None:
    forms = normalise([], WORDS)
    assert (len(forms), len(forms.codepoints)) == (0, 0)
    assert digests(forms, "unicode14-2").shape == (0, 16)


def test_features_are_not_normalised() -> None:
    assert normal_form("B\n A\ufb01!\na", SETS) == "B\n A\ufb01!\na"


def test_a_lone_surrogate_is_a_separator_in_a_text_and_kept_in_a_feature() -> None:
    assert normal_form("a\ud800b") == "a b"
    assert normal_form("a\ud800b", SETS) == "a\ud800b"


def test_a_digest_is_the_first_half_of_a_sha256_of_narrow_code_points_and_zero_for_an_empty_text() -> None:
    rows = digests(normalise(["Hello, World!", "...", "hello world", "caf\u00e9"], WORDS), "unicode14-2")
    assert rows.dtype == np.uint8
    assert rows[0].tobytes() == hashlib.sha256(b"hello world").digest()[:16] == rows[2].tobytes()
    assert rows[1].tobytes() == bytes(16)
    assert rows[3].tobytes() == hashlib.sha256(b"caf\xe9").digest()[:16]


def test_a_digest_of_wide_code_points_is_the_second_half_of_the_sha256_of_their_utf_32_bytes() -> None:
    form = "\u4e2d \u6587 a"
    row = digests(normalise(["\u4e2d \u6587 a"], WORDS), "unicode14-2")[0]
    assert row.tobytes() == hashlib.sha256(form.encode("utf-32-le")).digest()[16:]


@pytest.mark.parametrize("version", ["unicode14-1", "unicode14-2"])
def test_a_text_has_the_same_digest_alone_and_in_a_batch(version: TableVersion) -> None:
    batch = ["", "ascii", "", "\u4e2d", "caf\u00e9", "a\u0100", ""]
    together = digests(normalise(batch, WORDS), version)
    alone = [digests(normalise([text], WORDS), version)[0].tolist() for text in batch]
    assert together.tolist() == alone


def test_an_old_digest_is_the_xxh3_of_the_utf_32_bytes() -> None:
    rows = digests(normalise(["Hello, World!", "...", "\u4e2d"], WORDS), "unicode14-1")
    assert rows[0].tobytes() == xxhash.xxh3_128_digest("hello world".encode("utf-32-le"))
    assert rows[1].tobytes() == bytes(16)
    assert rows[2].tobytes() == xxhash.xxh3_128_digest("\u4e2d".encode("utf-32-le"))


def test_a_million_marks_on_one_letter_are_normalised_in_parts() -> None:
    # In one part this takes hours: the marks are in the worst order, and sorting them is quadratic.
    form = normal_form("a" + "\u0301\u0323" * 500_000)
    assert form.startswith("\u1ea1" + "\u0323" * 60)
    assert len(form) == 1_000_000
