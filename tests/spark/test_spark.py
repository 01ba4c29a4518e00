"""On Spark, a work folder gives the index that an ingest gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lshdb import BelowFloor, EngineFailed, Index
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.readers import ReadOptions
from lshdb.stages import pipeline
from lshdb.stages.work import work_folder
from tests.stages.crawl import SMALL, ingested, loaded, rows_of, write_crawl


def test_any_number_of_partitions_gives_the_index_of_an_ingest(
    spark: Any, tmp_path: Path, new_url: Callable[[], str]
) -> None:
    from lshdb.spark.engine import SparkEngine

    write_crawl(tmp_path / "crawl")
    work = work_folder(tmp_path / "work", [tmp_path / "crawl"], Params(), ReadOptions())
    # Each database gets the result of another number, because a run takes seconds.
    spark.conf.set("spark.sql.shuffle.partitions", 1 if new_url().startswith("postgres") else 7)
    pipeline.run(SparkEngine(spark), work, expansion=SMALL, task_bytes=8_000)
    assert work.manifest.counts["parts"] > 4
    with ingested(new_url(), [tmp_path / "crawl"]) as index:
        expected = rows_of(index)
    with loaded(new_url(), work) as index:
        assert rows_of(index) == expected
        assert not list(index.check())
        assert index.ingest([tmp_path / "crawl"]).counts.num_bytes == 0


def test_what_fails_in_a_task_is_named_in_one_line(spark: Any, tmp_path: Path) -> None:
    from lshdb.spark import run

    (tmp_path / "a.txt").write_text("one two three")
    work = work_folder(tmp_path / "work", [tmp_path / "a.txt"], Params(), ReadOptions())
    os.utime(tmp_path / "a.txt", (1, 1))
    with pytest.raises(EngineFailed, match=r"a\.txt: it has changed since the work began") as raised:
        run(spark, work)
    assert "\n" not in str(raised.value)


def test_a_data_frame_has_the_pairs_and_clusters_of_an_index(spark: Any, tmp_path: Path) -> None:
    from lshdb.spark import clusters, deduplicated, pairs

    words = [f"word{number}" for number in range(60)]
    # Copies: the even and the next odd number, x and z, and two empty documents.
    texts = {f"d{number}": " ".join([*words, f"end{number // 2}"]) for number in range(6)}
    texts |= {"x": "a b c", "y": "", "y2": "", "z": "A b, c"}
    rows = list(reversed(texts.items()))
    frame = spark.createDataFrame(rows, "id string, text string")
    for expand, num_pairs in ((False, 7), (True, 16)):
        with Index.ensure(tmp_path / "index.db") as index:
            index.add(Document(doc_id, text) for doc_id, text in texts.items())
            expected = {(pair.left, pair.right, pair.similarity, pair.exact) for pair in index.pairs(expand=expand)}
        found = list(map(tuple, pairs(frame, tmp_path / "work", expand=expand).collect()))
        assert (len(found), set(found)) == (num_pairs, expected)
    assert pairs(frame, tmp_path / "work", min_sim=1.0).count() == 4
    with pytest.raises(BelowFloor):
        pairs(frame, tmp_path / "work", min_sim=0.1)
    clustered = {row.id: row.cluster for row in clusters(frame, tmp_path / "work").collect()}
    assert clustered == {f"d{number}": "d0" for number in range(6)} | {"x": "x", "z": "x"}
    assert sorted(row.id for row in deduplicated(frame, tmp_path / "work").collect()) == ["d0", "x", "y", "y2"]


def test_an_id_that_occurs_twice_is_refused(spark: Any, tmp_path: Path) -> None:
    from lshdb.spark import pairs

    frame = spark.createDataFrame([("a", "one two"), ("b", "three"), ("a", "four")], "id string, text string")
    with pytest.raises(EngineFailed, match="its id occurs twice"):
        pairs(frame, tmp_path / "work")
