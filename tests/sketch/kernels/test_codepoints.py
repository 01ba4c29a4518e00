"""The shipped code-point table."""

from __future__ import annotations

import runpy
import unicodedata
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from lshdb.model.params import TableVersion
from lshdb.sketch.kernels import codepoints

ROOT = Path(__file__).parents[3]
UNICODE = "14"

needs_same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version.split(".")[0] != UNICODE, reason=f"the running Python does not have Unicode {UNICODE}"
)


def kind(character: str) -> int:
    return int(codepoints.table()[ord(character)]) >> codepoints.KIND_SHIFT & 3


def folded(character: str) -> str:
    return chr(int(codepoints.table()[ord(character)]) & codepoints.CODEPOINT_MASK)


def test_the_table_versions_name_the_unicode_version_of_the_table() -> None:
    assert all(version.startswith(f"unicode{UNICODE}-") for version in get_args(TableVersion))


@needs_same_unicode
@pytest.mark.slow
def test_the_shipped_table_is_what_the_script_makes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "make_codepoints.py"))
    made = script["packed"](script["make_table"]())
    with np.load(ROOT / "lshdb" / "sketch" / "kernels" / "codepoints.npz") as shipped:
        assert sorted(made) == sorted(shipped)
        for name, column in made.items():
            np.testing.assert_array_equal(shipped[name], column, err_msg=name)


@needs_same_unicode
def test_every_letter_number_and_mark_belongs_to_a_token() -> None:
    lost = [
        codepoint
        for codepoint in range(0x110000)
        if unicodedata.category(chr(codepoint))[0] in "LN" and kind(chr(codepoint)) == codepoints.SEPARATOR
    ]
    assert lost == []


@pytest.mark.parametrize(
    "character", ["a", "\u00e9", "7", "_", "\u0627", "\u064b", "\u0915", "\u094d", "\u0e51", "\ud55c"]
)
def test_letters_numbers_marks_and_the_underscore_are_word_characters(character: str) -> None:
    assert kind(character) == codepoints.WORD


@pytest.mark.parametrize(
    "character", ["\u4e2d", "\u3042", "\u30ab", "\u0e01", "\u0e48", "\u0e81", "\u1780", "\u1000", "\u3007"]
)
def test_scripts_written_without_spaces_are_solo(character: str) -> None:
    assert kind(character) == codepoints.SOLO


@pytest.mark.parametrize(
    "character", [" ", "\n", ".", "-", "\u200b", "\u2026", "\u3002", "\U0001f680", "\ud800", "\ue000"]
)
def test_everything_else_is_a_separator(character: str) -> None:
    assert kind(character) == codepoints.SEPARATOR


@pytest.mark.parametrize("character", ["\u00ad", "\u200d", "\u200c", "\ufeff", "\ufe0f", "\u034f"])
def test_soft_hyphens_joiners_and_selectors_are_dropped(character: str) -> None:
    assert kind(character) == codepoints.DROPPED


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("A", "a"),
        ("\u0130", "i"),
        ("\u03a3", "\u03c3"),
        ("\u03c2", "\u03c3"),
        ("\u1e9e", "\u00df"),
        ("\uff21", "a"),
        ("\u00df", "\u00df"),
    ],
)
def test_folding_is_one_to_one(character: str, expected: str) -> None:
    assert folded(character) == expected


def test_folding_twice_is_folding_once() -> None:
    fold = codepoints.table() & np.uint32(codepoints.CODEPOINT_MASK)
    np.testing.assert_array_equal(fold[fold], fold)
