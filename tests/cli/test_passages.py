"""The verbs about passages, and containment in `query` and `dupes`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

QUOTE = "to be or not to be that is the question whether it is nobler in the mind to suffer"


@pytest.fixture
def db(tmp_path: Path, lshdb: Run) -> Path:
    """An index with passages of 13 words and three documents, two of which contain a sentence."""
    texts = {"quote": QUOTE, "play": f"Hamlet said: {QUOTE}, and sat down", "other": "nothing of this kind is in here"}
    lines = (json.dumps({"id": doc_id, "text": text}) for doc_id, text in texts.items())
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    path = tmp_path / "lshdb.db"
    assert lshdb(path, "ingest", str(tmp_path / "texts.jsonl")).code == 0
    refused = lshdb(path, "passages", "quote")
    assert (refused.code, refused.out) == (54, "")
    assert refused.err.endswith("has no passages. Add them with: lshdb passages --build\n")
    built = lshdb(path, "passages", "--build")
    assert built.out.startswith("every run of 13 words that texts share is found; ")
    return path


def test_a_document_shows_its_passages(db: Path, lshdb: Run) -> None:
    found = lshdb(db, "passages", "play", "--format", "jsonl")
    assert found.code == 0
    assert json.loads(found.out) == {
        "start": 2,
        "num_words": 19,
        "num_documents": 1,
        "exact": True,
        "first": "quote",
        "text": QUOTE,
        "start_byte": 13,
        "stop_byte": 13 + len(QUOTE),
        "documents": [["quote", "default"]],
    }
    assert lshdb(db, "passages", "other").code == 1
    assert lshdb(db, "passages", "none").code == 41
    assert lshdb(db, "passages").code == 2


def test_boilerplate_is_listed(db: Path, lshdb: Run) -> None:
    found = lshdb(db, "boilerplate")
    assert found.out == f"num_documents\tnum_words\texact\tfirst\ttext\n2\t19\ttrue\tquote\t{QUOTE}\n"
    assert lshdb(db, "boilerplate", "--prefix", "play").out == "num_documents\tnum_words\texact\tfirst\ttext\n"


def test_a_query_prints_what_contains_a_text_and_what_it_contains(db: Path, tmp_path: Path, lshdb: Run) -> None:
    (tmp_path / "asked.txt").write_text(QUOTE)
    asked = str(tmp_path / "asked.txt")
    containment = ("--measure", "containment")
    assert lshdb(db, "query", asked, *containment).out == "id\tcontainment\nquote\t1.0\nplay\t1.0\n"
    assert lshdb(db, "query", "--id", "quote", *containment).out == "id\tcontainment\nplay\t1.0\n"
    assert lshdb(db, "query", "--id", "play", *containment).code == 1
    reverse = lshdb(db, "query", "--id", "play", *containment, "--reverse")
    assert reverse.out == "id\tcontainment\nquote\t1.0\n"
    (tmp_path / "short.txt").write_text("to be or not to be")
    short = lshdb(db, "query", str(tmp_path / "short.txt"), *containment)
    assert short.code == 46
    assert "has fewer than 13 words" in short.err
    assert lshdb(db, "query", asked, "--reverse").code == 2
    assert lshdb(db, "query", asked, asked, *containment).code == 2


def test_pairs_of_which_one_contains_the_other_are_listed(db: Path, lshdb: Run) -> None:
    header = "small\tlarge\tcontainment\texact\n"
    assert lshdb(db, "dupes", "--measure", "containment").out == f"{header}quote\tplay\t1.0\ttrue\n"
    assert lshdb(db, "dupes", "--measure", "containment", "--max-sim", "0.95").out == header
    assert lshdb(db, "dupes", "--measure", "containment", "--sort", "id", "--limit", "1").out.count("\n") == 2
    assert lshdb(db, "dupes", "--measure", "containment", "--complete").code == 2


def test_what_a_longer_document_contains_is_dropped(db: Path, lshdb: Run) -> None:
    members = lshdb(db, "clusters", "--measure", "containment", "--members")
    header, kept, dropped = members.out.splitlines()
    assert header == "cluster\tkeep\tdocument\tcontainment\texact"
    assert (kept.split("\t")[1:], dropped.split("\t")[1:]) == (
        ["play", "play", "1.0", "true"],
        ["play", "quote", "1.0", "true"],
    )
    assert lshdb(db, "export", "--measure", "containment").out == "play\nother\n"
    assert lshdb(db, "export").out == "quote\nplay\nother\n"
    refused = lshdb(db, "clusters", "--measure", "containment", "--linkage", "single")
    assert (refused.code, refused.err) == (2, "lshdb: --linkage is for --measure jaccard\n")


def test_a_filter_says_what_it_took_out(db: Path, tmp_path: Path, lshdb: Run) -> None:
    source, out = str(tmp_path / "texts.jsonl"), str(tmp_path / "out")
    filtered = lshdb(db, "filter", source, "--out", out, "--without-boilerplate", "2")
    assert filtered.out.split("\n", 2)[2] == (
        "boilerplate: 2 passages, 38 words, 0.0 MB, from 2 records; 1 of these had no words left\n"
        f"      2 x 19 words: {QUOTE[:80]}...\n"
    )
    assert [json.loads(line) for line in (tmp_path / "out" / "texts.jsonl").read_text().splitlines()] == [
        {"id": "play", "text": "Hamlet said: , and sat down"},
        {"id": "other", "text": "nothing of this kind is in here"},
    ]
    again = json.loads(lshdb(db, "filter", source, "--out", out, "--without-boilerplate", "2", "--json").out)
    assert again["boilerplate"] == {
        "records": 2,
        "runs": 2,
        "words": 38,
        "bytes": 2 * len(QUOTE),
        "emptied": 1,
        "passages": [{"text": QUOTE, "num_words": 19, "num_records": 2}],
    }
    for others in (["--print0"], ["--delete"], ["--out", out, "--dropped"]):
        assert lshdb(db, "filter", source, "--without-boilerplate", "2", *others).code == 2
    assert lshdb(db, "filter", "-", "--without-boilerplate", "2").code == 2


def test_passages_can_be_dropped(db: Path, lshdb: Run) -> None:
    assert lshdb(db, "passages", "--drop").code == 0
    assert lshdb(db, "boilerplate").code == 54


def test_an_explanation_shows_the_passages_that_both_documents_have(db: Path, lshdb: Run) -> None:
    shown = lshdb(db, "explain", "play", "quote", "--no-diff").out
    assert "passages     runs of 19 words are in both\n" in shown
    found = json.loads(lshdb(db, "explain", "play", "quote", "--no-diff", "--json").out)
    assert found["shared_runs"] == [{"text": QUOTE, "start": 2, "num_words": 19}]
    assert "passages     no run of 13 words is in both\n" in lshdb(db, "explain", "play", "other").out


def test_on_a_terminal_an_explanation_shows_the_passages_in_colour(
    db: Path, lshdb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert f"\x1b[36m{QUOTE}\x1b[0m\n" in lshdb(db, "explain", "play", "quote", "--no-diff").out


def test_the_figures_count_frequent_fingerprints(db: Path, lshdb: Run) -> None:
    assert "passages    of 13 words; 0 frequent fingerprints\n" in lshdb(db, "stats").out
