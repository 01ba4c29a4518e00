"""Whatever the tasks and batches, a work folder gives the index that an ingest gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lshdb import FolderUnusable, Index, IndexNotEmpty, SourceUnreadable, UsageError, VersionsDiffer
from lshdb.model.params import Params
from lshdb.readers import ReadOptions
from lshdb.stages.folder import WorkFolder
from lshdb.stages.forests import forest, merged
from lshdb.stages.pipeline import run
from lshdb.stages.work import work_folder
from tests.stages.crawl import SMALL, Tables, ingested, loaded, rows_of, write_crawl
from tests.stages.engine import LocalEngine


def worked(place: Path, paths: Sequence[Path], params: Params | None = None, **others: Any) -> WorkFolder:
    work = work_folder(place, paths, params or Params(), ReadOptions(), **others)
    run(LocalEngine(3, batch_rows=17), work, expansion=SMALL)
    return work


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stages") / "crawl"
    write_crawl(folder)
    return folder


@pytest.fixture(scope="module")
def expected(pages: Path) -> Tables:
    """The rows of an ingest, with oversized buckets, and contents that lost their last document."""
    with ingested(str(pages.parent / "ingested.db"), [pages]) as index:
        rows = rows_of(index)
    assert [len(rows[name]) for name in ("oversized_bucket", "pair", "rejected")] == [125, 463, 5]
    return rows


@pytest.mark.parametrize(
    ("num_tasks", "batch_rows", "task_bytes", "num_parts"),
    [(1, 100_000, 100_000, 0), (3, 17, 2_000, 35), (7, 2, 300, 153)],
)
def test_any_cut_into_tasks_and_batches_gives_the_index_of_an_ingest(
    pages: Path, expected: Tables, tmp_path: Path, num_tasks: int, batch_rows: int, task_bytes: int, num_parts: int
) -> None:
    work = work_folder(tmp_path / "work", [pages], Params(), ReadOptions())
    run(LocalEngine(num_tasks, batch_rows), work, expansion=SMALL, task_bytes=task_bytes)
    assert work.manifest.counts["parts"] == num_parts
    with loaded(str(tmp_path / "loaded.db"), work) as index:
        assert rows_of(index) == expected
        assert not list(index.check())
        again = index.ingest(pages).counts
    assert (again.num_unchanged, again.num_added, again.num_bytes) == (174, 0, 0)
    num_distinct = sum(batch.column("digest").is_valid().sum().as_py() for batch in work.batches("contents"))
    assert num_distinct > len(expected["content"])


def test_the_last_night_continues_a_loaded_index_as_it_continues_an_ingested_one(
    pages: Path, tmp_path: Path, new_url: Callable[[], str]
) -> None:
    night = tmp_path / "night"
    write_crawl(night, num_files=1)
    found = []
    for index in (ingested(new_url(), [pages]), loaded(new_url(), worked(tmp_path / "work", [pages]))):
        with index:
            index.ingest([night])
            assert not list(index.check())
            found.append(rows_of(index))
    assert set(found[0]["pair"]) ^ set(found[1]["pair"]) == set()
    assert found[0] == found[1]


def test_a_folder_that_continues_another_reads_only_new_files(pages: Path, expected: Tables, tmp_path: Path) -> None:
    first = worked(tmp_path / "first", sorted(pages.iterdir())[:2])
    both = worked(tmp_path / "both", [pages], against=first.path)
    assert [source.uri[-7:] for source in both.manifest.sources] == [
        "0.jsonl",
        "1.jsonl",
        "2.jsonl",
        "3.jsonl",
        "warc.gz",
        "ge.html",
        "parquet",
    ]
    read = {name for batch in both.latest("sketches", ["source"], 1_000) for name in batch.column("source").to_pylist()}
    assert {name[-7:] for name in read} == {"", "2.jsonl", "3.jsonl", "warc.gz", "ge.html", "parquet"}
    with loaded(str(tmp_path / "loaded.db"), both) as index:
        assert rows_of(index) == expected


def test_a_file_that_has_changed_cannot_be_continued(tmp_path: Path) -> None:
    write_crawl(tmp_path / "crawl", num_files=2)
    first = worked(tmp_path / "first", [tmp_path / "crawl"])
    (tmp_path / "crawl" / "1.jsonl").write_text("{}\n")
    with pytest.raises(FolderUnusable, match=r"1\.jsonl has changed since"):
        worked(tmp_path / "both", [tmp_path / "crawl"], against=first.path)


def test_without_texts_the_similarities_are_the_estimates_of_an_ingest(pages: Path, tmp_path: Path) -> None:
    params = Params(keep_text=False, seed=7)
    with ingested(str(tmp_path / "ingested.db"), [pages], {"keep_text": False, "seed": 7}) as index:
        expected = rows_of(index)
    with loaded(str(tmp_path / "loaded.db"), worked(tmp_path / "work", [pages], params)) as index:
        assert rows_of(index) == expected
        assert index.params == params


def test_fingerprints_of_passages_are_loaded(pages: Path, tmp_path: Path) -> None:
    with ingested(str(tmp_path / "ingested.db"), [pages], {"passages": 13}) as index:
        expected = rows_of(index)
    with loaded(str(tmp_path / "loaded.db"), worked(tmp_path / "work", [pages], Params(passages=13))) as index:
        assert rows_of(index) == expected


def test_without_the_pairs_a_folder_is_loaded_and_linked_by_the_index(
    pages: Path, expected: Tables, tmp_path: Path
) -> None:
    work = work_folder(tmp_path / "work", [pages], Params(), ReadOptions())
    run(LocalEngine(), work, "sketches")
    with Index.ensure(str(tmp_path / "loaded.db")) as index:
        index._store.expansion = SMALL
        with pytest.raises(FolderUnusable, match="its stage contents is not complete"):
            index.load(work.path)
        assert index.load(work.path, pairs=False).pairs_added == 0
        index.link()
        found = rows_of(index)
    assert [row[:4] for row in found["pair"]] == [row[:4] for row in expected["pair"]]
    assert found["oversized_bucket"] == expected["oversized_bucket"]


def test_an_index_with_documents_is_not_loaded_into(pages: Path, tmp_path: Path) -> None:
    work = worked(tmp_path / "work", [pages])
    with loaded(str(tmp_path / "loaded.db"), work) as index, pytest.raises(IndexNotEmpty, match="documents already"):
        index.load(work.path)


@pytest.mark.parametrize("killed", ["parts", "sketches", "groups"])
def test_a_killed_run_goes_on_after_its_last_complete_stage(
    pages: Path, expected: Tables, tmp_path: Path, killed: str
) -> None:
    def stop(folder: Path) -> None:
        if folder.name.endswith(killed):
            raise InterruptedError

    work = work_folder(tmp_path / "work", [pages], Params(), ReadOptions())
    with pytest.raises(InterruptedError):
        run(LocalEngine(wrote=stop), work, expansion=SMALL, task_bytes=2_000)
    assert not work.is_done(killed)
    made: list[str] = []
    run(
        LocalEngine(),
        work_folder(tmp_path / "work", [pages], Params(), ReadOptions()),
        expansion=SMALL,
        task_bytes=2_000,
        began=made.append,
    )
    assert made[0] == killed
    with loaded(str(tmp_path / "loaded.db"), work) as index:
        assert rows_of(index) == expected


def test_a_file_that_changes_while_the_work_goes_on_stops_it(tmp_path: Path) -> None:
    write_crawl(tmp_path / "crawl", num_files=1)
    work = work_folder(tmp_path / "work", [tmp_path / "crawl"], Params(), ReadOptions())
    (tmp_path / "crawl" / "0.jsonl").write_text("{}\n")
    with pytest.raises(SourceUnreadable, match="it has changed since the work began"):
        run(LocalEngine(), work)
    (tmp_path / "crawl" / "0.jsonl").unlink()
    with pytest.raises(SourceUnreadable, match="every machine has to see the files"):
        run(LocalEngine(), work)


def test_a_machine_with_other_versions_computes_nothing(pages: Path, tmp_path: Path) -> None:
    work = work_folder(tmp_path / "work", [pages], Params(), ReadOptions())
    work.manifest = replace(work.manifest, versions={"lshdb": "0.0.1", "unicode": "9.0.0"})
    with pytest.raises(VersionsDiffer, match=r"instead of .*0\.0\.1"):
        run(LocalEngine(), work)


def test_a_folder_created_with_other_parameters_is_refused(pages: Path, tmp_path: Path) -> None:
    work_folder(tmp_path / "work", [pages], Params(), ReadOptions())
    with pytest.raises(FolderUnusable, match="it was created with other params"):
        work_folder(tmp_path / "work", [pages], Params(seed=2), ReadOptions())
    with pytest.raises(FolderUnusable, match=r"it is not empty, and has no manifest\.json"):
        work_folder(pages, [pages], Params(), ReadOptions())


@pytest.mark.parametrize("address", ["s3a://bucket/crawl", Path("hdfs://head/crawl"), "file:///crawl"])
def test_an_address_is_not_a_path(pages: Path, tmp_path: Path, address: str | Path) -> None:
    for work, crawl in ((tmp_path / "work", address), (address, pages)):
        with pytest.raises(UsageError, match=r":/+\w+/?\w* is not a path: mount its file system on every machine"):
            work_folder(work, [crawl], Params(), ReadOptions())


def test_clusters_are_the_components_of_the_pairs(pages: Path, tmp_path: Path) -> None:
    work = worked(tmp_path / "work", [pages])
    graph = networkx.Graph(
        (left, right)
        for batch in work.batches("pairs")
        for left, right, similarity, _ in zip(*(column.to_pylist() for column in batch.columns), strict=True)
        if similarity >= 0.8
    )
    found = {row["content"]: row["cluster"] for batch in work.batches("clusters") for row in batch.to_pylist()}
    assert found == {content: min(group) for group in networkx.connected_components(graph) for content in group}


pairs_of_keys = st.lists(st.tuples(st.integers(0, 30), st.integers(31, 60)), max_size=40)


@given(pairs_of_keys, st.integers(1, 4), st.integers(1, 10))
def test_forests_of_parts_connect_what_all_pairs_connect(
    pairs: list[tuple[int, int]], num_parts: int, most: int
) -> None:
    parts = [pairs[begin::num_parts] for begin in range(num_parts)]
    batches = [
        tree
        for part in parts
        for tree in forest((pa.RecordBatch.from_pylist([{"left": a, "right": b}]) for a, b in part), most)
    ]
    assert sum(map(len, batches)) <= sum(len({key for pair in part for key in pair}) for part in parts)
    keys, first = merged(batches)
    groups = networkx.connected_components(networkx.Graph(pairs))
    assert dict(zip(keys.tolist(), first.tolist(), strict=True)) == {
        key: min(group) for group in groups for key in group
    }
