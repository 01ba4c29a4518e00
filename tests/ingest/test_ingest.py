"""The number of workers, and an ingest from paths to the index."""

from __future__ import annotations

import io
import json
import lzma
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from lshdb import Conflicts, Index, IngestOptions, Params, ReadOptions
from lshdb.errors import NothingToRead, PruneRefused, TooManyRejected
from lshdb.ingest import ingest, make
from lshdb.ingest.batches import Batch
from lshdb.ingest.ingest import Ingestion, staffed
from lshdb.ingest.make import Task
from lshdb.ingest.options import Budgets
from lshdb.ingest.write import Writer
from lshdb.model.progress import Progress
from lshdb.model.values import Counts, Rejection
from lshdb.readers import SourceFile
from lshdb.store.dialect import Growth
from lshdb.store.schema import DIGEST_BAND, band_bucket, document
from lshdb.store.schema import run as run_table
from lshdb.store.store import Store
from lshdb.store.tables import generation_list, generations, runs
from tests.readers.crawls import page, response
from tests.readers.crawls import revisit as seen_again
from tests.store.conftest import commits_are_lost, new_store_at


def num_workers(names: list[str], workers: int | None, read: ReadOptions | None = None, size: int = 10**9) -> int:
    files = [SourceFile(f"file:///{name}", Path(f"/{name}"), size, 0, "file:///") for name in names]
    tasks, count = staffed(map(Task, files), IngestOptions(workers=workers, read=read or ReadOptions()))
    assert [task.source for task in tasks] == files
    return count


@pytest.mark.parametrize(("cores", "with_pages", "without"), [(1, 1, 1), (2, 2, 2), (3, 3, 2), (8, 8, 4)])
def test_pages_are_worth_a_worker_for_each_core(
    cores: int, with_pages: int, without: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "num_cores", lambda: cores)
    for names in (["a.html"], ["a.warc.gz"], ["named by nothing"]):
        assert num_workers(names, None) == with_pages
    for names in (["a.jsonl"], ["a.jsonl.zst", "b.CSV"], ["c.parquet", "d.txt"]):
        assert num_workers(names, None) == without
    assert num_workers(["a.jsonl"], None, ReadOptions(input_format="html")) == with_pages


def test_as_many_workers_as_were_asked_for_unless_there_is_little_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert num_workers(["a.jsonl", "b.html"], 5) == 5
    assert num_workers(["a.html"] * 300, 5, size=100) == 1
    assert num_workers([], None) == 1
    least = Budgets().pool_bytes
    assert [num_workers(["a.html"], 5, size=size) for size in (least - 1, least)] == [1, 5]
    monkeypatch.setattr(ingest, "are_started", lambda: True)
    least = Budgets().chunk_bytes
    assert [num_workers(["a.html"], 5, size=size) for size in (least - 1, least)] == [1, 5]


@pytest.mark.sqlite
@pytest.mark.parametrize("workers", [1, 3])
def test_a_compressed_file_is_read_once_whatever_the_workers(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in this process: workers receive records and do not open the file."""
    lines = [json.dumps({"id": f"d{number}", "text": f"{number} some words"}) for number in range(2_000)]
    file = tmp_path / "records.jsonl.xz"
    file.write_bytes(lzma.compress("\n".join(lines).encode()))
    opened: list[Path] = []
    reading = make.Reading
    monkeypatch.setattr(make, "Reading", lambda source, read: opened.append(source.path) or reading(source, read))
    budgets = Budgets(chunk_bytes=2_000, pool_bytes=0)
    with Index.create(str(tmp_path / "index.db"), Params()) as index:
        report = index.ingest([file], IngestOptions(workers=workers, budgets=budgets))
    assert report.counts.num_added == 2_000
    assert opened == [file]


# One run, without the index around it.


class Recorded(Progress):
    """Keeps what a run reports."""

    def __init__(self) -> None:
        self.walks = list[tuple[int, int, bool]]()
        self.reads = list[tuple[int, int]]()
        self.totals = list[Counts]()
        self.rejections = list[Rejection]()

    def walked(self, num_files: int, num_bytes: int, *, ended: bool) -> None:
        self.walks.append((num_files, num_bytes, ended))

    def read(self, num_documents: int, num_bytes: int) -> None:
        self.reads.append((num_documents, num_bytes))

    def ingested(self, counts: Counts) -> None:
        self.totals.append(counts)

    def rejected(self, rejection: Rejection) -> None:
        self.rejections.append(rejection)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with new_store_at(url, Params(shingle="word:1", bands=5, rows=1)) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three files of two documents and a rejection each."""
    (made := tmp_path / "crawl").mkdir()
    for name in "abc":
        write_records(made / f"{name}.jsonl", f"{name}1", "", f"{name}2")
    return made


def write_records(path: Path, *names: str) -> Path:
    """Write JSON lines. An empty name is a line that is rejected."""
    lines = [json.dumps({"id": name, "text": f"words of {name}"}) if name else "{" for name in names]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def run(
    store: Store,
    *paths: Path | str,
    key: int = 2,
    options: IngestOptions | None = None,
    progress: Progress | None = None,
) -> Ingestion:
    ingestion = Ingestion(store, key, options or IngestOptions(), progress or Progress())
    ingestion.ingest(paths)
    return ingestion


def ids(store: Store) -> list[str]:
    with store.reading() as transaction:
        return sorted(transaction.execute(select(document.c.doc_id)).scalars())


def num_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


TINY = Budgets(planned_files=2, chunk_items=1, batch_documents=1, load_seconds=0.0)


@pytest.mark.parametrize("budgets", [TINY, Budgets()])
def test_a_run_tells_what_it_did_and_reports_it_on_the_way(store: Store, folder: Path, budgets: Budgets) -> None:
    (folder / "link").symlink_to(folder.parent)
    (folder / "other").symlink_to(folder)
    (folder.parent / "elsewhere.txt").write_text("text")
    (folder / "text").symlink_to(folder.parent / "elsewhere.txt")
    progress, size = Recorded(), sum((folder / f"{name}.jsonl").stat().st_size for name in "abc")
    done = run(store, folder, options=IngestOptions(budgets=budgets), progress=progress)
    assert done.counts == Counts(num_added=6, num_rejected=3, num_contents=6, num_bytes=size)
    assert (done.num_skipped, done.num_unfollowed, done.conflicts) == (1, 2, Conflicts())
    assert done.reasons.as_dict() == {"not JSON": 3}
    assert (done.rejected_sources.number, done.given_up.number, done.is_limited) == (0, 0, False)
    assert progress.walks[-1] == (3, size, True)
    assert (len(progress.walks), len(progress.reads)) == ((4, 9) if budgets is TINY else (1, 1))
    assert progress.reads[-1] == (6, size)
    assert progress.totals[-1] == done.counts
    assert [rejection.locator for rejection in progress.rejections] == ["line 2"] * 3
    with store.reading() as transaction:
        assert runs.counts(transaction, 2) == done.counts
    again = run(store, folder, key=3, options=IngestOptions(budgets=budgets))
    assert (again.counts, again.num_skipped, again.num_unfollowed) == (Counts(num_unchanged=6), 1, 2)


def test_a_path_without_files_is_an_error_unless_another_has_some(store: Store, folder: Path, tmp_path: Path) -> None:
    (empty := tmp_path / "empty").mkdir()
    assert run(store, empty, folder).counts.num_added == 6
    with pytest.raises(NothingToRead) as raised:
        run(store, empty, tmp_path / "empty")
    assert raised.value.fields == {"path": f"{empty}, {empty}", "reason": "no file that could be opened"}
    with pytest.raises(NothingToRead) as raised:
        run(store)
    assert raised.value.fields["path"] == "an empty list of paths"
    (empty / "link").symlink_to(folder)
    with pytest.raises(NothingToRead) as raised:
        run(store, empty)
    assert raised.value.fields["reason"] == (
        "only symbolic links that lead out of it, 1; --follow-links reads them"
    )  # fmt: skip


def test_each_path_is_pruned_and_one_without_files_is_refused(store: Store, folder: Path, tmp_path: Path) -> None:
    (other := tmp_path / "other").mkdir()
    write_records(other / "d.jsonl", "d1")
    run(store, folder, other)
    (folder / "a.jsonl").unlink()
    progress = Recorded()
    done = run(store, folder, other, key=3, options=IngestOptions(prune=True), progress=progress)
    assert (done.counts, progress.totals[-1]) == (Counts(num_unchanged=5, num_removed=2),) * 2
    assert ids(store) == ["b1", "b2", "c1", "c2", "d1"]
    (other / "d.jsonl").unlink()
    (folder / "b.jsonl").unlink()
    with pytest.raises(PruneRefused):
        run(store, other, folder, key=4, options=IngestOptions(prune=True))
    assert ids(store) == ["b1", "b2", "c1", "c2", "d1"]
    assert run(store, folder, key=5).counts == Counts(num_unchanged=2)
    assert ids(store) == ["b1", "b2", "c1", "c2", "d1"]


def test_documents_that_no_run_saw_for_so_long_expire(store: Store, folder: Path) -> None:
    run(store, folder, key=2)
    with store.writing() as transaction:
        for run_key in (1, 2):
            long_ago = (datetime.now(UTC) - timedelta(days=9)).isoformat(timespec="milliseconds")
            transaction.execute(update(run_table).where(run_table.c.run_key == run_key).values(started_at=long_ago))
    (folder / "a.jsonl").unlink()
    kept = run(store, folder, key=3, options=IngestOptions(expire_after=timedelta(days=10)))
    assert kept.counts == Counts(num_unchanged=4)
    done = run(store, folder, key=3, options=IngestOptions(expire_after=timedelta(days=8)))
    assert done.counts == Counts(num_unchanged=4, num_removed=2)
    assert ids(store) == ["b1", "b2", "c1", "c2"]


def test_too_many_rejections_end_a_run(store: Store, folder: Path) -> None:
    assert run(store, folder, options=IngestOptions(max_rejected=3)).counts.num_added == 6
    with pytest.raises(TooManyRejected) as raised:
        run(store, write_records(folder / "d.jsonl", "", "", "d1"), key=3, options=IngestOptions(max_rejected=1))
    assert raised.value.fields == {
        "num_rejected": 2, "num_documents": 3, "allowed": "1", "url": store.url, "run": 3
    }  # fmt: skip


def test_a_limit_counts_what_the_index_has(store: Store, folder: Path) -> None:
    first = run(store, folder, options=IngestOptions(limit=3))
    assert (first.counts.num_added, first.is_limited) == (3, True)
    again = run(store, folder, key=3, options=IngestOptions(limit=3))
    assert (again.counts, again.is_limited) == (Counts(num_unchanged=2), True)
    more = run(store, folder, key=4, options=IngestOptions(limit=5, budgets=TINY))
    assert (more.counts.num_added, more.counts.num_unchanged, more.is_limited) == (2, 2, True)
    rest = run(store, folder, key=5, options=IngestOptions(limit=6))
    assert (rest.counts.num_added, rest.is_limited) == (1, False)
    assert ids(store) == ["a1", "a2", "b1", "b2", "c1", "c2"]


def test_a_source_that_is_read_on_does_not_count_as_rejected(store: Store, tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.jsonl", "a1", "a2", "", "")
    with pytest.raises(Stopped):
        run(
            store,
            path,
            options=IngestOptions(budgets=Budgets(chunk_bytes=1, batch_documents=1, load_seconds=0.0)),
            progress=Stopping(),
        )
    assert ids(store) == ["a1"]
    assert run(store, path, key=3).rejected_sources.number == 0
    assert run(store, write_records(tmp_path / "b.jsonl", "", ""), key=4).rejected_sources.number == 1


def test_a_source_whose_pages_come_later_does_not_count_as_rejected(store: Store, tmp_path: Path) -> None:
    address, date = "http://a.org/", "2024-05-01T00:00:00Z"
    early = seen_again(address, refers_to=(address, date), date="2024-06-01T00:00:00Z")
    (tmp_path / "1.warc.gz").write_bytes(early)
    (tmp_path / "2.warc.gz").write_bytes(response(address, page(1), date=date))
    read = ReadOptions(captures="all")
    done = run(store, tmp_path, options=IngestOptions(read=read, budgets=TINY))
    assert (done.counts.num_added, done.rejected_sources.number) == (2, 0)


class Stopped(Exception):
    """The run ends here."""


class Stopping(Progress):
    """Ends a run after its first commit."""

    def ingested(self, counts: Counts) -> None:
        raise Stopped


@pytest.mark.sqlite
def test_batches_share_a_transaction_for_as_long_as_chosen(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds: list[float] = []
    write_load = Writer.write_load

    def noted(writer: Writer, first: Batch, more: Callable[[float], Batch | None], most: float, started: float) -> None:
        seconds.append(most)
        assert time.monotonic() - started < 100.0
        write_load(writer, first, more, most, started)

    monkeypatch.setattr(Writer, "write_load", noted)
    for chosen, expected in ((None, [10.0]), (3.0, [3.0]), (0.0, [])):
        with new_store_at(str(tmp_path / f"{chosen}.db"), Params(shingle="word:1")) as store:
            run(store, folder, options=IngestOptions(budgets=Budgets(load_seconds=chosen)))
            assert len(ids(store)) == 6
        assert seconds == expected
        seconds.clear()


def test_the_batches_of_a_large_index_fill_generations_of_their_own(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a share of a half and up to three times the budget, an index of four texts has batches of two."""
    monkeypatch.setattr(generations, "YOUNG_ROWS", 2 * 5)
    monkeypatch.setattr(type(store.dialect), "growth", Growth(1 / 2, 3.0))
    options = IngestOptions(budgets=Budgets(chunk_items=1, batch_documents=1, load_seconds=0.0))
    run(store, write_records(tmp_path / "some.jsonl", *"abcd"), options=options)
    before, progress = store.read(generations.numbers), Recorded()
    run(store, write_records(tmp_path / "more.jsonl", *"efghijklmno"), options=options, progress=progress)
    totals = [counts.num_added for counts in progress.totals]
    # Each of them makes the index larger.
    assert [total - last for last, total in pairwise([0, *totals])] == [2, 3, 3, 3]
    number = band_bucket.c.generation
    counted = select(number, func.count()).where(band_bucket.c.band < DIGEST_BAND).group_by(number).order_by(number)
    with store.reading() as transaction:
        num_rows = dict(map(tuple, transaction.execute(counted)))
        made = [one for one in generation_list.generations(transaction) if one.number in num_rows.keys() - before]
    assert [num_rows[one.number] for one in made] == [10, 15, 15, 15]
    assert all(one.filter is not None for one in made)


def test_what_a_program_writes_to_standard_input_is_committed_batch_by_batch(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_records(tmp_path / "piped", "a", "b")
    monkeypatch.setattr(Writer, "write_load", None)
    monkeypatch.setattr("lshdb.readers.registry.open_stdin", lambda: io.FileIO(path))
    run(store, "-", options=IngestOptions(read=ReadOptions(input_format="jsonl")))
    assert ids(store) == ["a", "b"]


def test_a_run_whose_commits_get_no_answer_counts_everything_once(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, folder, options=IngestOptions(limit=2))
    (folder / "a.jsonl").unlink()
    with monkeypatch.context() as patch:
        commits_are_lost(patch)
        options = IngestOptions(prune=True, budgets=TINY)
        done = run(store, folder, key=3, options=options)
        assert (done.counts.num_added, done.counts.num_removed) == (4, 2)
    with store.reading() as transaction:
        assert runs.counts(transaction, 3) == done.counts
