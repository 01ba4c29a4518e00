"""The report: one page without a service, of bounded size, with hostile ids and texts as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb import CollectionUnknown, Document, Index, UsageError
from lshdb.cli import options
from lshdb.web.report import CLUSTERS, report
from tests.cli.conftest import Run
from tests.cli.conftest import lshdb as lshdb
from tests.web.conftest import ELEVEN, OTHER, TEN
from tests.web.test_pages import HOSTILE, SCRIPT, Parsed

MOST_BYTES = 2_000_000


def parsed(page: str) -> Parsed:
    return Parsed(page.encode("utf-8"))


def test_the_page_shows_the_index_its_clusters_and_what_differs(filled: str) -> None:
    with Index.open(filled) as index:
        page = parsed(report(index))
    assert "Near-duplicates" in page.text
    assert "a 3 documents" in page.text
    assert [tag for tag, _ in page.elements if tag == "ins"] == ["ins", "ins"]  # The first explains the marks.
    assert "b: 0 words removed, 1 added, 10 equal." in page.text
    assert sum(named == {"class": "kept"} for _, named in page.elements) == 1
    assert "20 bands of 5 find a pair of similarity 0.8" in page.text


def test_the_page_loads_nothing_and_shows_hostile_names_as_text(url: str) -> None:
    with Index.create(url) as index:
        index.add([Document(doc_id, f"{SCRIPT} \x07 & one two three four five six") for doc_id in HOSTILE])
        index.add([Document("other", f"{SCRIPT} \x07 & one two three four five six </style>{SCRIPT}")])
        page = parsed(report(index))
    assert {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "a", "form"} == set()
    assert not any(key.startswith("on") or key in ("style", "src") for _, named in page.elements for key in named)
    (policy,) = [named["content"] or "" for _, named in page.elements if "http-equiv" in named]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert SCRIPT in page.text
    assert "\\u202egnp.exe" in page.text
    assert not {"\u202e", "\x1b", "\x07"} & set(page.text)


def test_a_run_is_shown_with_what_it_brought(filled: str) -> None:
    with Index.open(filled) as index:
        index.add([Document("e", f"{TEN} twelve"), Document("f", "words that nothing else here has, not even one")])
        night, run = report(index, run=2), index.runs(1)[0]
        with pytest.raises(UsageError, match="there is no run 3"):
            report(index, run=3)
        index.add([Document("f", f"{OTHER} too")])
        changed = parsed(report(index, run=3))
    page = parsed(night)
    assert (run.run, run.num_added) == (2, 2)
    assert "What run 2 changed" in page.text
    assert "The kept document and what the run brought" in page.text
    assert "UTC, finished." in page.text
    assert "e: 0 words removed, 1 added, 10 equal." in page.text
    assert "d" not in [line for line in page.text.splitlines() if len(line) == 1]
    assert "d 2 documents" in changed.text


@pytest.mark.sqlite
def test_a_passage_that_moved_is_marked_without_a_link(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(60)]
    with Index.create(str(tmp_path / "index.db")) as index:
        index.add([Document("a", " ".join(words)), Document("b", " ".join([*words[20:], *words[:20]]))])
        page = parsed(report(index))
    assert "b: 20 words removed, 20 added (20 of them moved), 40 equal." in page.text
    assert "1: moved away" in page.text
    assert "1: moved here" in page.text


def test_a_collection_has_its_own_clusters_and_figures(filled: str) -> None:
    with Index.open(filled) as index:
        index.add([Document("1", OTHER), Document("2", f"{OTHER} too")], "news")
        assert sum(index.histogram(within="news")) == 1
        page = parsed(report(index, "news"))
        with pytest.raises(CollectionUnknown, match="'nothing'"):
            report(index, "nothing")
        # The figures of a run are those of its own collection.
        assert "into the collection news, finished." in parsed(report(index, "default", run=2)).text
    assert "1 2 documents" in page.text
    assert "a 3 documents" not in page.text


@pytest.mark.sqlite
def test_the_page_is_small_whatever_the_index_holds(tmp_path: Path) -> None:
    def text(number: int, member: int) -> str:
        # Escaped, each quotation mark takes five bytes; every fourth word of the others differs.
        words = (f"{number}x{place}" + "x" * member * (place % 4 == 0) + '"' * 9 for place in range(600))
        return " ".join(words)

    with Index.create(str(tmp_path / "index.db"), {"shingle": "word:1", "min_sim": 0.5}) as index:
        index.add(
            Document(f"\x07{number}x{member}" + "\x07" * 1_900, text(number, min(member, 1)))
            for number in range(CLUSTERS + 1)
            for member in range(10)
        )
        page = report(index)
    assert f"{CLUSTERS} of {CLUSTERS + 1}, the largest first." in page
    assert 400_000 < len(page.encode()) < MOST_BYTES


@pytest.mark.sqlite
def test_texts_that_are_not_kept_are_not_compared(tmp_path: Path) -> None:
    with Index.create(str(tmp_path / "index.db"), {"keep_text": False}) as index:
        index.add([Document("a", TEN), Document("b", ELEVEN)])
        assert "The index keeps no texts." in report(index)


@pytest.mark.sqlite
def test_the_command_writes_the_page_or_leaves_the_file_as_it_is(
    sqlite_url: str, lshdb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.html"
    assert lshdb(sqlite_url, "report", out).code == 0
    page = out.read_text()
    assert page.startswith("<!doctype html>")
    again = lshdb(sqlite_url, "report", out)
    assert "already exists" in again.err
    unknown = lshdb(sqlite_url, "report", out, "--run", 9, "--force")
    assert (unknown.code, unknown.err) == (2, "lshdb: there is no run 9; lshdb runs lists them\n")
    assert out.read_text() == page
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []
    monkeypatch.setattr(options, "find_spec", lambda _name: None)
    missing = lshdb(sqlite_url, "report", out, "--force")
    assert missing.err == "lshdb: lshdb report needs jinja2. Run: pip install 'lshdb[web]'\n"
