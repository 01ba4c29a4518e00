"""What is predicted from the seconds of the stages."""

from __future__ import annotations

import pytest

from benchmarks.runs.cores import Stages, predictions
from benchmarks.runs.pipeline import Chunk

STAGES = Stages(
    read=[0.1] * 100,
    passed=[0.1] * 100,
    made=[2.0] * 100,
    busy=1.0,
    written=50.0,
    batch=1,
    num_documents=1_000,
    start=1.0,
    loading=0.5,
    pool=1.5,
    search=4.0,
    link=[Chunk(0.0, 1.0, 0.1)] * 20,
    stored=20,
    client=50.0,
    servers=0.0,
)


def test_one_worker_reads_and_makes_in_one_thread_and_passes_nothing_on() -> None:
    # 100 chunks of 2.1 s, and writing the last one.
    assert STAGES.ingest_seconds(cores=2, workers=1) == pytest.approx(1.0 + 0.5 + 210 + 0.5)


def test_many_workers_wait_for_the_writer() -> None:
    assert STAGES.ingest_seconds(cores=64, workers=64) == pytest.approx(1.0 + 1.5 + 0.2 + 2.0 + 50)


def test_the_search_for_candidates_and_the_storing_of_pairs_bound_a_link() -> None:
    assert STAGES.link_seconds(cores=1, threads=1) == pytest.approx(4 + 20 + 2)
    assert STAGES.link_seconds(cores=64, threads=64) == pytest.approx(4 + 1 + 2)


def test_the_table_has_a_row_for_each_number_of_cores_and_shows_the_limit_of_threads() -> None:
    header, *rows = predictions(STAGES)
    assert header.split() == ["cores", "ingest", "s", "speed-up", "link", "s", "speed-up", "unlimited", "threads", "s"]
    assert [row.split()[0] for row in rows] == ["1", "2", "4", "8", "16", "64"]
    assert rows[-1].split() == ["64", "54.7", "4.8", "11.0", "2.4", "7.0"]


def test_the_stages_are_shown_by_document() -> None:
    assert "write                          50.00       50.000" in list(STAGES.table())
