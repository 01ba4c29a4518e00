"""``lshdb clusters`` on both databases: clusters, their names, and kept documents."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import ClusterOptions, Document, Index
from lshdb.model.expansion import Expansion
from tests.cli.conftest import Run
from tests.expanding import index_with

MAKING = {"bands": 50, "rows": 2, "min_sim": 0.7}


def words(first: int, count: int = 20) -> str:
    """Return consecutive words with 16 shingles of 5. Texts that start 2 words apart have similarity 14 / 18."""
    return " ".join(f"w{number}" for number in range(first, first + count))


NEAR, FAR = 14 / 18, 12 / 20
CHAIN = {"a": words(0), "b": words(2), "c": words(4)}
COPIES = {"x": words(100), "y": words(100).upper(), "z": words(100)}
OTHERS = {"alone": words(200), "empty": ""}


def add(url: str, texts: dict[str, str], collection: str = "default") -> None:
    with Index.ensure(url, MAKING) as index:
        index.add((Document(doc_id, text) for doc_id, text in texts.items()), collection)


@pytest.fixture
def filled(url: str) -> str:
    """The URL of an index of a chain a ~ b ~ c, three copies x, y, z, and two unrelated documents."""
    add(url, CHAIN | COPIES | OTHERS)
    return url


def kept(lshdb: Run, url: str, *arguments: object) -> dict[str, list[str]]:
    """Return the members of the clusters by kept document."""
    out = lshdb(url, "clusters", "--min-sim", "0.7", "--format", "jsonl", *arguments).out
    rows = [json.loads(line) for line in out.splitlines()]
    assert all(row["size"] == len(row["members"]) and row["members"][0] == row["keep"] for row in rows)
    return {row["keep"]: row["members"] for row in rows}


def names(url: str, options: ClusterOptions | None = None) -> dict[frozenset[str], str]:
    """Return the names of the clusters at 0.7 by their members."""
    with Index.open(url) as index:
        return {frozenset(one.members): one.cluster for one in index.clusters(0.7, options)}


def test_a_chain_is_a_cluster_and_copies_are_one(lshdb: Run, filled: str) -> None:
    assert kept(lshdb, filled) == {"a": ["a", "b", "c"], "x": ["x", "y", "z"]}


def test_the_threshold_holds_and_copies_stay(lshdb: Run, filled: str) -> None:
    assert kept(lshdb, filled, "--min-sim", "0.8") == {"x": ["x", "y", "z"]}
    assert kept(lshdb, filled, "--min-sim", "1.0") == {"x": ["x", "y", "z"]}
    ended = lshdb(filled, "clusters", "--min-sim", "0.4")
    assert (ended.code, ended.out) == (2, "")
    assert "--min-sim 0.4 is below this index's floor 0.5" in ended.err


def test_complete_to_keep_keeps_the_end_of_a_chain(lshdb: Run, filled: str) -> None:
    complete = ("--linkage", "complete-to-keep")
    assert kept(lshdb, filled, *complete) == {"x": ["x", "y", "z"], "a": ["a", "b"]}
    assert kept(lshdb, filled, *complete, "--prefer", "b") == {"b": ["b", "a", "c"], "x": ["x", "y", "z"]}


def test_members_are_rows_with_the_similarity_to_the_one_kept(lshdb: Run, filled: str) -> None:
    rows = lshdb(filled, "clusters", "--min-sim", "0.7", "--members").rows
    assert [row[1:] for row in rows] == [
        ["a", "a", "1.0", "true"],
        ["a", "b", repr(NEAR), "true"],
        ["a", "c", repr(FAR), "true"],
        ["x", "x", "1.0", "true"],
        ["x", "y", "1.0", "true"],
        ["x", "z", "1.0", "true"],
    ]
    assert len({row[0] for row in rows}) == 2


def test_the_largest_come_first_and_small_ones_and_those_beyond_the_limit_do_not(lshdb: Run, filled: str) -> None:
    add(filled, {"d": words(6), "e": words(300), "f": words(300)})
    assert list(kept(lshdb, filled)) == ["a", "x", "e"]
    assert list(kept(lshdb, filled, "--min-size", "3")) == ["a", "x"]
    assert list(kept(lshdb, filled, "--min-size", "4")) == ["a"]
    assert list(kept(lshdb, filled, "--limit", "1")) == ["a"]
    assert kept(lshdb, filled, "--min-size", "5") == {}
    assert lshdb(filled, "clusters", "--min-size", "1").code == 2


def test_the_formats_hold_the_same(lshdb: Run, filled: str) -> None:
    arguments = ("clusters", "--min-sim", "0.7", "--format")
    (cluster, other) = [json.loads(line)["cluster"] for line in lshdb(filled, *arguments, "jsonl").out.splitlines()]
    assert lshdb(filled, *arguments, "table").out == (
        "cluster           keep  size  members\n"
        f"{cluster}  a     3     a, b, c\n"
        f"{other}  x     3     x, y, z\n"
        "\n"
        "2 clusters\n"
    )  # fmt: skip
    rows = list(csv.reader(io.StringIO(lshdb(filled, *arguments, "csv").out)))
    assert rows[0] == ["cluster", "keep", "size", "members"]
    assert rows[1] == [cluster, "a", "3", '["a", "b", "c"]']
    assert lshdb(filled, *arguments, "tsv").rows == rows[1:]


def test_a_table_shows_a_few_members_of_many(lshdb: Run, url: str) -> None:
    add(url, {f"copy {number}": words(0) for number in range(50)})
    (_, row, *_) = lshdb(url, "clusters", "--format", "table").out.splitlines()
    assert row.endswith("50    copy 0, copy 1, copy 2, and 47 more")


def test_no_clusters_are_no_error(lshdb: Run, url: str) -> None:
    add(url, OTHERS)
    ended = lshdb(url, "clusters")
    assert (ended.code, ended.out, ended.err) == (0, "cluster\tkeep\tsize\tmembers\n", "")
    assert lshdb(url, "clusters", "--members", "--linkage", "complete-to-keep").rows == []
    add(url, {})
    with Index.open(url) as index:
        index.remove(list(OTHERS))
        assert list(index.clusters()) == []


# Names.


def test_a_cluster_keeps_its_name_while_its_first_document_lives(filled: str) -> None:
    before = names(filled)
    name = before[frozenset("abc")]
    assert name != before[frozenset("xyz")]
    add(filled, {"d": words(6)})
    assert names(filled)[frozenset("abcd")] == name
    with Index.open(filled) as index:
        index.remove(["d", "c"])
    assert names(filled)[frozenset("ab")] == name
    for keep in ("longest", "newest", "shortest-id"):
        assert names(filled, ClusterOptions(keep=keep))[frozenset("ab")] == name
    assert names(filled, ClusterOptions(linkage="complete-to-keep"))[frozenset("ab")] == name
    add(filled, {"c": words(4)})
    with Index.open(filled) as index:
        index.remove(["a"])
    assert names(filled)[frozenset("bc")] != name


def test_a_name_is_made_of_the_id_alone(new_url: Callable[[], str]) -> None:
    first, second = new_url(), new_url()
    add(first, CHAIN)
    add(second, OTHERS | CHAIN)
    assert (
        names(first)[frozenset("abc")] == names(second)[frozenset("abc")] == "38fccb4352ff0db2"
    )  # XXH3_64 of default, NUL, a


# Kept documents.


def keep_of(url: str, options: ClusterOptions) -> str:
    with Index.open(url) as index:
        (one,) = index.clusters(0.5, options)
    return one.keep


def test_each_policy_keeps_its_own(url: str) -> None:
    documents = [
        Document("the first", words(0), dated_at=5),
        Document("the longest", words(0, 24), dated_at=7),
        Document("the newest", words(1), dated_at=9),
        Document("short", words(1, 21), dated_at=6),
        Document("undated", words(0)),
    ]
    with Index.ensure(url, MAKING) as index:
        index.add(documents)
    assert keep_of(url, ClusterOptions()) == "the first"
    assert keep_of(url, ClusterOptions(keep="longest")) == "the longest"
    assert keep_of(url, ClusterOptions(keep="newest")) == "the newest"
    assert keep_of(url, ClusterOptions(keep="shortest-id")) == "short"


def test_a_tie_goes_to_the_document_that_came_first(url: str) -> None:
    add(url, {"bb": words(0), "aa": words(2), "cc": words(1)})
    for keep in ("first", "longest", "newest", "shortest-id"):
        assert keep_of(url, ClusterOptions(keep=keep)) == "bb"


def test_the_newest_of_files_is_the_last_modified(lshdb: Run, url: str, tmp_path: Path) -> None:
    for number, name in enumerate(["old", "new", "middle"]):
        (tmp_path / f"{name}.txt").write_text(words(number))
    for seconds, name in enumerate(["old", "middle", "new"]):
        os.utime(tmp_path / f"{name}.txt", (1_000_000 + seconds, 1_000_000 + seconds))
    lshdb(url, "ingest", "--base", tmp_path, "--include", "*.txt", tmp_path)
    assert keep_of(url, ClusterOptions(keep="newest")) == "new.txt"
    # A date given by a program precedes the date of a file.
    with Index.open(url) as index:
        index.add(
            [Document("dated", words(0), dated_at=1_000_003 * 10**6), Document("far", words(1), dated_at=-(2**60))]
        )
    assert keep_of(url, ClusterOptions(keep="newest")) == "dated"


def test_the_first_pattern_that_any_member_matches_wins_and_the_policy_breaks_ties(url: str) -> None:
    add(url, {"mirror/a": words(0), "www/long": words(0, 22), "www/b": words(1), "cache": words(2)})
    assert keep_of(url, ClusterOptions(prefer=("nothing", "www", "cache"))) == "www/long"
    assert keep_of(url, ClusterOptions(prefer=("cache", "www"))) == "cache"
    assert keep_of(url, ClusterOptions(prefer=("^www/",), keep="shortest-id")) == "www/b"
    assert keep_of(url, ClusterOptions(prefer=("nothing",))) == "mirror/a"


def test_a_pattern_that_is_none_is_a_usage_error(lshdb: Run, filled: str) -> None:
    ended = lshdb(filled, "clusters", "--prefer", "(")
    assert (ended.code, ended.out) == (2, "")
    assert "--prefer (: not a valid regular expression" in ended.err


# Pairs that the index does not store.


@pytest.mark.parametrize("keep", ["first", "longest"])
@pytest.mark.parametrize("rounds", [30, 1])
def test_documents_of_a_hot_bucket_are_compared_with_the_one_kept(
    rounds: int, keep: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first has stored pairs with all others; the longest has a single pair."""
    monkeypatch.setattr("lshdb.clusters.keep.ROUNDS", rounds)
    head = words(0, 100)
    with index_with(Expansion(cap=2, hubs=1), url, **MAKING) as index:
        index.add(Document(f"d{number}", f"{head} {words(1000 * number, number)}") for number in range(10))
        assert index.stats().figures.num_pairs < 45
        found = list(index.members(0.8, ClusterOptions(keep=keep, linkage="complete-to-keep")))  # type: ignore[arg-type]
    last = "d9" if keep == "longest" else "d0"
    assert {(one.keep, one.exact) for one in found} == {(last, True)}
    assert sorted(one.document for one in found) == [f"d{number}" for number in range(10)]
    similarity = {one.document: one.similarity for one in found}
    assert similarity[last] == 1.0
    assert similarity["d4"] == (96 / (96 + 4 + 9) if keep == "longest" else 96 / 100)


def test_what_is_left_after_the_rounds_follows_the_stored_pairs(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    add(url, {f"d{number:02}": words(2 * number) for number in range(12)})
    complete = ClusterOptions(linkage="complete-to-keep")
    whole = names(url, complete)
    assert sorted(map(sorted, whole)) == [[f"d{2 * n:02}", f"d{2 * n + 1:02}"] for n in range(6)]
    for rounds in (0, 1, 3):
        monkeypatch.setattr("lshdb.clusters.keep.ROUNDS", rounds)
        monkeypatch.setattr("lshdb.clusters.clusters.SWEPT_CONTENTS", 2)
        monkeypatch.setattr("lshdb.clusters.clusters.PART_PAIRS", 3)
        assert names(url, complete) == whole


def test_without_texts_similarities_are_estimates(url: str) -> None:
    with Index.ensure(url, MAKING | {"keep_text": False}) as index:
        index.add(Document(doc_id, text) for doc_id, text in (CHAIN | COPIES).items())
        found = {one.document: one for one in index.members(0.5)}
    assert [found[name].exact for name in "abcxyz"] == [True, False, False, True, True, True]
    assert 0.4 < found["c"].similarity < 0.8


# Collections.


@pytest.fixture
def collected(filled: str) -> str:
    """The same, with a second collection that reuses ids of the first."""
    add(filled, {"a": words(2), "z": words(100), "n": words(300), "m": words(300)}, "second")
    return filled


def test_clusters_take_the_documents_of_all_collections(lshdb: Run, collected: str) -> None:
    rows = lshdb(collected, "clusters", "--min-sim", "0.7", "--members").rows
    assert [row[1:3] + row[5:] for row in rows] == [
        ["a", "a", "default", "default"],
        ["a", "b", "default", "default"],
        ["a", "c", "default", "default"],
        ["a", "a", "second", "default"],
        ["x", "x", "default", "default"],
        ["x", "y", "default", "default"],
        ["x", "z", "default", "default"],
        ["x", "z", "second", "default"],
        ["n", "n", "second", "second"],
        ["n", "m", "second", "second"],
    ]


def test_within_takes_the_documents_of_one(lshdb: Run, collected: str) -> None:
    assert kept(lshdb, collected, "--within", "second") == {"n": ["n", "m"]}
    assert kept(lshdb, collected, "--within", "default") == {"a": ["a", "b", "c"], "x": ["x", "y", "z"]}
    complete = ("--linkage", "complete-to-keep", "--within")
    assert kept(lshdb, collected, *complete, "default") == {"x": ["x", "y", "z"], "a": ["a", "b"]}
    assert len(lshdb(collected, "clusters", "--within", "second", "--members").rows[0]) == 5
    ended = lshdb(collected, "clusters", "--within", "nobody")
    assert (ended.code, ended.out) == (42, "")


def test_a_chain_that_only_another_collection_holds_together_is_none_within(
    lshdb: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(url, {"a": words(0), "c": words(4), "d": words(1, 18)})
    add(url, {"b": words(2)}, "second")
    assert kept(lshdb, url) == {"a": ["a", "c", "d", "b"]}
    assert kept(lshdb, url, "--within", "default") == {"a": ["a", "d"]}
    monkeypatch.setattr("lshdb.clusters.keep.ROUNDS", 0)
    assert kept(lshdb, url, "--within", "default", "--linkage", "complete-to-keep") == {"a": ["a", "d"]}


def test_documents_of_one_name_in_two_collections_are_two(url: str) -> None:
    for collection in ("one", "two"):
        add(
            url,
            {"a": words(0), "b": words(1)} if collection == "one" else {"a": words(500), "b": words(501)},
            collection,
        )
    with Index.open(url) as index:
        found = list(index.clusters(0.7))
    assert [one.members for one in found] == [("a", "b"), ("a", "b")]
    assert len({one.cluster for one in found}) == 2


def test_a_question_links_by_itself(lshdb: Run, url: str, tmp_path: Path) -> None:
    for name, text in CHAIN.items():
        (tmp_path / f"{name}.txt").write_text(text)
    making = ("--bands", 50, "--rows", 2)
    lshdb(url, "ingest", "--no-link", "--base", tmp_path, "--include", "*.txt", *making, tmp_path)
    assert kept(lshdb, url) == {"a.txt": ["a.txt", "b.txt", "c.txt"]}
