"""Forged texts, end to end: an index of the old hashes takes them for one another, a new index keeps both.

tests/sketch/forge.py made them: a text with other letters for the same old digest, and two texts without a common word
whose words collide in pairs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lshdb import Index, Params
from tests.cli.conftest import Run, write_jsonl
from tests.sketch.forge import FORGED

# Of 207 in each text, and of 56 in each list of words, in a new index.
SHARED_SHINGLES = {"texts": 46, "words": 0}
WARNING = "hashes      unicode14-1: a hostile text can pass for another one; lshdb upgrade or a new index helps"


@pytest.fixture(params=SHARED_SHINGLES)
def kind(request: pytest.FixtureRequest) -> str:
    """How the second text was forged."""
    return str(request.param)


@pytest.fixture
def corpus(kind: str, tmp_path: Path) -> Path:
    """A file of a forged text and the genuine one that comes too late."""
    genuine, forged = json.loads(FORGED.read_text())[kind]
    return write_jsonl(tmp_path / "corpus.jsonl", {"forged": forged, "genuine": genuine})


@pytest.fixture
def old(lshdb: Run, url: str, corpus: Path) -> str:
    """An index of the old version that holds both."""
    Index.create(url, Params(table_version="unicode14-1")).close()
    assert lshdb(url, "ingest", corpus).code == 0
    return url


@pytest.fixture
def new(lshdb: Run, url: str, corpus: Path) -> str:
    """A new index that holds both."""
    assert lshdb(url, "ingest", corpus).code == 0
    return url


def test_an_old_index_takes_one_for_the_other_and_stats_warns_of_that(lshdb: Run, old: str) -> None:
    assert [sorted(row) for row in lshdb(old, "dupes").rows] == [sorted(["forged", "genuine", "1.0", "true"])]
    assert lshdb(old, "export").out == "forged\n"
    assert WARNING in lshdb(old, "stats").out.splitlines()


def test_a_new_index_lists_no_pair_of_them(lshdb: Run, new: str) -> None:
    ended = lshdb(new, "dupes", "--min-sim", "0.5")
    assert (ended.code, ended.rows) == (0, [])
    assert not any(line.startswith("hashes") for line in lshdb(new, "stats").out.splitlines())


def test_a_new_index_explains_that_they_have_little_in_common(lshdb: Run, new: str, kind: str) -> None:
    found = json.loads(lshdb(new, "explain", "--json", "genuine", "forged").out)
    assert found["comparison"]["shared_shingles"] == SHARED_SHINGLES[kind]
    assert (found["pair"], found["status"]) == (None, "below_floor")


def test_a_new_index_stores_and_exports_both(lshdb: Run, new: str, kind: str) -> None:
    assert sorted(lshdb(new, "export").out.split()) == ["forged", "genuine"]
    records = lshdb(new, "export", "--what", "records").out.splitlines()
    assert sorted(json.loads(record)["text"] for record in records) == sorted(json.loads(FORGED.read_text())[kind])


@pytest.mark.parametrize("asked", ["genuine", "forged"])
def test_a_question_about_one_does_not_find_the_other(lshdb: Run, new: str, asked: str) -> None:
    ended = lshdb(new, "query", "--id", asked, "--format", "jsonl")
    assert (ended.code, ended.out) == (1, "")
