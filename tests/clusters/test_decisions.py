"""What people decide: which pairs do not count, which documents are kept, and that decisions outlive documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lshdb import (
    ClusterOptions,
    Decision,
    DecisionUnknown,
    Document,
    DocumentUnknown,
    ExportOptions,
    FilterOptions,
    Index,
    IngestOptions,
    SameText,
    SourceUnreadable,
    UsageError,
)
from lshdb.model.arrays import PairPlaces

# Similarities of word sets: a-b 0.8, b-c 0.8, a-c 0.6; e is a copy of a.
TEXTS = {
    "a": "ant bee cat dog elk fox gnu hen",
    "b": "ant bee cat dog elk fox gnu hen ibis jay",
    "c": "ant bee cat dog elk fox hen ibis jay koi",
    "e": "ANT bee cat dog elk fox gnu hen",
}
SETS = {"shingle": "word:1", "bands": 100, "rows": 1, "floor": 0.3}
NEAR = ClusterOptions(linkage="complete-to-keep")
AB = Decision("different", "a", "b", who="Ada", reason="two editions")


@pytest.fixture
def index(url: str) -> Iterator[Index]:
    """An index of four documents, three of them a chain."""
    with Index.create(url, SETS) as index:
        index.add(Document(doc_id, text) for doc_id, text in TEXTS.items())
        yield index


def clusters(index: Index, min_sim: float = 0.5, options: ClusterOptions | None = None) -> list[tuple[str, ...]]:
    """Return the members of the clusters, the kept one first."""
    return [one.members for one in index.clusters(min_sim, options)]


def test_a_cluster_falls_apart_where_nothing_else_connects_it(index: Index) -> None:
    assert clusters(index, 0.75) == [("a", "b", "c", "e")]
    index.decide(AB)
    # The copy of a is also apart from b: a decision is about texts.
    assert clusters(index, 0.75) == [("a", "e"), ("b", "c")]


def test_a_cluster_stays_whole_where_another_document_connects_it(index: Index) -> None:
    index.decide(AB)
    assert clusters(index, 0.5) == [("a", "b", "c", "e")]
    assert [one.documents for one in index.decisions([("default", name) for name in "abce"])] == [AB.documents]


def test_no_document_is_dropped_for_one_that_it_is_different_from(index: Index) -> None:
    assert clusters(index, 0.5, NEAR) == [("a", "b", "c", "e")]
    index.decide(AB)
    assert clusters(index, 0.5, NEAR) == [("a", "c", "e")]
    index.decide(Decision("different", "c", "a", who="Ada"))
    assert clusters(index, 0.5, NEAR) == [("a", "e"), ("b", "c")]


def test_a_long_chain_follows_decisions_too(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lshdb.clusters.keep.ROUNDS", 0)
    index.decide(AB)
    assert clusters(index, 0.5, NEAR) == [("a", "c", "e")]


def test_the_document_that_was_chosen_last_is_kept(index: Index) -> None:
    index.decide(Decision("keep", "c", who="Ada"))
    assert clusters(index) == [("c", "a", "b", "e")]
    assert clusters(index, options=ClusterOptions(keep="longest", prefer=("^a",))) == [("c", "a", "b", "e")]
    index.decide(Decision("keep", "e", who="Ada"))
    assert clusters(index) == [("e", "a", "b", "c")]
    assert clusters(index, 0.75, NEAR)[0] == ("e", "a", "b")
    index.decide(Decision("keep", "c", who="Bob"))
    assert clusters(index) == [("c", "a", "b", "e")]
    assert [(one.id, one.who) for one in index.decisions()] == [("c", "Bob"), ("e", "Ada")]


def test_a_longer_text_does_not_contain_one_that_it_is_different_from(url: str) -> None:
    words = [f"word{number}" for number in range(40)]
    options = ClusterOptions(measure="containment")
    with Index.create(url, {"passages": 5}) as index:
        index.add([Document("all", " ".join(words)), Document("half", " ".join(words[:20]))])
        assert clusters(index, 0.9, options) == [("all", "half")]
        index.decide(Decision("different", "all", "half", who="Ada"))
        assert clusters(index, 0.9, options) == []


def test_an_export_and_a_filter_follow_decisions(index: Index, tmp_path: Path) -> None:
    lines = "".join(f"{json.dumps({'id': doc_id, 'text': text})}\n" for doc_id, text in TEXTS.items())
    (tmp_path / "pages.jsonl").write_text(lines)
    index.remove(list(TEXTS))
    index.ingest(tmp_path / "pages.jsonl")
    index.decide(AB)
    index.decide(Decision("keep", "e", who="Ada"))
    index.export(tmp_path / "kept.txt", 0.5, ExportOptions(what="kept"))
    assert (tmp_path / "kept.txt").read_text() == "b\ne\n"
    index.filter([tmp_path / "pages.jsonl"], tmp_path / "out", 0.5, FilterOptions())
    kept = [json.loads(line)["id"] for line in (tmp_path / "out" / "pages.jsonl").read_text().splitlines()]
    assert kept == ["b", "e"]


def test_a_document_that_arrives_does_not_meet_those_it_is_different_from(index: Index) -> None:
    index.decide(AB)
    found = index.put(Document("b", TEXTS["b"]), 0.5)
    assert [match.id for match in found.matches] == ["c"]
    index.remove(["b", "c"])
    assert index.put(Document("b", TEXTS["b"]), 0.5, only_new=True).outcome == "added"
    assert index.put(Document("x", TEXTS["b"]), 0.5, only_new=True).outcome == "refused"


def test_a_decision_outlives_its_documents_and_their_texts(index: Index) -> None:
    index.decide(AB)

    def state() -> str:
        (found,) = index.decisions()
        return found.state

    assert state() == "valid"
    index.remove("b")
    assert state() == "absent"
    index.reband(0.4)
    index.add(Document("b", TEXTS["b"]))
    assert state() == "valid"
    assert clusters(index, 0.75) == [("a", "e"), ("c", "b")]
    index.add(Document("b", f"{TEXTS['b']} lynx"))
    assert state() == "changed"
    assert clusters(index, 0.7) == [("a", "e"), ("c", "b")]
    index.add(Document("b", TEXTS["a"]))
    assert state() == "same_text"
    assert clusters(index, 0.75) == [("a", "e", "b")]
    assert list(index.check()) == []


def test_a_decision_outlives_an_ingest_that_brings_its_documents_again(url: str, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).with_suffix(".txt").write_text(TEXTS[name])
    one, other = (str(tmp_path / f"{name}.txt") for name in "ab")
    with Index.create(url, SETS) as index:
        index.ingest([tmp_path / "a.txt", tmp_path / "b.txt"])
        index.decide(Decision("different", one, other, who="Ada"))
        for name in "ab":
            (tmp_path / f"{name}.txt").write_text(f"{TEXTS[name]} again")
        index.ingest([tmp_path / "a.txt", tmp_path / "b.txt"], IngestOptions(prune=True))
        assert clusters(index, 0.5) == []
        (tmp_path / "b.txt").unlink()
        index.ingest([tmp_path], IngestOptions(prune=True))
        (tmp_path / "b.txt").write_text(TEXTS["b"])
        index.ingest([tmp_path], IngestOptions(prune=True))
        assert clusters(index, 0.5) == []


def test_decisions_are_copied_and_imported(index: Index, new_url: object, tmp_path: Path) -> None:
    index.decide(AB)
    index.decide(Decision("keep", "c", who="\u05e9 <b>", reason="line\nend"))
    index.import_decisions([Decision("different", "a", "z", "Bob", other_collection="news", decided_at="2020-01-01")])
    copy = str(tmp_path / "copy.db")
    index.copy(copy)
    with Index.open(copy) as other:
        assert other.decisions() == index.decisions()
        assert clusters(other, 0.75) == clusters(index, 0.75)
    with Index.create(str(tmp_path / "new.db"), SETS) as other:
        made = list(reversed(index.decisions()))
        assert other.import_decisions(made).num_added == 3
        report = other.import_decisions(made)
        assert (report.num_added, report.num_unchanged) == (0, 3)
        assert other.decisions() == [replace(one, state="absent") for one in index.decisions()]
        other.add(Document(doc_id, text) for doc_id, text in TEXTS.items())
        assert clusters(other, 0.75) == clusters(index, 0.75)


def test_of_two_decisions_about_the_same_documents_the_later_one_stays(index: Index) -> None:
    early = replace(AB, decided_at="2020-01-01T00:00:00+02:00", who="early")
    late = Decision("different", "b", "a", who="late", decided_at="2021-01-01")
    assert index.import_decisions([late, early]).num_added == 1
    assert [one.who for one in index.decisions()] == ["late"]
    assert index.decide(early).who == "early"
    assert [one.who for one in index.decisions()] == ["early"]
    assert index.import_decisions([late]).num_unchanged == 1


def test_decisions_among_documents_are_cut_like_all_decisions(index: Index) -> None:
    for one in "abc":
        index.decide(Decision("keep", one, who="Ada"))
    names = [("default", "a"), ("default", "b")]
    assert [one.id for one in index.decisions(names)] == ["b", "a"]
    assert [one.id for one in index.decisions(names, limit=1)] == ["b"]
    assert [one.id for one in index.decisions(names, before=2)] == ["a"]


def test_a_decision_is_undone_by_its_number(index: Index) -> None:
    before = index.state()
    first, second = index.decide(AB), index.decide(Decision("keep", "c", who="Ada"))
    assert (first.decision, second.decision) == (1, 2)
    with pytest.raises(DecisionUnknown, match="no decision 7"):
        index.undo([1, 7])
    states = {before, index.state()}
    assert index.undo(2) == 1
    assert index.decisions() == [first]
    states.add(index.state())
    assert index.undo([1, 1]) == 1
    assert clusters(index, 0.75) == [("a", "b", "c", "e")]
    assert index.decide(AB).decision == 3
    assert len(states) == 3


def test_what_cannot_be_decided_is_refused(index: Index) -> None:
    with pytest.raises(SameText, match="'a' and 'e' have the same text"):
        index.decide(Decision("different", "a", "e", who="Ada"))
    with pytest.raises(DocumentUnknown):
        index.decide(Decision("different", "a", "nothing", who="Ada"))
    with pytest.raises(DocumentUnknown):
        index.decide(Decision("keep", "a", who="Ada", collection="news"))
    for wrong in (
        {"other": "a"},
        {"other": None},
        {"kind": "keep"},
        {"who": ""},
        {"who": "x" * 201},
        {"reason": "x" * 2_001},
        {"reason": "a\0b"},
        {"id": "\ud800"},
        {"other": "x" * 2_601},
        {"decided_at": "yesterday"},
        {"decided_at": "0001-01-01T00:00:00+14:00"},
    ):
        with pytest.raises(UsageError):
            replace(AB, **wrong)
    assert index.decisions() == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no JSON", "line 2 holds no decision"),
        ('{"kind": "same", "id": "a", "who": "Ada"}', "Invalid enum value 'same'"),
        ('{"kind": "keep", "id": 7, "who": "Ada"}', "Expected `str`, got `int`"),
        ('{"kind": "keep", "id": "a", "who": ""}', "the name of a person has 1 to 200 bytes"),
        ("[" * 200_000, "line 2 holds no decision"),
        ("", "line 2 holds no decision"),
    ],
)
@pytest.mark.sqlite
def test_a_line_that_is_no_decision_is_named(line: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text(f'{{"kind": "keep", "id": "a", "who": "Ada"}}\n{line}\n')
    with Index.create(tmp_path / "index.db") as index, pytest.raises(SourceUnreadable, match=reason):
        index.import_decisions(path)


@pytest.mark.sqlite
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    # Opening it succeeds, and reading from its beginning fails.
    with Index.create(tmp_path / "index.db") as index, pytest.raises(SourceUnreadable, match="/proc/self/mem"):
        index.import_decisions("/proc/self/mem")


def test_pairs_are_found_among_others() -> None:
    none, some = (PairPlaces(np.array(pairs, dtype=np.int64).reshape(-1, 2)) for pairs in ([], [(3, 9), (1, 4)]))
    asked = np.array([(1, 4), (4, 1), (3, 4), (3, 9), (0, 9), (9, 99)])
    assert none.holds(asked).tolist() == [False] * 6
    assert some.holds(asked).tolist() == [True, False, False, True, False, False]
