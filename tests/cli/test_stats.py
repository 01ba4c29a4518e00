"""``lshdb stats`` on both databases: oversized buckets, and runs that did not end."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from lshdb.model.expansion import Expansion
from lshdb.store.dialect import INGEST
from lshdb.store.store import Store
from lshdb.store.tables import runs, sources
from lshdb.store.tables.sources import SourceState
from tests.cli.conftest import Run
from tests.expanding import index_with

WORDS = " ".join(f"word{number}" for number in range(60))


@pytest.fixture
def alike(tmp_path: Path) -> Path:
    """Seven records of one template, and two others that are similar to each other."""
    texts = {f"t{number}": f"{WORDS} {number}" for number in range(7)}
    texts |= {f"u{number}": f"{WORDS[::-1]} {number}" for number in range(2)}
    path = tmp_path / "alike.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))
    return path


def report(lshdb: Run, url: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lshdb(url, "stats", "--json").out)
    return found


def hot(lshdb: Run, url: str, *arguments: object) -> list[dict[str, Any]]:
    ended = lshdb(url, "stats", "--hot", "--format", "jsonl", *arguments)
    assert ended.code == 0
    return [json.loads(line) for line in ended.out.splitlines()]


def test_the_largest_buckets_are_listed_with_documents_in_them(lshdb: Run, url: str, alike: Path) -> None:
    lshdb(url, "ingest", alike)
    first = hot(lshdb, url)[0]
    bands = first.pop("bands")
    assert 0 < bands <= 20
    assert first == {
        "contents": 7, "skipped_pairs": 0, "first": "t0", "second": "t1", "third": "t2", "beginning": WORDS[:80],
    }  # fmt: skip
    assert [row["first"] for row in hot(lshdb, url)].count("t0") >= 1
    assert any((row["first"], row["second"], row["third"]) == ("u0", "u1", None) for row in hot(lshdb, url))
    assert len(hot(lshdb, url, "--limit", "1")) == 1


def test_buckets_too_hot_to_expand_are_listed_alone_and_accounted_for(lshdb: Run, url: str, alike: Path) -> None:
    with index_with(Expansion(cap=3, hubs=1), url) as index:
        index.ingest([alike])
    rows = hot(lshdb, url)
    # 7 contents have 21 pairs. Expanded: 3 of the first three, and 4 of the others with the first.
    assert (rows[0]["contents"], rows[0]["skipped_pairs"], rows[0]["first"]) == (7, 14, "t0")
    assert not any(row["first"] == "u0" for row in rows)


def recall_line(lshdb: Run, url: str) -> str:
    (line,) = (line for line in lshdb(url, "stats").out.splitlines() if line.startswith("recall"))
    return line


def test_one_recall_is_shown_the_promised_one_until_it_is_measured(lshdb: Run, url: str, alike: Path) -> None:
    lshdb(url, "ingest", alike)
    assert recall_line(lshdb, url) == "recall      0.9996 promised at 0.8"
    lshdb(url, "tune", "--measure")
    assert recall_line(lshdb, url) == "recall      1.0000 at 0.8: 22 of 22 pairs of 9 of 9 texts, run 2"
    # A measurement of other bands says nothing about these.
    lshdb(url, "reband", "--min-sim", "0.6")
    assert recall_line(lshdb, url) == "recall      0.9991 promised at 0.6"


def test_pairs_that_hot_buckets_left_out_count_as_missed(lshdb: Run, url: str, alike: Path) -> None:
    with index_with(Expansion(cap=3, hubs=1), url) as index:
        index.ingest([alike])
        num_pairs = len(list(index.pairs(complete=True)))
        num_stored = len(list(index.pairs()))
    assert recall_line(lshdb, url) == (
        "recall      0.9996 promised at 0.8, not counting the pairs that hot buckets left out; "
        "tune --measure counts them"
    )
    measured = json.loads(lshdb(url, "tune", "--measure", "--json").out)["measured"]
    assert (measured["num_pairs"], measured["num_found"]) == (num_pairs, num_stored)
    assert measured["num_left_out"] == num_pairs - num_stored > 0
    assert recall_line(lshdb, url).endswith(
        f"pairs of 9 of 9 texts, run 2; oversized buckets left out {num_pairs - num_stored}"
    )


def test_an_empty_index_has_no_hot_buckets(lshdb: Run, url: str) -> None:
    lshdb(url, "init")
    assert hot(lshdb, url) == []


# Runs that did not end.


def begin(url: str, verb: str) -> None:
    """A run that never ended."""
    with Store.open(url) as store, store.writing() as transaction:
        runs.begin(transaction, verb, "default", "test")


def states(lshdb: Run, url: str) -> list[str]:
    return [row["state"] for row in report(lshdb, url)["runs"]]


def test_a_killed_ingest_is_told_from_one_that_runs(lshdb: Run, url: str, alike: Path) -> None:
    lshdb(url, "ingest", alike)
    begin(url, "ingest")
    # A server takes a moment to notice that the sessions of earlier calls have ended.
    deadline = time.monotonic() + 10
    while states(lshdb, url) != ["killed", "finished"] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert states(lshdb, url) == ["killed", "finished"]
    assert "ingest killed; run the same command to continue, " in lshdb(url, "stats").out
    begin(url, "ingest")
    with Store.open(url) as store, store.sole_work(INGEST, wait=False), store.reading():
        seen = states(lshdb, url)
    expected = {"sqlite": ["running", "killed", "finished"], "postgresql": ["running or killed"] * 2 + ["finished"]}
    assert seen == expected["sqlite" if url.endswith(".db") else "postgresql"]


@pytest.mark.sqlite
def test_other_work_is_not_taken_for_an_ingest(lshdb: Run, tmp_path: Path, alike: Path) -> None:
    url = str(tmp_path / "index.db")
    lshdb(url, "ingest", alike)
    begin(url, "ingest")
    with Store.open(url) as store, store.sole_work("a vacuum", wait=False):
        assert states(lshdb, url) == ["killed", "finished"]
        refused = lshdb(url, "ingest", alike)
    assert refused.code == 18
    assert f"Another process is writing to index {url}: a vacuum, process {os.getpid()} on " in refused.err


def test_a_run_that_takes_no_lock_may_run_or_not(lshdb: Run, url: str, alike: Path) -> None:
    lshdb(url, "ingest", alike)
    begin(url, "remove")
    assert states(lshdb, url) == ["running or killed", "finished"]


@pytest.mark.sqlite
def test_asking_whether_an_ingest_runs_does_not_keep_one_off(tmp_path: Path) -> None:
    from threading import Thread

    url = str(tmp_path / "index.db")
    with Store.create(url, *_params()) as store:
        ended: list[bool] = []

        def ask() -> None:
            while not ended:
                with store.reading() as transaction:
                    store.dialect.is_ingesting(transaction.connection)

        asking = Thread(target=ask)
        asking.start()
        try:
            for _ in range(200):
                with store.sole_work(INGEST, wait=False):
                    pass
        finally:
            ended.append(True)
            asking.join()


def _params() -> tuple[Any, str]:
    from lshdb import Params

    return Params(), "test"


def test_sources_that_were_half_read_are_shown_with_their_position(lshdb: Run, url: str, alike: Path) -> None:
    lshdb(url, "ingest", alike)
    assert report(lshdb, url)["unfinished"] == {"sources": 0, "first": []}
    assert "unfinished" not in lshdb(url, "stats").out
    half = [
        SourceState(f"file:///news/{number}.jsonl", 9, 1, None, sources.READING, 12_345 + number, 0, "{}", 1)
        for number in range(7)
    ]
    with Store.open(url) as store, store.writing() as transaction:
        sources.put(transaction, "default", half, 1)
    found = report(lshdb, url)["unfinished"]
    assert (found["sources"], len(found["first"])) == (7, 5)
    assert found["first"][0] == {"uri": "file:///news/0.jsonl", "collection": "default", "position": 12_345}
    assert lshdb(url, "stats").out.splitlines()[-6:-4] == [
        "unfinished  7 sources read in part; the next run over them continues",
        "            after item 12,345 of file:///news/0.jsonl",
    ]
