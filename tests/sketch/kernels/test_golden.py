"""This version computes what released versions stored."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from lshdb.model.params import TableVersion
from tests.sketch.kernels.golden import PARAMS, golden, vectors

VERSIONS = get_args(TableVersion)


@pytest.mark.parametrize("version", VERSIONS)
def test_digests_shingles_minima_and_band_keys_are_those_of_the_golden_vectors(version: TableVersion) -> None:
    made, expected = vectors(version), json.loads(golden(version).read_text())
    for name in PARAMS:
        assert made[name] == expected[name], name


@pytest.mark.parametrize("version", VERSIONS)
def test_documents_without_content_have_no_digest_and_no_shingles(version: TableVersion) -> None:
    expected = json.loads(golden(version).read_text())["word:5 fss1"]
    for name in ("empty", "nothing but separators"):
        assert expected[name]["digest"] == "00" * 16
        assert expected[name]["num_shingles"] == 0
        assert expected[name]["minima"] == " ".join(["ffffffff"] * 8)
