"""``lshdb verify`` on both databases: its selections and its report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from lshdb.store.schema import pair
from lshdb.store.store import Store
from tests.cli.conftest import Run

WORDS = " ".join(f"word{number}" for number in range(60))


def write(path: Path, *names: int) -> Path:
    """Write records that are all similar: every two are a pair."""
    path.write_text("".join(json.dumps({"id": str(name), "text": f"{WORDS} {name}"}) + "\n" for name in names))
    return path


@pytest.fixture
def filled(lshdb: Run, url: str, tmp_path: Path) -> str:
    """An index of three runs: 3 pairs, then 7 more, then 5 more."""
    for run, names in enumerate([(1, 2, 3), (4, 5), (6,)]):
        assert lshdb(url, "ingest", write(tmp_path / f"{run}.jsonl", *names)).code == 0
    return url


def verified(lshdb: Run, url: str, *arguments: object) -> dict[str, Any]:
    ended = lshdb(url, "verify", "--json", *arguments)
    assert ended.code == 0
    report: dict[str, Any] = json.loads(ended.out)
    return report


def stored(url: str) -> list[float]:
    with Store.open(url) as store, store.reading() as transaction:
        return sorted(transaction.execute(select(pair.c.similarity)).scalars())


def tamper(url: str, similarity: float, **where: int) -> None:
    with Store.open(url) as store, store.writing() as transaction:
        wanted = [pair.c[name] == value for name, value in where.items()]
        transaction.execute(update(pair).where(*wanted).values(similarity=similarity))


def test_all_pairs_are_verified_by_default(lshdb: Run, filled: str) -> None:
    for arguments in ((), ("--all",)):
        report = verified(lshdb, filled, *arguments)
        assert (report["pairs"], report["confirmed"], report["largest_difference"]) == (15, 15, 0.0)
        assert report["gone"] == []


def test_a_sample_has_that_many_pairs_and_corrects_those(lshdb: Run, filled: str) -> None:
    tamper(filled, 0.9)
    report = verified(lshdb, filled, "--sample", "4", "--seed", "3")
    assert (report["pairs"], report["changed"]) == (4, 4)
    assert stored(filled).count(0.9) == 11
    assert verified(lshdb, filled, "--sample", "4", "--seed", "3")["confirmed"] == 4
    assert verified(lshdb, filled, "--sample", "100")["pairs"] == 15


def test_pairs_since_a_run_are_its_own_later_ones_and_those_of_no_run(lshdb: Run, filled: str) -> None:
    assert [verified(lshdb, filled, "--since", str(run))["pairs"] for run in (1, 2, 3, 4)] == [15, 12, 5, 0]
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(pair).where(pair.c.left_key == 1, pair.c.right_key == 2).values(run_key=None))
    assert verified(lshdb, filled, "--since", "3")["pairs"] == 6
    assert verified(lshdb, filled, "--since", "3", "--sample", "2")["pairs"] == 2


def test_all_and_some_is_a_usage_error(lshdb: Run, filled: str) -> None:
    for arguments in (["--sample", "3"], ["--since", "1"]):
        ended = lshdb(filled, "verify", "--all", *arguments)
        assert (ended.code, ended.out) == (2, "")


def test_the_largest_difference_is_reported(lshdb: Run, filled: str) -> None:
    right = stored(filled)[0]
    tamper(filled, right - 0.125, left_key=1, right_key=2)
    tamper(filled, right - 0.25, left_key=3, right_key=6)
    report = verified(lshdb, filled)
    assert (report["changed"], report["largest_difference"]) == (2, 0.25)
    assert stored(filled) == [right] * 15


def test_pairs_whose_text_is_gone_are_counted_and_the_first_ones_named(lshdb: Run, url: str, tmp_path: Path) -> None:
    lshdb(url, "ingest", "--no-keep-text", write(tmp_path / "a.jsonl", 1, 2, 3, 4), write(tmp_path / "b.jsonl", 5))
    (tmp_path / "a.jsonl").unlink()
    report = verified(lshdb, url)
    assert (report["pairs"], report["unknown"]) == (10, 10)
    assert report["gone"] == [["1", "2"], ["1", "3"], ["1", "4"], ["1", "5"], ["2", "3"]]
    lines = lshdb(url, "verify").out.splitlines()
    assert lines[2:4] == ["text gone: 1 and 2", "text gone: 1 and 3"]
    assert lines[-1] == "text gone: 5 pairs more"


def test_a_sample_reads_the_sources_of_its_own_pairs_only(lshdb: Run, url: str, tmp_path: Path) -> None:
    for name in range(1, 5):
        write(tmp_path / f"{name}.jsonl", name)
    lshdb(url, "ingest", "--no-keep-text", tmp_path)
    assert verified(lshdb, url, "--sample", "1")["unknown"] == 0
