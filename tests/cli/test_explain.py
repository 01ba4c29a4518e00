"""``lshdb explain`` on both databases: every reason why documents are a pair or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from lshdb import Document, Index
from lshdb.model.expansion import Expansion
from lshdb.store.schema import pair
from lshdb.store.store import Store
from tests.cli.conftest import ELEVEN, OTHER, TEN, Run
from tests.expanding import index_with


def explained(lshdb: Run, url: str, *arguments: object) -> dict[str, Any]:
    ended = lshdb(url, "explain", "--json", *arguments)
    assert (ended.code, ended.err) == (0, "")
    found: dict[str, Any] = json.loads(ended.out)
    return found


def row(out: str, name: str) -> str:
    return next(line.removeprefix(name).strip() for line in out.splitlines() if line.startswith(name))


def test_a_pair_is_explained_with_everything_that_made_it_one(lshdb: Run, filled: str) -> None:
    found = explained(lshdb, filled, "a.txt", "b.txt")
    assert (found["left"]["name"], found["left"]["is_file"], found["right"]["name"]) == ("a.txt", False, "b.txt")
    assert found["comparison"] == {
        "left_shingles": 6, "right_shingles": 7, "shared_shingles": 6,
        "similarity": 6 / 7, "left_in_right": 1.0, "right_in_left": 6 / 7,
    }  # fmt: skip
    assert (found["status"], found["pair"]) == ("pair", {"similarity": 6 / 7, "exact": True, "run": 1})
    assert found["bands"]["number"] == 20
    assert 0 < len(found["bands"]["shared"]) < 20
    assert found["probability"] == pytest.approx(1 - (1 - (6 / 7) ** 5) ** 20)
    # Four standard errors of the estimate.
    assert found["estimate"] == pytest.approx(6 / 7, abs=4 * (6 / 7 * (1 / 7) / 100) ** 0.5)
    assert [(hunk["kind"], hunk["text"]) for hunk in found["diff"]["hunks"]] == [("equal", TEN), ("added", " eleven")]


def test_the_explanation_is_readable(lshdb: Run, filled: str) -> None:
    out = lshdb(filled, "explain", "b.txt", "a.txt").out
    assert row(out, "similarity").startswith("0.8571 exact, 0.")
    assert row(out, "containment") == "0.8571 of left is in right, 1.0000 of right is in left"
    assert row(out, "shingles") == "7 and 6 distinct, 6 in both"
    assert row(out, "pair") == "yes: 0.8571, exact, linked by run 1"
    assert out.endswith(f"\n{TEN} [-eleven-]\n\n1 word removed, 0 added, 10 equal\n")


def test_a_passage_that_moved_has_a_number_at_both_places(
    lshdb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, words = str(tmp_path / "index.db"), [f"w{number}" for number in range(40)]
    moved, long, longer = " ".join(words[10:20]), *([f"{x}{n}" for n in range(300 + ord(x))] for x in "xy")
    with Index.create(url) as index:
        index.add([Document("a", " ".join(words)), Document("b", " ".join([*words[:10], *words[20:], moved]))])
        index.add([Document("c", " ".join([*long, *longer])), Document("d", " ".join([*longer, *long]))])
    out = lshdb(url, "explain", "a", "b").out
    assert f"[-(moved 1) {moved}-]" in out
    assert f"{{+(moved 1) {moved}+}}" in out
    assert out.endswith("\n10 words removed, 10 added (10 of them moved), 30 equal\n")
    # Once for each place, also if only its two ends are shown.
    assert lshdb(url, "explain", "c", "d").out.count("(moved 1)") == 2
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert f"\x1b[34m(moved 1) {moved}\x1b[0m" in lshdb(url, "explain", "a", "b").out


def test_the_diff_can_be_left_out(lshdb: Run, filled: str) -> None:
    assert "[-" not in lshdb(filled, "explain", "b.txt", "a.txt", "--no-diff").out
    assert explained(lshdb, filled, "a.txt", "b.txt", "--no-diff")["diff"] is None


def test_documents_of_one_content_need_no_pair(lshdb: Run, filled: str) -> None:
    found = explained(lshdb, filled, "a.txt", "c.txt")
    assert (found["status"], found["pair"], found["comparison"]["similarity"]) == ("same_content", None, 1.0)
    assert (found["left"]["kept_of"], found["right"]["kept_of"]) == (None, "a.txt")
    assert "its text as in a.txt" in row(lshdb(filled, "explain", "a.txt", "c.txt").out, "right")


def test_what_is_below_the_floor_is_no_pair(lshdb: Run, filled: str) -> None:
    assert explained(lshdb, filled, "a.txt", "d.txt")["status"] == "below_floor"
    said = row(lshdb(filled, "explain", "a.txt", "d.txt").out, "pair")
    assert said == "no: 0.0000 is below 0.5, the lowest similarity that this index keeps"


def test_an_empty_document_is_like_nothing(lshdb: Run, filled: str) -> None:
    found = explained(lshdb, filled, "e.txt", "a.txt")
    assert (found["status"], found["estimate"], found["comparison"]["similarity"]) == ("empty", 0.0, 0.0)
    assert explained(lshdb, filled, "e.txt", "e.txt")["bands"]["shared"] == []


def test_what_is_not_linked_yet_says_so_and_stays_unlinked(lshdb: Run, url: str, crawl: Path) -> None:
    lshdb(url, "ingest", "--no-link", "--base", crawl, crawl)
    assert explained(lshdb, url, "a.txt", "b.txt")["status"] == "not_linked"
    assert json.loads(lshdb(url, "stats", "--json").out)["figures"]["unlinked"] == 3


def test_what_lsh_missed_says_how_likely_that_was(lshdb: Run, url: str, crawl: Path) -> None:
    lshdb(url, "ingest", "--bands", "1", "--rows", "60", "--base", crawl, crawl)
    found = explained(lshdb, url, "a.txt", "b.txt")
    assert (found["status"], found["bands"]["shared"]) == ("no_shared_band", [])
    assert found["probability"] == pytest.approx((6 / 7) ** 60)
    said = row(lshdb(url, "explain", "a.txt", "b.txt").out, "pair")
    assert said == "no: LSH missed it. Two documents of this similarity share no band with P = 0.9999"


def test_what_met_only_in_a_hot_bucket_says_so(lshdb: Run, url: str) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    with index_with(Expansion(cap=2, hubs=1), url) as index:
        index.add(Document(str(number), f"{words} {number}") for number in range(7))
    found = explained(lshdb, url, "5", "6")
    assert (found["status"], found["bands"]["hot"]) == ("hot_bucket", found["bands"]["shared"])
    assert explained(lshdb, url, "0", "6")["status"] == "pair"
    assert "in buckets too hot to expand" in row(lshdb(url, "explain", "5", "6").out, "bands")


def test_a_pair_that_is_not_where_it_should_be_is_called_missing(
    lshdb: Run, filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(delete(pair))
    assert explained(lshdb, filled, "a.txt", "b.txt")["status"] == "missing"
    monkeypatch.setattr("lshdb.answers.explain.min_agreement", lambda num_perm, _floor: num_perm)
    assert explained(lshdb, filled, "a.txt", "b.txt")["status"] == "ruled_out"


# Names.


def test_a_file_that_the_index_does_not_have_is_compared_too(lshdb: Run, filled: str, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text(f"{ELEVEN} twelve")
    found = explained(lshdb, filled, "b.txt", tmp_path / "new.txt")
    assert (found["status"], found["right"]["is_file"], found["right"]["content_key"]) == ("not_in_index", True, None)
    assert found["comparison"]["similarity"] == 7 / 8
    assert explained(lshdb, filled, "b.txt", "-") is not None


def test_standard_input_is_one_of_the_two(lshdb: Run, filled: str) -> None:
    ended = lshdb(filled, "explain", "--json", "-", "b.txt", stdin=ELEVEN.encode())
    assert json.loads(ended.out)["status"] == "same_content"
    assert lshdb(filled, "explain", "-", "-", stdin=TEN.encode()).code == 2


def test_an_id_wins_over_a_file_unless_files_are_asked_for(
    lshdb: Run, filled: str, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawl)
    (crawl / "a.txt").write_text(OTHER)
    assert explained(lshdb, filled, "a.txt", "b.txt")["status"] == "pair"
    assert explained(lshdb, filled, "./a.txt", "b.txt")["status"] == "below_floor"
    found = explained(lshdb, filled, "--files", "a.txt", "d.txt")
    assert (found["status"], found["left"]["is_file"], found["right"]["is_file"]) == ("same_content", True, True)


def test_a_name_that_is_nothing_is_unknown(lshdb: Run, filled: str) -> None:
    ended = lshdb(filled, "explain", "a.txt", "nobody")
    assert ended.code == 41
    assert "'nobody'" in ended.err
    assert lshdb(filled, "explain", "--files", "a.txt", "nobody").code == 31


def test_ids_of_two_collections(lshdb: Run, filled: str, crawl: Path) -> None:
    (crawl / "a.txt").write_text(ELEVEN)
    lshdb(filled, "ingest", "--collection", "other", "--base", crawl, crawl / "a.txt")
    found = explained(lshdb, filled, "--collection", "default", "--collection", "other", "a.txt", "a.txt")
    assert found["comparison"]["shared_shingles"] == 6
    assert explained(lshdb, filled, "--collection", "other", "a.txt", "a.txt")["status"] == "same_content"
    assert lshdb(filled, "explain", "--collection", "other", "a.txt", "b.txt").code == 41
    assert lshdb(filled, "explain", *["--collection", "x"] * 3, "a.txt", "b.txt").code == 2


# Texts.


@pytest.fixture
def textless(lshdb: Run, url: str, crawl: Path) -> str:
    """An index of the crawl without texts."""
    assert lshdb(url, "ingest", "--no-keep-text", "--base", crawl, crawl).code == 0
    return url


def test_a_text_that_is_not_kept_is_read_again(lshdb: Run, textless: str) -> None:
    found = explained(lshdb, textless, "a.txt", "b.txt")
    assert (found["comparison"]["similarity"], found["pair"]["exact"]) == (6 / 7, False)
    assert found["diff"]["num_added"] == 1


def test_a_text_that_is_gone_leaves_the_estimate(lshdb: Run, textless: str, crawl: Path) -> None:
    (crawl / "b.txt").write_text(OTHER)
    found = explained(lshdb, textless, "a.txt", "b.txt")
    assert (found["left"]["is_gone"], found["right"]["is_gone"]) == (False, True)
    assert (found["comparison"], found["diff"], found["status"]) == (None, None, "pair")
    out = lshdb(textless, "explain", "a.txt", "b.txt").out
    assert "its text is neither kept nor still in its source" in row(out, "right")
    assert row(out, "similarity").endswith("estimated from 100 minima; not exact, because a text is not available")


def test_features_are_explained_like_words(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "features.sets").write_text("A 1 2 3 4\nB 1 2 3 5\n")
    lshdb(url, "ingest", "--shingle", "set", tmp_path / "features.sets")
    found = explained(lshdb, url, "A", "B")
    assert found["comparison"]["shared_shingles"] == 3
    assert [(hunk["kind"], hunk["text"].strip()) for hunk in found["diff"]["hunks"]] == [
        ("equal", "1\n2\n3"), ("removed", "4"), ("added", "5"),
    ]  # fmt: skip


def test_what_a_text_says_to_a_terminal_is_not_obeyed(lshdb: Run, url: str) -> None:
    with Index.create(url) as index:
        index.add([Document("a", f"\x1b[2J {TEN}\r\n\r\n\r\nend"), Document("b", f"{TEN} \ud800 end")])
    out = lshdb(url, "explain", "a", "b").out
    assert "[-\\x1b[2J-] one" in out
    assert "\x1b" not in out
    assert "{+\ufffd+}" in out
    assert explained(lshdb, url, "a", "b")["diff"]["num_removed"] == 1


def test_a_terminal_shows_colours_in_the_place_of_marks(
    lshdb: Run, filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert f"\n{TEN} \x1b[31meleven\x1b[0m\n" in lshdb(filled, "explain", "b.txt", "a.txt").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert f"\n{TEN} [-eleven-]\n" in lshdb(filled, "explain", "b.txt", "a.txt").out


def test_a_pair_that_a_question_linked_belongs_to_no_run(lshdb: Run, filled: str) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(pair).values(run_key=None, exact=False))
    assert row(lshdb(filled, "explain", "a.txt", "b.txt").out, "pair").endswith("estimated, linked outside a run")
