"""What a batch leaves in the index: documents, the progress of its files, rejections and counts."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from lshdb.ingest.batches import Batch
from lshdb.ingest.make import Chunk, SourceProgress
from lshdb.ingest.options import Budgets, IngestOptions
from lshdb.ingest.plan import Plan
from lshdb.ingest.write import Writer, Written, add_document, add_documents
from lshdb.model.choices import OnConflict
from lshdb.model.params import Params
from lshdb.model.values import Conflicts, Counts, Document, Rejection
from lshdb.readers import Revisit, SourceFile
from lshdb.sketch.sketch import sketch
from lshdb.store.schema import DIGEST_BAND, band_bucket, content, content_text, document, pair, source
from lshdb.store.store import Store
from lshdb.store.tables import answers, fingerprints, runs, sources
from lshdb.store.tables.sources import DONE, READING, SourceState
from lshdb.store.transaction import Transaction
from tests.store.conftest import PARAMS, Minima, commits_are_lost, count, new_store_at, sketches_of

ROOT = "file:///crawl"
A, B = f"{ROOT}/a", f"{ROOT}/b"
ONE, TWO, THREE = (1, 2, 3), (4, 5, 6), (7, 8, 9)
DIGEST = b"d" * 16


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with new_store_at(url) as store:
        yield store


def file(uri: str, mtime_ns: int = 100) -> SourceFile:
    return SourceFile(uri, Path(uri.removeprefix("file://")), 10, mtime_ns, ROOT)


def step(
    uri: str, num_items: int, number: int, *, ended: bool = True, opened: bool = True, mtime_ns: int = 100
) -> SourceProgress:
    """Some items of a file. Args: number: of the documents among them."""
    return SourceProgress(file(uri, mtime_ns), num_items, number, DIGEST if ended else None, ended, opened)


def chunk(
    contents: dict[str, Minima | None],
    *steps: SourceProgress,
    rejections: tuple[Rejection, ...] = (),
    num_skipped: int = 0,
    revisits: tuple[Revisit, ...] = (),
    num_replaced: int = 0,
) -> Chunk:
    """A chunk of the documents of its first file."""
    found = tuple(Document(doc_id, source=steps[0].source.uri, num_replaced=num_replaced) for doc_id in contents)
    return Chunk(found, sketches_of(list(contents.values())), rejections, steps, 7, num_skipped, revisits)


def plan(
    *known: SourceState,
    unchanged: tuple[SourceState, ...] = (),
    unwalked: tuple[Rejection, ...] = (),
    unfollowed: tuple[str, ...] = (),
    num_skipped: int = 0,
) -> Plan:
    states = {state.uri: state for state in known}
    return Plan((), states, unchanged, unwalked, num_skipped, frozenset({ROOT}), 0, 0, False, unfollowed)


def batch(*parts: Plan | Chunk) -> Batch:
    plans = tuple(part for part in parts if isinstance(part, Plan))
    return Batch(plans, tuple(part for part in parts if isinstance(part, Chunk)))


class Run:
    """A run that writes batches. Attributes: written: the result of each."""

    def __init__(self, store: Store, run_key: int, options: IngestOptions | None = None) -> None:
        self.store, self.run_key, self.written = store, run_key, list[Written]()
        self.writer = Writer(store, run_key, options or IngestOptions(), self.written.append)

    def write(self, *parts: Plan | Chunk) -> Written:
        self.writer.write(batch(*parts))
        return self.written[-1]

    def counts(self) -> Counts:
        with self.store.reading() as transaction:
            return runs.counts(transaction, self.run_key)

    def rejections(self) -> list[Rejection]:
        with self.store.reading() as transaction:
            return list(answers.rejections(transaction, self.run_key))


def states(store: Store) -> dict[str, SourceState]:
    with store.reading() as transaction:
        return dict(sources.known(transaction, "default", [A, B, f"{ROOT}/c"]))


def last_seen(store: Store) -> dict[str, int]:
    """Return the run that last saw each file."""
    with store.reading() as transaction:
        return dict(tuple(row) for row in transaction.execute(select(source.c.uri, source.c.last_seen_run)))


def stored(store: Store) -> dict[str, tuple[str | None, int | None]]:
    """Return the file and the content of each document of the default collection."""
    with store.reading() as transaction:
        uri = select(source.c.uri).where(source.c.source_key == document.c.source_key).scalar_subquery()
        rows = transaction.execute(select(document.c.doc_id, uri, document.c.content_key))
        return {doc_id: (one, key) for doc_id, one, key in rows}


def state(
    uri: str, position: int, number: int, run_key: int, *, ended: bool = True, options: str = "{}"
) -> SourceState:
    return SourceState(
        uri, 10, 100, DIGEST if ended else None, DONE if ended else READING, position, number, options, run_key
    )


def test_a_batch_is_written_and_counted_as_a_whole(store: Store) -> None:
    run = Run(store, 2, IngestOptions(collection="news"))
    bad, unwalked = Rejection(A, "line 3", "not JSON"), Rejection(f"{ROOT}/x", "", "Permission denied")
    written = run.write(
        plan(unchanged=(state(B, 4, 3, 1),), unwalked=(unwalked,), num_skipped=2),
        plan(num_skipped=1),
        chunk({"a": ONE, "b": None}, step(A, 2, 2, ended=False), num_skipped=4, num_replaced=1),
        chunk({"c": ONE, "d": TWO}, step(A, 3, 2), rejections=(bad,), num_skipped=1),
    )
    counts = Counts(
        num_added=4, num_unchanged=3, num_empty=1, num_rejected=2, num_replaced=2, num_contents=2, num_bytes=14
    )  # fmt: skip
    assert (written.counts, run.counts()) == (counts, counts)
    assert (written.num_skipped, written.conflicts) == (8, Conflicts())
    assert list(written.rejections) == run.rejections() == [unwalked, bad]
    assert written.num_rejected == {A: 1, f"{ROOT}/x": 1}
    assert written.progress == {A: step(A, 5, 4)}
    assert written.qualified == {A: False}
    assert (written.late, written.unsettled) == ((), frozenset())
    assert stored(store) == {"a": (A, 1), "b": (A, None), "c": (A, 1), "d": (A, 2)}
    with store.reading() as transaction:
        assert sources.known(transaction, "news", [A]) == {A: state(A, 5, 4, 2)}
        assert (count(transaction, content), count(transaction, band_bucket)) == (2, 6)


def test_a_batch_without_documents_counts_what_it_has(store: Store) -> None:
    run = Run(store, 2)
    assert run.write(plan(unchanged=(state(A, 1, 1, 1), state(B, 2, 2, 1)))).counts == Counts(num_unchanged=3)
    assert run.write(plan()).counts == Counts()
    assert run.counts() == Counts(num_unchanged=3)


def test_a_file_that_takes_several_batches_has_the_documents_of_all(store: Store) -> None:
    run = Run(store, 2)
    run.write(plan(), chunk({"a": ONE, "b": TWO}, step(A, 3, 2, ended=False), step(B, 1, 0)))
    assert states(store) == {A: state(A, 3, 2, 2, ended=False), B: state(B, 1, 0, 2)}
    run.write(chunk({"c": THREE}, step(A, 1, 1, ended=False)))
    run.write(chunk({"d": THREE}, step(A, 1, 1)))
    assert states(store)[A] == state(A, 5, 4, 2)


def test_a_later_run_continues_a_file_if_it_has_not_changed(store: Store) -> None:
    Run(store, 2).write(chunk({"a": ONE, "b": TWO}, step(A, 3, 2, ended=False)))
    before = states(store)[A]
    Run(store, 3).write(plan(before), chunk({"c": THREE}, step(A, 2, 1)))
    assert states(store)[A] == state(A, 5, 3, 2)
    Run(store, 4).write(plan(before), chunk({"c": THREE}, step(A, 5, 1, mtime_ns=101)))
    assert states(store)[A] == replace(state(A, 5, 1, 4), mtime_ns=101)
    Run(store, 5).write(plan(state(A, 5, 1, 4)), chunk({"c": THREE}, step(A, 5, 1)))
    assert states(store)[A] == state(A, 5, 1, 5)


def test_the_options_of_the_run_are_recorded_with_its_files(store: Store) -> None:
    Run(store, 2, IngestOptions(on_conflict="keep")).write(chunk({"a": ONE}, step(A, 1, 1)))
    assert states(store)[A].options == '{"on_conflict":"keep"}'


def test_a_file_that_could_not_be_opened_stays_as_it_was_and_is_seen(store: Store) -> None:
    Run(store, 2).write(chunk({"a": ONE}, step(A, 1, 1)))
    before = states(store)
    closed = (step(A, 0, 0, ended=False, opened=False), step(B, 0, 0, ended=False, opened=False))
    Run(store, 3).write(plan(before[A]), chunk({}, *closed))
    assert states(store) == before
    assert last_seen(store) == {A: 3}


def test_a_file_is_open_if_any_part_of_it_was_read(store: Store) -> None:
    written = Run(store, 2).write(
        chunk({"a": ONE}, step(A, 1, 1, ended=False)), chunk({}, step(A, 1, 0, ended=False, opened=False))
    )
    assert written.progress[A].opened
    assert states(store) == {A: state(A, 2, 1, 2, ended=False)}


def test_files_that_did_not_change_or_were_not_found_are_seen(store: Store) -> None:
    files = [A, B, f"{ROOT}/c/d", f"{ROOT}/e/f", f"{ROOT}/g"]
    for uri in files:
        Run(store, 2).write(chunk({uri: ONE}, step(uri, 1, 1)))
    unwalked = Rejection(f"{ROOT}/c", "", "Permission denied")
    Run(store, 3).write(plan(unchanged=(replace(states(store)[A], mtime_ns=200),), unwalked=(unwalked,)))
    Run(store, 3).write(plan(unfollowed=(f"{ROOT}/e",)))
    assert last_seen(store) == dict(zip(files, (3, 2, 3, 3, 2), strict=True))
    assert states(store)[A] == replace(state(A, 1, 1, 2), mtime_ns=200)


def test_a_text_that_a_document_no_longer_has_goes(store: Store) -> None:
    Run(store, 2).write(chunk({"a": ONE}, step(A, 1, 1)))
    written = Run(store, 3).write(plan(states(store)[A]), chunk({"a": TWO}, step(A, 1, 1, mtime_ns=200)))
    assert written.counts == Counts(num_updated=1, num_contents=1, num_bytes=7)
    with store.reading() as transaction:
        assert (count(transaction, content), count(transaction, band_bucket)) == (1, 3)


@pytest.mark.parametrize(
    ("on_conflict", "expected", "conflicts"),
    [
        (None, {"a": (A, 1), "a@/crawl/b": (B, 2)}, Conflicts(num_qualified=1)),
        ("replace", {"a": (B, 2)}, Conflicts(num_replaced=1)),
        ("keep", {"a": (A, 1)}, Conflicts(num_left_out=1)),
    ],
)
def test_conflicts_are_resolved_as_the_options_say(
    store: Store, on_conflict: OnConflict | None, expected: dict[str, object], conflicts: Conflicts
) -> None:
    run = Run(store, 2, IngestOptions(on_conflict=on_conflict))
    written = run.write(chunk({"a": ONE}, step(A, 1, 1)), chunk({"a": TWO}, step(B, 1, 1, mtime_ns=99)))
    assert (stored(store), written.conflicts) == (expected, conflicts)


def test_a_file_that_was_read_before_keeps_its_qualified_ids_in_all_batches(store: Store) -> None:
    first = Run(store, 2).write(
        chunk({"a": ONE, "c": ONE}, step(A, 2, 2)), chunk({"a": TWO, "c": TWO}, step(B, 2, 2, mtime_ns=99))
    )
    assert first.qualified == {A: False, B: False}
    run = Run(store, 3)
    newer = step(B, 1, 1, ended=False, mtime_ns=500)
    assert run.write(plan(states(store)[B]), chunk({"a": TWO}, newer)).qualified == {B: True}
    assert run.write(chunk({"c": THREE}, replace(newer, ended=True, digest=DIGEST))).qualified == {B: True}
    assert stored(store) == {"a": (A, 1), "c": (A, 1), "a@/crawl/b": (B, 2), "c@/crawl/b": (B, 3)}


def test_the_first_rejections_of_a_file_are_stored_and_the_others_counted_by_reason(store: Store) -> None:
    bad = [Rejection(A, f"line {number}", "not JSON") for number in range(1, 5)]
    run = Run(store, 2, IngestOptions(budgets=Budgets(stored_rejections=2)))
    assert run.write(chunk({}, step(A, 1, 0, ended=False), rejections=tuple(bad[:1]))).num_rejected == {A: 1}
    # A batch of another file in between does not change it.
    run.write(chunk({}, step(B, 0, 0)))
    assert run.write(chunk({}, step(A, 3, 0), rejections=tuple(bad[1:]))).num_rejected == {A: 4}
    assert run.rejections() == [*bad[:2], Rejection(A, "", "2 more: not JSON")]
    # The run reads the file again: it counts from the beginning.
    assert run.write(chunk({}, step(A, 1, 0), rejections=tuple(bad[:1]))).num_rejected == {A: 1}
    assert run.counts().num_rejected == 5


def revisit(doc_id: str, named: str, *, is_page: bool = True) -> Revisit:
    """A record of file A that names the capture with an id."""
    capture = Document(doc_id, source=A)
    return Revisit(A, "a revisit", capture, named, f"{named}!", named, None, is_page)


def test_a_revisit_is_a_document_with_the_text_of_the_capture_that_it_names(store: Store) -> None:
    revisits = (revisit("x", "a"), revisit("y", "image", is_page=False), revisit("a", "a"))
    run = Run(store, 2)
    written = run.write(chunk({"a": ONE}, step(A, 4, 1), num_skipped=1, revisits=revisits))
    assert written.counts == run.counts() == Counts(num_added=2, num_unchanged=1, num_contents=1, num_bytes=7)
    assert (written.num_skipped, written.progress) == (2, {A: step(A, 4, 3)})
    assert stored(store) == {"a": (A, 1), "x": (A, 1)}
    assert states(store) == {A: state(A, 4, 3, 2)}


def test_a_revisit_waits_for_its_page_until_the_end_of_the_run(store: Store) -> None:
    run = Run(store, 2)
    written = run.write(chunk({}, step(A, 2, 0), revisits=(revisit("x", "late"), revisit("y", "never"))))
    assert (written.counts, written.rejections, written.unsettled) == (Counts(num_bytes=7), [], {A})
    assert len(run.rejections()) == run.counts().num_rejected == 2
    assert run.write(chunk({"late": ONE}, step(B, 1, 1))).unsettled == {A}
    run.writer.settle()
    settled = run.written[-1]
    never = Rejection(A, "", "revisit of a capture that the index does not have: never")
    assert (settled.rejections, settled.num_rejected) == ([never], {A: 1})
    assert settled.progress == {A: step(A, 2, 1)}
    assert (settled.counts, settled.num_skipped) == (Counts(num_added=1, num_rejected=1), 0)
    assert run.rejections() == [never]
    assert run.counts() == Counts(num_added=2, num_rejected=1, num_contents=1, num_bytes=14)
    assert states(store) == {A: state(A, 2, 1, 2), B: state(B, 1, 1, 2)}


def test_there_is_nothing_to_settle_without_such_revisits(store: Store) -> None:
    run = Run(store, 2)
    run.write(chunk({"a": ONE}, step(A, 1, 1), revisits=(revisit("x", "a"),)))
    run.writer.settle()
    assert len(run.written) == 1


def test_revisits_for_which_there_is_no_room_are_rejected_at_once(store: Store) -> None:
    run = Run(store, 2, IngestOptions(budgets=Budgets(late_revisits=1)))
    written = run.write(chunk({}, step(A, 2, 0), revisits=(revisit("x", "late"), revisit("y", "later"))))
    assert [rejection.reason.rpartition(" ")[2] for rejection in written.rejections] == ["later"]
    assert (written.counts.num_rejected, run.counts().num_rejected) == (1, 2)


def test_a_batch_whose_commit_got_no_answer_is_not_written_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    commits_are_lost(monkeypatch)
    run = Run(store, 2)
    assert run.write(chunk({"a": ONE}, step(A, 1, 1), revisits=(revisit("x", "b"),))).counts.num_added == 1
    run.write(chunk({"b": ONE}, step(B, 1, 1)))
    run.writer.settle()
    assert [written.counts.num_added for written in run.written] == [1, 1, 1]
    assert run.counts() == Counts(num_added=3, num_contents=1, num_bytes=14)


def test_a_load_writes_its_batches_together(store: Store) -> None:
    more = [batch(chunk({"b": ONE}, step(A, 1, 1, ended=False))), batch(chunk({"c": TWO}, step(A, 1, 1)))]
    run = Run(store, 2)
    given: list[float] = []
    first = batch(plan(), chunk({"a": ONE}, step(A, 1, 1, ended=False)))

    def following(seconds: float) -> Batch | None:
        given.append(seconds)
        assert run.written == []
        return more.pop(0) if more else None

    run.writer.write_load(first, following, 10.0, started=time.monotonic())
    assert [written.counts.num_added for written in run.written] == [1, 1, 1]
    assert 5.0 < given[2] <= given[1] <= given[0] <= 10.0
    assert states(store) == {A: state(A, 3, 3, 2)}
    with store.reading() as transaction:
        assert (count(transaction, content), count(transaction, band_bucket)) == (2, 6)


def test_the_buckets_of_a_rebanded_index_have_its_bands(url: str) -> None:
    with new_store_at(url, dataclasses.replace(PARAMS, first_band=-3)) as store:
        Run(store, 2).write(chunk({"a": ONE}, step(A, 1, 1)))
        with store.reading() as transaction:
            bands = transaction.execute(select(band_bucket.c.band).order_by(band_bucket.c.band)).scalars().all()
    assert bands == [-3, -2, -1, DIGEST_BAND]


@pytest.mark.parametrize("passages", [0, 2])
@pytest.mark.parametrize("keep_text", [True, False])
def test_chunks_of_a_batch_are_written_with_their_texts_and_fingerprints(
    new_url: Callable[[], str], passages: int, keep_text: bool
) -> None:
    if passages and not keep_text:
        return
    params = Params(shingle="word:2", bands=5, rows=1, passages=passages, keep_text=keep_text)
    documents = (Document("a", "one two three", source=A), Document("b", "ant bee cat dog", source=A))
    with new_store_at(new_url(), params) as store:
        chunks = [
            Chunk((one,), sketch([one], params), (), (step(A, at, 1),), 1, 0) for at, one in enumerate(documents, 1)
        ]
        Run(store, 2).write(*chunks)
        with store.reading() as transaction:
            numbers = [count(transaction, table) for table in (content, band_bucket, content_text)]
            entries = [key for found in fingerprints.all_entries(transaction) for key in found.content_keys.tolist()]
    assert numbers == [2, 10, 2 if keep_text else 0]
    assert sorted(entries) == ([1, 1, 2, 2, 2] if passages else [])


# Documents that do not come from a file.

WORDS = Params(shingle="word:1", bands=10, rows=1, floor=0.5, min_sim=0.5)


@pytest.fixture
def words(url: str) -> Iterator[Store]:
    with new_store_at(url, WORDS) as store:
        yield store


def test_added_documents_are_linked_if_asked(words: Store) -> None:
    text = "ant bee cat dog"
    added = [Document("a", text), Document("b", f"{text} elk")]
    assert add_documents(words, added[:1], 2, "news", link=False) == (Counts(num_added=1, num_contents=1), None)
    assert add_documents(words, added, 3, "news", link=True) == (
        Counts(num_added=1, num_unchanged=1, num_contents=1),
        1,
    )
    assert add_documents(words, [Document("a", "fox")], 4, "news", link=True) == (
        Counts(num_updated=1, num_contents=1),
        0,
    )
    with words.reading() as transaction:
        assert answers.content_of(transaction, "news", "b") == (True, 2)
        figures = answers.figures(transaction)
        assert (figures.num_contents, figures.num_pairs, figures.num_unlinked) == (2, 0, 0)
        assert [runs.counts(transaction, key).num_contents for key in (1, 2, 3, 4)] == [0, 1, 1, 1]


def test_a_document_is_added_unless_something_is_like_it(words: Store) -> None:
    text = "ant bee cat dog"

    def meet(transaction: Transaction) -> list[str]:
        return ["like it"] * count(transaction, document)

    added = Counts(num_added=1, num_contents=1)
    assert add_document(words, Document("a", text), 2, "news", meet, only_new=True) == (added, [])
    longer = Document("b", f"{text} elk")
    assert add_document(words, longer, 3, "news", meet, only_new=True) == (Counts(), ["like it"])
    assert add_document(words, longer, 4, "news", meet, only_new=False) == (added, ["like it"])
    with words.reading() as transaction:
        assert [runs.counts(transaction, key) for key in (2, 3, 4)] == [added, Counts(), added]
        assert answers.content_of(transaction, "news", "b") == (True, 2)
        rows = transaction.execute(select(pair.c.left_key, pair.c.right_key, pair.c.run_key))
        assert [tuple(row) for row in rows] == [(1, 2, 4)]


def test_an_addition_whose_commit_got_no_answer_is_not_repeated(words: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    commits_are_lost(monkeypatch)
    assert add_documents(words, [Document("a", "ant")], 2, "default", link=True) == (
        Counts(num_added=1, num_contents=1),
        0,
    )
    assert add_document(words, Document("b", "bee"), 3, "default", lambda _: [], only_new=True)[0].num_added == 1
    with words.reading() as transaction:
        assert runs.counts(transaction, 3).num_added == 1
        assert runs.counts(transaction, 2) == Counts(num_added=1, num_contents=1)
