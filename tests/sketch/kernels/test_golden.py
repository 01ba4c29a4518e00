"""This version computes what released versions stored."""

from __future__ import annotations

import json

import pytest

from tests.sketch.kernels.golden import GOLDEN, PARAMS, vectors

EXPECTED = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("name", PARAMS)
def test_digests_shingles_minima_and_band_keys_are_those_of_the_golden_vectors(name: str) -> None:
    assert vectors()[name] == EXPECTED[name]


def test_documents_without_content_have_no_digest_and_no_shingles() -> None:
    for name in ("empty", "nothing but separators"):
        assert EXPECTED["word:5 fss1"][name]["digest"] == "00" * 16
        assert EXPECTED["word:5 fss1"][name]["num_shingles"] == 0
        assert EXPECTED["word:5 fss1"][name]["minima"] == " ".join(["ffffffff"] * 8)
