"""``lshdb tune`` and ``reband``, the options of a promise, and notes on questions beyond it."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from lshdb import Index
from lshdb.store.dialect import INGEST
from tests.cli.conftest import Run

CRAWL = Path(__file__).parents[2] / "sample_data" / "crawl"
PLUM_CAKE = CRAWL / "recipes" / "plum-cake.md"


@pytest.fixture
def index(url: str, lshdb: Run) -> str:
    """An index of the sample crawl with default parameters."""
    assert lshdb(url, "--quiet", "ingest", CRAWL, "--base", CRAWL).code == 0
    return url


# Making an index.


def test_init_takes_a_similarity_and_a_recall_and_says_what_follows(url: str, lshdb: Run) -> None:
    ended = lshdb(url, "init", "--min-sim", 0.6, "--recall", 0.99, "--num-perm", 100)
    assert ended.code == 0
    assert "19 bands of 3 rows" in ended.out
    assert "a pair at 0.6 is found with probability 0.9902" in ended.out
    with Index.open(url) as index:
        assert (index.params.min_sim, index.params.num_perm) == (0.6, 100)


def test_the_first_ingest_takes_them_too_and_later_ones_may_repeat_them_but_not_ask_for_more(
    url: str, lshdb: Run
) -> None:
    promise = ["--min-sim", 0.7, "--recall", 0.9, "--num-perm", 128]
    assert lshdb(url, "ingest", CRAWL, *promise).code == 0
    assert lshdb(url, "ingest", CRAWL, *promise).code == 0
    assert lshdb(url, "ingest", CRAWL, "--recall", 0.85).code == 0
    for other in (["--recall", 0.9999], ["--min-sim", 0.8], ["--num-perm", 100]):
        ended = lshdb(url, "ingest", CRAWL, *other)
        assert ended.code == 15, other
        assert f"was created with {other[0]}" in ended.err


@pytest.mark.sqlite
def test_a_promise_that_cannot_be_kept_is_wrong_usage_and_makes_no_index(tmp_path: Path, lshdb: Run) -> None:
    path = tmp_path / "none.db"
    for options in (["--bands", 9, "--rows", 13], ["--num-perm", 2]):
        ended = lshdb(path, "init", "--min-sim", 0.8, "--recall", 0.999, *options)
        assert ended.code == 2
        assert "cannot find pairs at 0.8 with recall 0.999. They reach recall" in ended.err
        assert not path.exists()


# Tuning.


@pytest.mark.sqlite
def test_without_an_index_tune_reckons_with_a_typical_crawl_and_says_so(tmp_path: Path, lshdb: Run) -> None:
    ended = lshdb(tmp_path / "none.db", "tune")
    assert ended.code == 0
    assert "there is no index here" in ended.err
    assert ended.out.startswith("bands\trows\tminima\trecall\tcandidates\tbytes\tthreshold\t")
    assert [row[:4] for row in ended.rows if row[-1] == "chosen"] == [["23", "6", "138", "0.99908"]]
    assert not (tmp_path / "none.db").exists()
    assert lshdb(tmp_path / "none.db", "--quiet", "tune").err == ""


@pytest.mark.sqlite
def test_tune_draws_the_curve_in_the_terminal(tmp_path: Path, lshdb: Run) -> None:
    out = lshdb(tmp_path / "none.db", "tune", "--format", "table", "--min-sim", 0.5, "--recall", 0.9).out
    assert "similarity  found  with 36 bands of 4 rows" in out
    marked = [line for line in out.splitlines() if line.endswith("<")]
    assert marked == [f"{0.5:10.2f}  0.902  {'#' * 45} <"]
    assert f"{1.0:10.2f}  1.000  {'#' * 50}" in out.splitlines()


@pytest.mark.sqlite
def test_more_contents_to_reckon_with_are_more_candidates_and_more_rows(tmp_path: Path, lshdb: Run) -> None:
    few, many = (
        {row[1]: row for row in lshdb(tmp_path / "none.db", "tune", "--contents", number).rows}
        for number in (200_000, 20_000_000)
    )
    assert float(many["5"][4]) == pytest.approx(100 * float(few["5"][4]), rel=1e-3)
    assert few["6"][-1] == "chosen"
    assert many["11"][-1] == "chosen"


def test_with_an_index_tune_says_what_it_has_and_what_it_would_choose(index: str, lshdb: Run) -> None:
    found = json.loads(lshdb(index, "tune", "--json").out)
    assert (found["min_sim"], found["recall"], found["measured"]) == (0.8, 0.999, None)
    assert (found["now"]["bands"], found["now"]["rows"], found["now"]["note"]) == (20, 5, "now")
    assert [option["bands"] for option in found["options"] if option["note"] == "chosen"] == [18]
    rows = lshdb(index, "tune").rows
    assert rows[0][:2] == ["20", "5"]
    assert rows[0][-1] == "now"


def test_what_is_measured_is_printed_kept_and_shown_by_stats(index: str, lshdb: Run) -> None:
    measured = json.loads(lshdb(index, "tune", "--measure", "--json", "--seed", 7).out)["measured"]
    assert (measured["recall"], measured["low"], measured["high"], measured["seed"]) == (1.0, 1.0, 1.0, 7)
    assert measured["num_probes"] == measured["num_contents"] == 27
    assert measured["confidence"] == 0.99
    line = "recall      1.0000 at 0.8: 6 of 6 pairs of 27 of 27 texts, run 2"
    assert line in lshdb(index, "stats").out.splitlines()
    assert line in lshdb(index, "tune", "--format", "table").out.splitlines()
    assert json.loads(lshdb(index, "stats", "--json").out)["measured"] == measured
    part = lshdb(index, "tune", "--measure", "--probes", 20, "--format", "table").out.splitlines()[-1]
    interval = r"1\.0000 at 0\.8, 0\.\d{4} to 1\.0000 with 99% confidence"
    assert re.fullmatch(rf"recall      {interval}: \d+ of \d+ pairs of 20 of 27 texts, run 3", part)


def test_measuring_takes_an_index(url: str, lshdb: Run) -> None:
    assert lshdb(url, "tune", "--measure").code == 11


# Named bands.


@pytest.mark.sqlite
def test_named_bands_are_shown_without_an_index_whatever_they_find(tmp_path: Path, lshdb: Run) -> None:
    named = ["--bands", 7, "--rows", 4, "--bands", 20, "--rows", 5]
    ended = lshdb(tmp_path / "none.db", "tune", *named, "--min-sim", 0.7)
    assert ended.code == 0
    # The recall at 0.7, the threshold (1/b)^(1/r), the areas below and above 0.7, and the note.
    assert [[row[at] for at in (0, 1, 2, 3, 6, 7, 8, 9)] for row in ended.rows] == [
        ["7", "4", "100", "0.85368", "0.615", "0.163", "0.0083", ""],
        ["20", "5", "100", "0.97478", "0.549", "0.1994", "0.0007", ""],
    ]
    out = lshdb(tmp_path / "none.db", "tune", *named, "--format", "table").out
    assert "with 7 bands of 4 rows" in out
    assert "with 20 bands of 5 rows" in out


def test_named_bands_are_shown_next_to_those_of_the_index(index: str, lshdb: Run) -> None:
    rows = lshdb(index, "tune", "--bands", 7, "--rows", 4).rows
    assert [(*row[:2], row[-1]) for row in rows] == [("20", "5", "now"), ("7", "4", "")]


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("named", "said"),
    [
        (["--bands", 7], "give --bands and --rows together"),
        (["--bands", 7, "--rows", 4, "--rows", 5], "give --bands and --rows together"),
        (["--bands", 7, "--rows", 4, "--recall", 0.9], "--recall chooses the bands"),
        (["--bands", 7, "--rows", 4, "--num-perm", 27], "bands * rows"),
    ],
    ids=["no rows", "one row too many", "a recall", "too few minima"],
)
def test_bands_that_mean_nothing_are_wrong_usage(named: list[object], said: str, tmp_path: Path, lshdb: Run) -> None:
    ended = lshdb(tmp_path / "none.db", "tune", *named)
    assert ended.code == 2
    assert said in ended.err


# Figures.


@pytest.mark.sqlite
@pytest.mark.parametrize(("suffix", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("html", b"<!doctype html>")])
def test_the_plot_is_a_file_of_its_kind(suffix: str, begin: bytes, tmp_path: Path, lshdb: Run) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"curve.{suffix}"
    assert lshdb(tmp_path / "none.db", "tune", "--plot", path).code == 0
    assert path.read_bytes().startswith(begin)
    assert len(path.read_bytes()) > 5_000


def test_the_plot_of_a_measured_index_has_its_points(index: str, tmp_path: Path, lshdb: Run) -> None:
    pytest.importorskip("matplotlib")
    theory, measured = tmp_path / "theory.html", tmp_path / "measured.html"
    assert lshdb(index, "tune", "--plot", theory).code == 0
    assert lshdb(index, "tune", "--measure", "--plot", measured).code == 0
    assert "<!-- measured -->" not in theory.read_text()
    for said in (
        "<!-- measured -->",
        "<!-- false negatives: pairs missed, area 0.0000 -->",
        "<!-- 20 bands of 5 rows -->",
    ):
        assert said in measured.read_text()
    assert "<?xml" not in measured.read_text()


@pytest.mark.sqlite
def test_the_plot_of_one_banding_has_its_areas_and_that_of_several_has_all_curves_and_thresholds(
    tmp_path: Path, lshdb: Run
) -> None:
    pytest.importorskip("matplotlib")
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    named = ["--bands", 7, "--rows", 4]
    assert lshdb(tmp_path / "none.db", "tune", *named, "--min-sim", 0.7, "--plot", one).code == 0
    for said in (
        "7 bands of 4 rows",
        "threshold (1/7)^(1/4) = 0.615",
        "false positives: candidates below, area 0.1630",
    ):
        assert f"<!-- {said} -->" in one.read_text()
    assert lshdb(tmp_path / "none.db", "tune", *named, "--bands", 20, "--rows", 5, "--plot", two).code == 0
    for said in ("7 bands of 4 rows", "20 bands of 5 rows", "threshold (1/20)^(1/5) = 0.549"):
        assert f"<!-- {said} -->" in two.read_text()
    assert "area" not in two.read_text()


@pytest.mark.sqlite
def test_the_same_plot_has_the_same_bytes(tmp_path: Path, lshdb: Run) -> None:
    pytest.importorskip("matplotlib")
    paths = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for path in paths:
        assert lshdb(tmp_path / "none.db", "tune", "--plot", path).code == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.sqlite
def test_what_cannot_be_drawn_is_wrong_usage(tmp_path: Path, lshdb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = lshdb(tmp_path / "none.db", "tune", "--plot", tmp_path / "curve.gif")
    assert (ended.code, "must end with .svg, .png, .html" in ended.err) == (2, True)
    ended = lshdb(tmp_path / "none.db", "tune", "--plot", tmp_path / "no" / "curve.svg")
    assert (ended.code, "there is no such folder" in ended.err) == (62, True)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ended = lshdb(tmp_path / "none.db", "tune", "--plot", tmp_path / "curve.svg")
    assert (ended.code, "pip install matplotlib" in ended.err) == (2, True)


# Other bands.


def test_reband_says_what_changed_and_finds_what_was_missed(index: str, lshdb: Run) -> None:
    ended = lshdb(index, "reband", "--min-sim", 0.5, "--recall", 0.999)
    assert ended.code == 0
    assert re.match(
        r"run 2: 25 bands of 2 rows instead of 20 of 5; recall 0\.9992 promised at 0\.5; 13 pairs; [\d.]+ s$", ended.out
    )
    assert "recall      0.9992 promised at 0.5" in lshdb(index, "stats").out
    assert lshdb(index, "dupes").err == ""
    again = json.loads(lshdb(index, "reband", "--min-sim", 0.5, "--json").out)
    assert again["before"] == again["after"]
    assert (again["run"], again["after"]["bands"], again["pairs"]) == (3, 25, 13)


def test_the_floor_follows_a_reband_down(url: str, tmp_path: Path, lshdb: Run) -> None:
    words = [f"word{number}" for number in range(30)]
    (tmp_path / "a.txt").write_text(" ".join(words))
    # Ten of its 26 shingles differ.
    (tmp_path / "b.txt").write_text(" ".join({8: "one", 20: "two"}.get(at, word) for at, word in enumerate(words)))
    assert lshdb(url, "ingest", tmp_path, "--base", tmp_path).code == 0
    assert lshdb(url, "dupes", "--min-sim", 0.4).code == 2
    assert lshdb(url, "reband", "--min-sim", 0.4).code == 0
    assert lshdb(url, "dupes").rows == [["a.txt", "b.txt", str(16 / 36), "true"]]


def test_a_reband_that_the_minima_cannot_reach_is_refused_with_the_nearest(index: str, lshdb: Run) -> None:
    ended = lshdb(index, "reband", "--min-sim", 0.05)
    assert ended.code == 2
    assert "They reach recall 0.994 at 0.05, or recall 0.999 from 0.067 on." in ended.err
    assert "recall      0.9996 promised at 0.8" in lshdb(index, "stats").out


def test_a_nightly_ingest_goes_on_after_a_reband(index: str, tmp_path: Path, lshdb: Run) -> None:
    assert lshdb(index, "reband", "--min-sim", 0.6).code == 0
    (tmp_path / "more.txt").write_text(PLUM_CAKE.read_text() + " And serve.")
    assert lshdb(index, "ingest", tmp_path / "more.txt", "--base", tmp_path).code == 0
    assert "more.txt" in lshdb(index, "query", PLUM_CAKE).out


@pytest.mark.sqlite
def test_a_reband_waits_for_no_ingest_unless_it_is_told_to(tmp_path: Path, lshdb: Run) -> None:
    url = str(tmp_path / "index.db")
    with Index.create(url) as held, held._store.sole_work(INGEST, wait=False):
        ended = lshdb(url, "reband", "--min-sim", 0.6)
    assert ended.code == 18
    assert "Another process is writing to index" in ended.err


# Questions beyond the promise.

SHORTFALL = (
    "note  a pair at 0.5 is found with probability 0.4701; this index promises 0.9996 at 0.8 and above. "
    "To find more: lshdb --db {url} reband --min-sim 0.5\n"
)


@pytest.mark.parametrize(
    "question",
    [
        ["dupes", "--min-sim", 0.5],
        ["clusters", "--min-sim", 0.5],
        ["query", "--min-sim", 0.5, PLUM_CAKE],
        ["query", "--min-sim", 0.5, "--id", "recipes/plum-cake.md"],
    ],
    ids=lambda question: question[0],
)
def test_a_question_below_the_promise_hears_what_to_expect_and_what_to_do(
    question: list[object], index: str, lshdb: Run
) -> None:
    with Index.open(index) as opened:
        url = opened.url
    ended = lshdb(index, *question)
    assert ended.err == SHORTFALL.format(url=shlex.quote(url))
    assert lshdb(index, "--quiet", *question).err == ""
    assert lshdb(index, *question, "--format", "jsonl").out
    answers = [argument if argument != 0.5 else 0.8 for argument in question]
    assert lshdb(index, *answers).err == ""


def test_what_the_minima_cannot_reach_is_no_reband_to_recommend(url: str, lshdb: Run) -> None:
    lshdb(url, "init", "--bands", 1, "--rows", 4, "--floor", 0.1)
    assert (
        "Its 4 minima reach at most 0.3439 there. Create an index with a larger --num-perm"
        in lshdb(url, "dupes", "--min-sim", 0.1).err
    )
