"""What a program may pass to an index, and how lshdb refuses the rest: with its own errors, before anything changes."""

from __future__ import annotations

import math
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete

from lshdb import (
    BadDocument,
    ClusterOptions,
    Decision,
    Document,
    ExportOptions,
    FilterOptions,
    Index,
    IngestOptions,
    InvalidParams,
    Params,
    ReadOptions,
    Scope,
    Thoroughness,
    UsageError,
)
from lshdb.store.schema import content_text
from lshdb.store.store import Store
from lshdb.store.tables import answers

WORDS = "one two three four five six seven eight nine ten"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of documents whose ids have one letter."""
    path = tmp_path_factory.mktemp("original") / "index.db"
    with Index.create(path) as index:
        index.add([Document("1", WORDS), Document("2", f"{WORDS} eleven"), Document("3", "something else")])
    return path


@pytest.fixture
def index(original: Path, tmp_path: Path) -> Iterator[Index]:
    """A copy of the original."""
    with Index.open(shutil.copy(original, tmp_path)) as index:
        yield index


def test_one_id_is_not_an_iterable_of_its_characters(index: Index) -> None:
    index.add(Document("12", "a text"))
    assert index.remove("12") == 1
    assert "1" in index
    assert "2" in index


@pytest.mark.parametrize("given", [["1", "2"], ("1", "2"), iter(["1", "2"]), [Document("1"), "2"], {"1": 0, "2": 0}])
def test_documents_are_removed_by_their_ids_or_by_themselves(index: Index, given: Any) -> None:
    assert index.remove(given) == 2
    assert len(index) == 1


def test_a_path_removes_the_document_of_that_file(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "page.txt").write_text(WORDS)
    index.ingest(tmp_path / "page.txt")
    monkeypatch.chdir(tmp_path)
    assert index.remove(Path("page.txt")) == 1
    assert len(index) == 3


@pytest.mark.parametrize("given", [12, None, [12], [None], [b"1"], [["1"]]])
def test_what_is_no_id_is_refused_and_nothing_is_removed(index: Index, given: Any) -> None:
    with pytest.raises(UsageError, match="an id must be a non-empty string"):
        index.remove(given)
    assert len(index) == 3


def test_one_path_is_not_an_iterable_of_its_characters(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crawl" / "inside").mkdir(parents=True)
    (tmp_path / "crawl" / "page.txt").write_text("a page")
    monkeypatch.chdir(tmp_path / "crawl" / "inside")
    assert index.ingest("..").counts.num_added == 1
    assert str(tmp_path / "crawl" / "page.txt") in index
    assert index.ingest(Path("..")).counts.num_unchanged == 1


@pytest.mark.parametrize("given", [12, None, [12], [None], [b"."], [Document("a")]])
def test_what_is_no_path_is_refused(index: Index, given: Any) -> None:
    with pytest.raises(UsageError, match="a path is a string or a Path"):
        index.ingest(given)


def test_one_document_is_added_like_a_list_of_one(index: Index) -> None:
    assert index.add(Document("a", "a text")).counts.num_added == 1
    assert "a" in index


@pytest.mark.parametrize("given", ["a text", ["a text"], {"a": "a text"}, [None], 12, None])
def test_what_is_no_document_is_refused(index: Index, given: Any) -> None:
    with pytest.raises(UsageError, match=r"the index takes Documents, not .*; write Document\(id, text\)"):
        index.add(given)
    assert len(index) == 3


BAD: dict[str, tuple[Document, str]] = {
    "empty id": (Document("", WORDS), "document '': its id is empty"),
    "NUL in id": (Document("a\0b", WORDS), "its id holds a NUL character"),
    "lone surrogate in id": (Document("a\ud800", WORDS), "its id holds a lone surrogate"),
    "number as id": (Document(12, WORDS), "document 12: its id is an int, not a string"),  # type: ignore[arg-type]
    "no id": (Document(None, WORDS), "document None: its id is a NoneType, not a string"),  # type: ignore[arg-type]
    "no text": (Document("a", None), "document 'a': its text is a NoneType, not a string"),  # type: ignore[arg-type]
    "bytes as text": (Document("a", b"text"), "its text is a bytes, not a string"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("kind", BAD)
def test_a_document_without_a_usable_id_or_text_is_refused(index: Index, kind: str) -> None:
    document, reason = BAD[kind]
    with pytest.raises(BadDocument, match=reason):
        index.add([Document("good", WORDS), document])
    assert "good" not in index
    if "id" not in kind:
        with pytest.raises(BadDocument, match=reason):
            index.query(document)


@pytest.mark.parametrize("features", ["abc", (1, 2), 12, [None]])
def test_features_that_are_not_strings_are_refused(tmp_path: Path, features: Any) -> None:
    with Index.create(tmp_path / "sets.db", {"shingle": "set"}) as index:
        with pytest.raises(BadDocument, match="features"):
            index.add(Document("a", features=features))
        assert index.add(Document("b", features=["x", "y"])).counts.num_added == 1


@pytest.mark.parametrize("features", [(x for x in "abc"), map(str, [1, 2]), iter(["a"])], ids=["yield", "map", "iter"])
def test_features_that_can_be_read_only_once_are_refused(tmp_path: Path, features: Any) -> None:
    once = Document("a", features=features)
    with Index.create(tmp_path / "sets.db", {"shingle": "set"}) as index:
        for call in (index.put, index.add, index.query):
            with pytest.raises(BadDocument, match=r"its features are a \w+, not a tuple or another collection of"):
                call(once)
        assert "a" not in index


@pytest.mark.parametrize("kind", [list, set, frozenset, dict.fromkeys])
def test_features_may_be_any_collection(tmp_path: Path, kind: Any) -> None:
    features = kind(["b", "a"])
    with Index.create(tmp_path / "sets.db", {"shingle": "set"}) as index:
        index.put(Document("a", features=features))
        assert index.get("a") == Document("a", features=("a", "b"))


@pytest.mark.parametrize("make", [Index.create, Index.ensure])
def test_an_unknown_parameter_is_named_with_those_there_are(make: Callable[..., Index], tmp_path: Path) -> None:
    for chosen in ({"min_simm": 0.7}, {"min_simm": 0.7, "recall": 0.9}):
        with pytest.raises(InvalidParams, match=r"min_simm is 0\.7: there is no such parameter.* min_sim"):
            make(str(tmp_path / "index.db"), chosen)
    assert not (tmp_path / "index.db").exists()


WRONG: list[dict[str, Any]] = [
    {"min_sim": "0.8"},
    {"floor": "0.5"},
    {"floor": float("nan")},
    {"bands": 2.5},
    {"seed": "1"},
    {"shingle": 5},
    {"shingle": None},
    {"scheme": None},
    {"multiset": "no"},
    {"keep_text": 0},
    {"recall": "all"},
    {"min_sim": True},
    {"num_perm": "128"},
]


@pytest.mark.parametrize("value", ["foo", 5, None, True])
def test_the_error_has_the_value_that_was_given(value: Any) -> None:
    for make in (lambda: ClusterOptions(keep=value), lambda: Params(scheme=value), lambda: Params(min_sim=value)):
        with pytest.raises(InvalidParams) as caught:
            make()
        assert caught.value.value is value
        assert f" is {value!r}: " in str(caught.value)


@pytest.mark.parametrize("chosen", WRONG, ids=repr)
def test_a_parameter_of_the_wrong_type_is_refused(chosen: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidParams):
        Index.create(str(tmp_path / "index.db"), chosen)
    assert not (tmp_path / "index.db").exists()


def test_an_index_is_named_by_a_path_too(tmp_path: Path) -> None:
    with Index.ensure(tmp_path / "index.db") as index:
        index.add(Document("a", WORDS))
        index.copy(tmp_path / "copy.db")
    Index.backup(tmp_path / "index.db", tmp_path / "backup.db")
    Index.upgrade(tmp_path / "index.db")
    for name in ("index.db", "copy.db", "backup.db"):
        with Index.open(tmp_path / name) as index:
            assert len(index) == 1
    with pytest.raises(UsageError, match="an index is named by"):
        Index.open(12)  # type: ignore[arg-type]


ASKED: dict[str, Callable[[Index, Any], object]] = {
    "pairs": lambda index, least: index.pairs(least),
    "clusters": lambda index, least: index.clusters(least),
    "query": lambda index, least: index.query(Document("?", WORDS), least),
    "query_id": lambda index, least: index.query_id("1", least),
    "nearest": lambda index, least: index.nearest("default", "other", least),
}


@pytest.mark.parametrize("least", [80, -0.1, "0.8", float("nan")])
@pytest.mark.parametrize("question", ASKED)
def test_a_similarity_is_from_0_to_1(index: Index, question: str, least: Any) -> None:
    with pytest.raises(InvalidParams, match="min_sim"):
        ASKED[question](index, least)


NAMELESS: dict[str, Callable[[Index], object]] = {
    "get": lambda index: index.get(1),  # type: ignore[arg-type]
    "query_id": lambda index: index.query_id(1),  # type: ignore[arg-type]
    "query": lambda index: index.query("a text"),  # type: ignore[arg-type]
    "add": lambda index: index.add([Document("a", WORDS)], ""),
    "remove": lambda index: index.remove("1", 7),  # type: ignore[arg-type]
    "explain": lambda index: index.explain(5, 6),  # type: ignore[arg-type]
    "explain files": lambda index: index.explain(5, 6, files=True),  # type: ignore[arg-type]
    "buffer": lambda index: index.buffered().add("x"),  # type: ignore[arg-type]
    "pairs within": lambda index: index.pairs(within=5),  # type: ignore[arg-type]
    "page of bytes": lambda index: index.page("a", b"<p>a"),  # type: ignore[arg-type]
    "query_file": lambda index: index.query_file(5),  # type: ignore[arg-type]
    "query_file with a NUL": lambda index: index.query_file("a\0b"),
    "ingest with a NUL": lambda index: index.ingest("a\0b"),
    "filter into": lambda index: index.filter(".", 5),  # type: ignore[arg-type]
    "load": lambda index: index.load(5),  # type: ignore[arg-type]
    "backup": lambda index: Index.backup(index.url, 5),  # type: ignore[arg-type]
    "open with a NUL": lambda _: Index.open("a\0b"),
    "captures": lambda index: index.captures(""),
    "decide": lambda index: index.decide("a"),  # type: ignore[arg-type]
    "import_decisions": lambda index: index.import_decisions([None]),  # type: ignore[list-item]
    "import_decisions of None": lambda index: index.import_decisions(None),  # type: ignore[arg-type]
}


OPTIONS: dict[str, Callable[[Index, Any], object]] = {
    "IngestOptions": lambda index, given: index.ingest(".", given),
    "ReadOptions of query_file": lambda index, given: index.query_file(".", options=given),
    "ReadOptions of contaminated": lambda index, given: index.contaminated("default", Path(), read=given),
    "ReadOptions of contaminated_files": lambda _, given: Index.contaminated_files(".", "..", read=given),
    "OverlapOptions of contaminated": lambda index, given: index.contaminated("default", Path(), given),
    "OverlapOptions of contaminated_files": lambda _, given: Index.contaminated_files(".", "..", given),
    "ClusterOptions of clusters": lambda index, given: index.clusters(options=given),
    "ClusterOptions of catalogue": lambda index, given: index.catalogue(options=given),
    "ClusterOptions of members": lambda index, given: index.members(options=given),
    "ExportOptions": lambda index, given: index.export("out", options=given),
    "FilterOptions of filter": lambda index, given: index.filter(".", "out", options=given),
    "FilterOptions of filter_lines": lambda index, given: index.filter_lines(BytesIO(), BytesIO(), options=given),
    "FilterOptions of wanted_files": lambda index, given: index.wanted_files(".", options=given),
    "FilterOptions of delete_files": lambda index, given: index.delete_files(".", options=given),
    "Scope": lambda index, given: index.verify(given),
    "Thoroughness": lambda index, given: index.check(given),
}


@pytest.mark.parametrize("given", [{}, {"prefer": ["2"]}, "first", True], ids=repr)
@pytest.mark.parametrize("call", OPTIONS)
def test_options_are_of_their_class(
    index: Index, call: str, given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=f"^options are {call.split()[0]}, not "):
        OPTIONS[call](index, given)


def test_one_decision_is_imported_like_a_list_of_one(index: Index) -> None:
    assert index.import_decisions(Decision("keep", "1", who="Ada")).num_added == 1


STRING_FOR_SEVERAL: dict[str, Callable[[Index, Any], object]] = {
    "prefer": lambda _, given: ClusterOptions(prefer=given),
    "include of an ingest": lambda _, given: IngestOptions(include=given),
    "exclude_globs of an ingest": lambda _, given: IngestOptions(exclude_globs=given),
    "include of a filter": lambda _, given: FilterOptions(include=given),
    "exclude_globs of a filter": lambda _, given: FilterOptions(exclude_globs=given),
    "kinds": lambda index, given: index.repair(given),
    "between": lambda index, given: index.pairs(between=given),
    "between of containments": lambda index, given: index.contained_pairs(between=given),
    "collections": lambda index, given: index.explain("1", "2", given),
    "among": lambda index, given: index.decisions(given),
    "numbers": lambda index, given: index.undo(given),
}


@pytest.mark.parametrize("given", ["12", 5.0, [5.0], [["1", "2"], 7]], ids=repr)
@pytest.mark.parametrize("call", STRING_FOR_SEVERAL)
def test_a_string_is_not_taken_for_several(index: Index, call: str, given: Any) -> None:
    index.build_passages(5)
    with pytest.raises(UsageError, match=r"takes (two|several|strings)|the number of a decision is a whole number"):
        STRING_FOR_SEVERAL[call](index, given)


UNSTORABLE: dict[str, Callable[[Index, str], object]] = {
    "get": lambda index, name: index.get(name),
    "get in a collection": lambda index, name: index.get("1", name),
    "query_id": lambda index, name: index.query_id(name),
    "query_id in a collection": lambda index, name: index.query_id("1", collection=name),
    "remove": lambda index, name: index.remove(name),
    "remove_collection": lambda index, name: index.remove_collection(name),
    "add": lambda index, name: index.add(Document("a", WORDS), name),
    "ingest": lambda _, name: IngestOptions(collection=name),
    "explain": lambda index, name: index.explain("1", name),
    "explain in a collection": lambda index, name: index.explain("1", "2", ("default", name)),
    "meant": lambda index, name: index.meant(name),
    "pairs within": lambda index, name: index.pairs(within=name),
    "pairs between": lambda index, name: index.pairs(between=("default", name)),
    "clusters within": lambda index, name: index.clusters(options=ClusterOptions(within=name)),
    "nearest": lambda index, name: index.nearest("default", name),
    "contaminated": lambda index, name: index.contaminated("default", name),
    "captures": lambda index, name: index.captures(name),
    "captures in a collection": lambda index, name: index.captures(collection=name),
    "histogram": lambda index, name: index.histogram(within=name),
    "passages": lambda index, name: index.passages(name),
    "boilerplate within": lambda index, name: index.boilerplate(within=name),
    "boilerplate prefix": lambda index, name: index.boilerplate(prefix=name),
    "containing_id": lambda index, name: index.containing_id(name),
    "decisions": lambda index, name: index.decisions([("default", name)]),
    "decision": lambda _, name: Decision("keep", name, who="Ada"),
}


@pytest.mark.parametrize("name", ["a\ud800", "a\0"], ids=ascii)
@pytest.mark.parametrize("call", UNSTORABLE)
def test_a_name_that_no_database_can_store_is_refused(index: Index, call: str, name: str) -> None:
    if call in {"passages", "boilerplate within", "boilerplate prefix", "containing_id"}:
        index.build_passages(5)
    with pytest.raises(UsageError, match=r"a lone surrogate|a NUL character"):
        UNSTORABLE[call](index, name)
    assert name not in index


CHOICES: dict[str, Callable[[Index], object]] = {
    "sort is 'foo'": lambda index: index.pairs(sort="foo"),  # type: ignore[arg-type]
    "keep is 'foo'": lambda _: ClusterOptions(keep="foo"),  # type: ignore[arg-type]
    "linkage is 'foo'": lambda _: ClusterOptions(linkage="foo"),  # type: ignore[arg-type]
    "measure is 'foo'": lambda _: ClusterOptions(measure="foo"),  # type: ignore[arg-type]
    "on_conflict is 'foo'": lambda _: IngestOptions(on_conflict="foo"),  # type: ignore[arg-type]
    "captures is 'foo'": lambda _: ReadOptions(captures="foo"),  # type: ignore[arg-type]
    "text_format is 'foo'": lambda _: ReadOptions(text_format="foo"),  # type: ignore[arg-type]
    "unknown is 'foo'": lambda _: FilterOptions(unknown="foo"),  # type: ignore[arg-type]
    "what is 'foo'": lambda _: ExportOptions(what="foo"),  # type: ignore[arg-type]
    "form is 'foo'": lambda _: ExportOptions(form="foo"),  # type: ignore[arg-type]
    "kind is 'foo'": lambda _: Decision("foo", "1", "2", who="Ada"),  # type: ignore[arg-type]
    "min_size is 1": lambda _: ClusterOptions(min_size=1),
    "limit is 0": lambda _: ClusterOptions(limit=0),
    "limit is '5'": lambda _: IngestOptions(limit="5"),  # type: ignore[arg-type]
    "count is -1": lambda index: index.hottest(-1),
    "count is None": lambda index: index.hottest(None),  # type: ignore[arg-type]
    "num_bins is 0": lambda index: index.histogram(0),
    "run is '2'": lambda index: index.rejections("2"),  # type: ignore[arg-type]
    "run is np.int64(2)": lambda index: index.rejections(np.int64(2)),  # type: ignore[arg-type]
    "before is 'x'": lambda index: index.runs(2, "x"),  # type: ignore[arg-type]
    "before is 0": lambda index: index.decisions(before=0),
    "num_probes is -1": lambda index: index.measure(-1),
    "seed is -1": lambda index: index.measure(3, seed=-1),
    "seconds is nan": lambda index: index.measure(seconds=math.nan),
    "seconds is '5'": lambda index: index.buffered(seconds="5"),  # type: ignore[arg-type]
    "seconds is inf": lambda index: index.buffered(seconds=math.inf),
    "min_sim is '0.7'": lambda index: index.reband("0.7"),  # type: ignore[arg-type]
    "recall is 2": lambda index: index.reband(0.7, 2),
    "recall is 1.0": lambda index: index.reband(0.7, 1.0),
    "sample is 0": lambda _: Scope(sample=0),
    "sample is -1": lambda _: Thoroughness(sample=-1),
}


TOO_LARGE: dict[str, Callable[[Index], object]] = {
    "limit of pairs": lambda index: index.pairs(limit=2**63),
    "limit of decisions": lambda index: index.decisions(limit=2**63),
    "runs": lambda index: index.runs(2**63),
    "runs before": lambda index: index.runs(2, 2**63),
    "rejections": lambda index: index.rejections(2**63),
    "decisions before": lambda index: index.decisions(before=2**63),
    "hottest": lambda index: index.hottest(2**63),
    "seed of a measurement": lambda index: index.measure(seed=2**63),
    "sample of verify": lambda index: index.verify(Scope(sample=2**63)),
    "sample of check": lambda index: list(index.check(Thoroughness(sample=2**63))),
    "undo": lambda index: index.undo(2**63),
}


@pytest.mark.parametrize("call", TOO_LARGE)
def test_a_number_that_no_database_can_hold_is_refused(index: Index, call: str) -> None:
    with pytest.raises(UsageError, match=r"whole number (from [01] to 9223372036854775807|of 64 bits)"):
        TOO_LARGE[call](index)


@pytest.mark.parametrize("message", CHOICES)
def test_a_choice_that_does_not_exist_and_a_number_that_is_too_small_are_refused(index: Index, message: str) -> None:
    with pytest.raises(InvalidParams, match=f"^{re.escape(message)}: it must be "):
        CHOICES[message](index)


def test_a_string_of_digits_undoes_nothing(index: Index) -> None:
    for one in ("1", "2"):
        index.decide(Decision("keep", one, who="Ada"))
    with pytest.raises(UsageError, match="is a whole number"):
        index.undo("12")  # type: ignore[arg-type]
    assert len(index.decisions()) == 2
    assert index.undo(iter([1, 2])) == 2


def test_preferred_patterns_may_come_from_an_iterator(index: Index) -> None:
    (cluster,) = index.clusters(options=ClusterOptions(prefer=iter(["2"])))  # type: ignore[arg-type]
    assert cluster.keep == "2"


@pytest.mark.parametrize("call", NAMELESS)
def test_other_arguments_of_the_wrong_type_are_refused(index: Index, call: str) -> None:
    with pytest.raises(UsageError):
        NAMELESS[call](index)


CLOSED: dict[str, Callable[[Index], object]] = {
    "len": len,
    "in": lambda index: "1" in index,
    "pairs": lambda index: list(index.pairs()),
    "clusters": lambda index: list(index.clusters(options=ClusterOptions())),
    "query": lambda index: index.query(Document("?", WORDS)),
    "get": lambda index: index.get("1"),
    "stats": lambda index: index.stats(),
    "add": lambda index: index.add(Document("a", WORDS)),
    "remove": lambda index: index.remove("1"),
    "link": lambda index: index.link(),
}


@pytest.mark.parametrize("call", CLOSED)
def test_a_closed_index_refuses_everything(index: Index, call: str) -> None:
    index.close()
    with pytest.raises(UsageError, match=r"is closed\. Open it again"):
        CLOSED[call](index)
    index.close()
    assert index.url.endswith("index.db")


def numbered(count: int) -> Iterable[Document]:
    """Yield documents, the last of which has no id."""
    yield from (Document(f"n{number}", f"text {number}") for number in range(count))
    yield Document("", "no id")


def test_what_was_added_before_a_bad_document_of_a_later_transaction_stays(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.index.ADDED_DOCUMENTS", 5)
    with pytest.raises(BadDocument):
        index.add(numbered(7))
    assert ("n4" in index, "n5" in index) == (True, False)


def test_a_question_needs_no_id(tmp_path: Path) -> None:
    with Index.ensure(tmp_path / "index.db") as index:
        index.add(Document("a", WORDS))
        assert [match.id for match in index.query(Document("", WORDS))] == ["a"]


CUT: dict[str, Callable[[Index], Iterable[Any]]] = {
    "pairs": lambda index: index.pairs(expand=True),
    "query_many": lambda index: index.query_many([Document(name, WORDS) for name in "abc"]),
    "check": lambda index: index.check(),
}


@pytest.mark.parametrize("num_read", [0, 1])
@pytest.mark.parametrize("call", CUT)
def test_an_answer_that_is_cut_by_closing_the_index_says_so(url: str, call: str, num_read: int) -> None:
    with Index.ensure(url) as index:
        index.add([Document(name, WORDS) for name in "abc"])
        with Store.open(url) as store, store.writing() as transaction:
            transaction.execute(delete(content_text))
        rows = iter(CUT[call](index))
        assert len(list(islice(rows, num_read))) == num_read
    with pytest.raises(UsageError, match="is closed, and this answer is not complete"):
        next(rows)


def test_an_answer_that_was_read_to_its_end_stays_so_when_the_index_is_closed(url: str) -> None:
    with Index.ensure(url) as index:
        index.add([Document(name, WORDS) for name in "abc"])
        rows = index.pairs(expand=True)
        assert len(list(rows)) == 3
    assert list(rows) == []


def test_an_answer_that_another_thread_reads_ends_with_an_error(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    is_inside, is_closed = threading.Event(), threading.Event()
    read = answers.rejections

    def slow(*given: Any) -> Iterator[Any]:
        is_inside.set()
        assert is_closed.wait(10)
        yield from read(*given)
        yield from "abc"

    monkeypatch.setattr(answers, "rejections", slow)
    with Index.ensure(url) as index, ThreadPoolExecutor(1) as pool:
        reader = pool.submit(list, index.rejections(1))
        assert is_inside.wait(10)
        index.close()
        is_closed.set()
        with pytest.raises(UsageError, match="is closed"):
            reader.result(10)
