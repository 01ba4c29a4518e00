"""Normal use of every verb, on both databases."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
import typer.main
from sqlalchemy import func, select, update

from lshdb.cli.app import app
from lshdb.errors import SourceRejected
from lshdb.index import Index
from lshdb.model.params import Params
from lshdb.store.schema import band_bucket, content, document, pair, run, unlinked
from lshdb.store.store import Store
from lshdb.store.upgrade import REVISIONS
from tests.cli.conftest import ELEVEN, OTHER, TEN, Run, write_jsonl

NEAR = repr(6 / 7)

VERBS = [
    "load",
    "serve",
    "spark",
    "backup",
    "captures",
    "runs",
    "check",
    "copy",
    "decisions",
    "vacuum",
    "init",
    "ingest",
    "dupes",
    "clusters",
    "export",
    "filter",
    "contaminated",
    "query",
    "report",
    "explain",
    "verify",
    "stats",
    "tune",
    "reband",
    "link",
    "remove",
    "upgrade",
    "passages",
    "boilerplate",
]


def figures(lshdb: Run, url: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(lshdb(url, "stats", "--json").out)["figures"]
    return found


# init, ingest


def test_init_makes_an_index_once(lshdb: Run, url: str) -> None:
    ended = lshdb(url, "init", "--shingle", "char:9", "--scheme", "universal", "--bands", "10", "--rows", "4")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0].endswith(": char:9, universal, 10 bands of 4 rows")
    assert ended.out.splitlines()[1] == "a pair at 0.8 is found with probability 0.9949"
    params = json.loads(lshdb(url, "stats", "--json").out)["params"]
    assert (params["shingle"], params["scheme"], params["bands"], params["rows"]) == ("char:9", "universal", 10, 4)
    again = lshdb(url, "init")
    assert again.code == 23
    assert "There is already an index at" in again.err


def test_init_draws_a_secret_seed(lshdb: Run, tmp_path: Path) -> None:
    seeds = set()
    for name in ("a.db", "b.db"):
        lshdb(str(tmp_path / name), "init", "--secret-seed")
        seeds.add(json.loads(lshdb(str(tmp_path / name), "stats", "--json").out)["params"]["seed"])
    assert len(seeds) == 2
    assert min(seeds) >= 0
    both = lshdb(str(tmp_path / "c.db"), "init", "--seed", "7", "--secret-seed")
    assert (both.code, "--secret-seed draws it" in both.err) == (2, True)


def test_stats_warns_of_an_index_with_forgeable_hashes(lshdb: Run, url: str) -> None:
    warning = "hashes      unicode14-1: a hostile text can pass for another one; lshdb upgrade or a new index helps"
    Index.create(url, Params(table_version="unicode14-1")).close()
    assert warning in lshdb(url, "stats").out.splitlines()


def test_an_index_with_forgeable_hashes_keeps_them(lshdb: Run, url: str, crawl: Path) -> None:
    Index.create(url, Params(table_version="unicode14-1")).close()
    lshdb(url, "ingest", crawl)
    copied = lshdb(url, "stats", "--json")
    assert json.loads(copied.out)["params"]["table_version"] == "unicode14-1"
    assert lshdb(url, "check", "--all").code == 0


def test_ingest_prints_the_object_of_the_contract(lshdb: Run, url: str, crawl: Path) -> None:
    ended = lshdb(url, "ingest", "--json", crawl)
    report = json.loads(ended.out)
    assert (ended.code, ended.err) == (0, "")
    assert report.pop("seconds") >= 0
    assert report == {
        "run": 1,
        "documents": {
            "added": 5, "updated": 0, "unchanged": 0, "removed": 0, "empty": 1, "rejected": 0, "replaced": 0,
        },
        "rejected_by_reason": {},
        "rejected_before": 0,
        "sources_rejected": 0,
        "sources_given_up": 0,
        "documents_displaced": 0,
        "id_conflicts": {"replaced": 0, "left_out": 0, "qualified": 0, "repeated": 0},
        "files_skipped": 0,
        "links_not_followed": 0,
        "sources_spared": 0,
        "limit_reached": False,
        "contents_added": 3,
        "pairs_added": 1,
        "bytes": 2 * len(TEN) + len(ELEVEN) + len(OTHER),
    }  # fmt: skip


def test_the_next_ingest_tells_what_changed(lshdb: Run, url: str, crawl: Path) -> None:
    lshdb(url, "ingest", crawl)
    (crawl / "a.txt").write_text(OTHER + " and more")
    (crawl / "d.txt").unlink()
    (crawl / "f.txt").write_text("a new one")
    report = json.loads(lshdb(url, "ingest", "--prune", "--json", crawl).out)
    assert report["run"] == 2
    assert [report["documents"][name] for name in ("added", "updated", "unchanged", "removed")] == [1, 1, 3, 1]
    assert report["contents_added"] == 2
    again = lshdb(url, "ingest", "--prune", crawl)
    assert again.out.startswith("run 3: 5 unchanged; 0 pairs added; 0.0 MB in ")


def test_quiet_says_nothing_unless_data_is_lost(lshdb: Run, url: str, crawl: Path) -> None:
    ended = lshdb(url, "--quiet", "ingest", crawl)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    (crawl / "bad.jsonl").write_text(f'{{not json\n{{"id": "g", "text": "{TEN}"}}\n')
    ended = lshdb(url, "--quiet", "ingest", crawl)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "warning  1 rejected (not JSON: 1); lshdb stats --rejected 2 lists them\n"


def test_ingest_prints_the_pairs_that_dupes_prints(lshdb: Run, url: str, crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("not json\n")
    ended = lshdb(url, "ingest", "--dupes", "--base", crawl, crawl, tmp_path / "bad.jsonl")
    assert (ended.code, ended.out) == (SourceRejected.exit_code, lshdb(url, "dupes").out)
    assert len(ended.rows) == 2
    assert "run 1: 5 added, 1 of them empty, 1 rejected" in ended.err
    again = lshdb(url, "--quiet", "ingest", "--dupes", "--base", crawl, crawl)
    assert (again.code, again.out, again.err) == (0, ended.out, "")
    assert lshdb(url, "ingest", "--dupes", "--json", crawl).code == 2


def test_an_index_in_the_folder_that_is_ingested_is_no_document(lshdb: Run, crawl: Path) -> None:
    for _ in range(2):
        report = json.loads(lshdb(crawl / "lshdb.db", "ingest", "--json", crawl).out)
        assert report["documents"]["rejected"] == 0
    assert figures(lshdb, str(crawl / "lshdb.db"))["documents"] == 5


def test_collections_have_ids_of_their_own(lshdb: Run, url: str, crawl: Path) -> None:
    lshdb(url, "ingest", "--base", crawl, crawl)
    lshdb(url, "ingest", "--base", crawl, "--collection", "other", crawl / "a.txt")
    assert figures(lshdb, url)["documents"] == 6
    assert lshdb(url, "remove", "--collection", "other", "a.txt").out == "1 document removed\n"
    assert lshdb(url, "query", "--id", "a.txt").rows[0] == ["c.txt", "1.0", "true"]


# dupes


def test_dupes_names_each_content_by_its_first_document(lshdb: Run, filled: str) -> None:
    ended = lshdb(filled, "dupes", "--min-sim", "0.8", "--format", "jsonl")
    assert ended.code == 0
    assert [json.loads(line) for line in ended.out.splitlines()] == [
        {"left": "a.txt", "right": "c.txt", "similarity": 1.0, "exact": True},
        {"left": "a.txt", "right": "b.txt", "similarity": 6 / 7, "exact": True},
    ]


def test_expand_lists_every_pair_of_documents(lshdb: Run, filled: str) -> None:
    rows = lshdb(filled, "dupes", "--expand").rows
    assert sorted((*sorted(row[:2]), row[2]) for row in rows) == [
        ("a.txt", "b.txt", NEAR),
        ("a.txt", "c.txt", "1.0"),
        ("b.txt", "c.txt", NEAR),
    ]


def test_the_threshold_holds(lshdb: Run, filled: str) -> None:
    assert [row[:2] for row in lshdb(filled, "dupes", "--min-sim", "0.858").rows] == [["a.txt", "c.txt"]]
    assert len(lshdb(filled, "dupes", "--min-sim", "0.857").rows) == 2
    assert lshdb(filled, "dupes", "--min-sim", "1.1").code == 2


def test_no_duplicates_are_no_error(lshdb: Run, url: str, crawl: Path) -> None:
    lshdb(url, "ingest", crawl / "d.txt")
    ended = lshdb(url, "dupes")
    assert (ended.code, ended.out, ended.err) == (0, "left\tright\tsimilarity\texact\n", "")
    assert lshdb(url, "dupes", "--format", "table").out == "0 pairs\n"


def test_a_table_is_aligned_and_rounded(lshdb: Run, filled: str) -> None:
    assert lshdb(filled, "dupes", "--format", "table").out == (
        "similarity  left   right\n"
        "1.0000      a.txt  c.txt\n"
        "0.8571      a.txt  b.txt\n"
        "\n"
        "2 pairs\n"
    )  # fmt: skip


ODD_IDS = [
    "tab\there",
    "line\nend",
    "carriage\rreturn",
    'quote"d, and comma',
    "back\\slash\\n",
    "\x1b[2J",
    "ü 中 \U0001f600",
]


@pytest.fixture
def odd(lshdb: Run, url: str, tmp_path: Path) -> str:
    """An index of documents with odd ids and one content."""
    path = write_jsonl(tmp_path / "odd.jsonl", dict.fromkeys(["first", *ODD_IDS], TEN))
    assert json.loads(lshdb(url, "ingest", "--json", path).out)["documents"]["added"] == 8
    return url


def test_odd_ids_come_back_from_jsonl(lshdb: Run, odd: str) -> None:
    lines = lshdb(odd, "dupes", "--format", "jsonl").out.split("\n")
    assert [json.loads(line)["right"] for line in lines if line] == ODD_IDS


def test_odd_ids_come_back_from_csv(lshdb: Run, odd: str) -> None:
    out = lshdb(odd, "dupes", "--format", "csv").out
    rows = list(csv.reader(io.StringIO(out, newline="")))
    assert rows[0] == ["left", "right", "similarity", "exact"]
    assert [row[1] for row in rows[1:]] == ODD_IDS


def test_odd_ids_come_back_from_tsv(lshdb: Run, odd: str) -> None:
    lines = lshdb(odd, "dupes", "--format", "tsv").out.split("\n")
    fields = [line.split("\t") for line in lines[1:] if line]
    assert {len(row) for row in fields} == {4}
    escapes = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
    assert [unescaped(row[1], escapes) for row in fields] == ODD_IDS


def unescaped(field: str, escapes: dict[str, str]) -> str:
    found, at = "", 0
    while at < len(field):
        step = 2 if field[at] == "\\" else 1
        found += escapes.get(field[at : at + step], field[at : at + step])
        at += step
    return found


def test_a_table_shows_control_characters_and_sends_none(lshdb: Run, odd: str) -> None:
    out = lshdb(odd, "dupes", "--format", "table").out
    assert len(out.splitlines()) == 8 + 2
    assert "\\x1b[2J" in out
    assert "tab\\x09here" in out
    assert "\x1b" not in out


# query


def test_a_query_takes_a_file_standard_input_or_an_id(lshdb: Run, filled: str, crawl: Path) -> None:
    found = lshdb(filled, "query", crawl / "b.txt")
    assert found.code == 0
    assert found.rows == [["b.txt", "1.0", "true"], ["a.txt", NEAR, "true"], ["c.txt", NEAR, "true"]]
    assert lshdb(filled, "query", "-", stdin=ELEVEN.encode()).rows == found.rows
    assert lshdb(filled, "query", "--id", "b.txt").rows == found.rows[1:]
    assert lshdb(filled, "query", "--id", "a.txt", "--min-sim", "0.9").rows == [["c.txt", "1.0", "true"]]


def test_a_query_without_a_match_ends_with_1(lshdb: Run, filled: str, tmp_path: Path) -> None:
    (tmp_path / "strange.txt").write_text("words that no one ever wrote down before")
    for arguments in ([tmp_path / "strange.txt"], ["--id", "d.txt"], ["--id", "e.txt"]):
        ended = lshdb(filled, "query", *arguments)
        assert (ended.code, ended.out, ended.err) == (1, "id\tsimilarity\texact\n", "")
    assert lshdb(filled, "query", "-", stdin=b"").code in (1, 34)


def test_a_query_of_nothing_or_two_things_is_a_usage_error(lshdb: Run, filled: str, crawl: Path) -> None:
    assert lshdb(filled, "query").code == 2
    assert lshdb(filled, "query", crawl / "a.txt", "--id", "a.txt").code == 2
    assert lshdb(filled, "query", "--id", "nobody").code == 41


def test_a_query_changes_nothing(lshdb: Run, filled: str, crawl: Path) -> None:
    before = figures(lshdb, filled)
    (crawl / "new.txt").write_text(ELEVEN + " twelve")
    assert lshdb(filled, "query", crawl / "new.txt").code == 0
    assert figures(lshdb, filled) == before


# verify


def tamper(url: str, similarity: float, *, exact: bool) -> None:
    """Give every stored pair a wrong similarity."""
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(update(pair).values(similarity=similarity, exact=exact))


def verified(lshdb: Run, url: str) -> dict[str, int]:
    report: dict[str, int] = json.loads(lshdb(url, "verify", "--json").out)
    return {name: report[name] for name in ("pairs", "confirmed", "changed", "dropped", "unknown")}


def counts(pairs: int, confirmed: int = 0, changed: int = 0, dropped: int = 0, unknown: int = 0) -> dict[str, int]:
    return {"pairs": pairs, "confirmed": confirmed, "changed": changed, "dropped": dropped, "unknown": unknown}


def test_verify_confirms_what_is_right(lshdb: Run, filled: str) -> None:
    assert verified(lshdb, filled) == counts(1, confirmed=1)
    said = lshdb(filled, "verify").out
    assert said.startswith("1 pair: 1 confirmed, 0 changed (0 of them below the floor and dropped), 0 could not be")


def test_verify_corrects_what_is_wrong(lshdb: Run, filled: str) -> None:
    tamper(filled, 0.999, exact=True)
    assert verified(lshdb, filled) == counts(1, changed=1)
    assert lshdb(filled, "dupes").rows[-1] == ["a.txt", "b.txt", NEAR, "true"]


def test_verify_drops_what_is_below_the_floor(lshdb: Run, url: str, crawl: Path) -> None:
    lshdb(url, "ingest", "--bands", "100", "--rows", "1", "--floor", "0.5", crawl)
    with Store.open(url) as store, store.writing() as transaction:
        keys = sorted(transaction.execute(select(content.c.content_key)).scalars())
        transaction.execute(pair.insert().values(left_key=keys[0], right_key=keys[2], similarity=0.9, exact=False))
    assert verified(lshdb, url) == counts(2, confirmed=1, changed=1, dropped=1)
    assert figures(lshdb, url)["pairs"] == 1


@pytest.fixture
def textless(lshdb: Run, url: str, crawl: Path) -> str:
    """An index of the crawl without texts."""
    assert lshdb(url, "ingest", "--no-keep-text", "--base", crawl, crawl).code == 0
    tamper(url, 0.9, exact=False)
    return url


def test_verify_reads_sources_again_where_no_text_is_kept(lshdb: Run, textless: str) -> None:
    assert lshdb(textless, "dupes").rows[-1] == ["a.txt", "b.txt", "0.9", "false"]
    assert verified(lshdb, textless) == counts(1, changed=1)
    assert lshdb(textless, "dupes").rows[-1] == ["a.txt", "b.txt", NEAR, "true"]
    assert verified(lshdb, textless) == counts(1, confirmed=1)


def test_verify_leaves_an_estimate_whose_file_is_gone_or_another_text_now(
    lshdb: Run, textless: str, crawl: Path
) -> None:
    (crawl / "b.txt").write_text(OTHER)
    assert verified(lshdb, textless) == counts(1, unknown=1)
    (crawl / "b.txt").unlink()
    assert verified(lshdb, textless) == counts(1, unknown=1)
    assert lshdb(textless, "dupes").rows[-1] == ["a.txt", "b.txt", "0.9", "false"]


def test_verify_reads_records_again_as_they_were_read(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text(
        "".join(json.dumps({"id": name, "body": text}) + "\n" for name, text in (("a", TEN), ("b", ELEVEN)))
    )
    lshdb(url, "ingest", "--no-keep-text", "--text-field", "body", path)
    tamper(url, 0.9, exact=False)
    assert verified(lshdb, url) == counts(1, changed=1)


# stats, link, remove, upgrade, version, help


def test_stats_counts_everything(lshdb: Run, filled: str) -> None:
    found = figures(lshdb, filled)
    assert found.pop("bytes") > 10_000
    assert found == {
        "documents": 5, "empty": 1, "contents": 3, "sources": 5, "unlinked": 0,
        "pairs": 1, "estimated_pairs": 0, "hot_buckets": 0, "skipped_pairs": 0,
        "frequent_fingerprints": 0, "skipped_containments": 0,
    }  # fmt: skip
    report = json.loads(lshdb(filled, "stats", "--json").out)
    assert set(report) == {"index", "params", "figures", "runs", "collections", "unfinished", "measured"}
    assert round(report["params"]["recall"], 4) == 0.9996
    (only,) = report["runs"]
    assert (only["run"], only["verb"], only["state"], only["num_added"]) == (1, "ingest", "finished", 5)


def test_stats_are_readable(lshdb: Run, filled: str) -> None:
    lines = lshdb(filled, "stats").out.splitlines()
    assert "documents   5 (1 empty) from 5 sources" in lines
    assert "contents    3 (texts kept, 0 not linked)" in lines
    assert "pairs       1 at 0.5 or more (0 only estimated)" in lines
    assert "signatures  fss2, 100 minima, 20 bands of 5 rows" in lines


def test_link_computes_what_no_link_left(lshdb: Run, url: str, crawl: Path) -> None:
    report = json.loads(lshdb(url, "ingest", "--no-link", "--json", crawl).out)
    assert report["pairs_added"] == 0
    assert (figures(lshdb, url)["unlinked"], figures(lshdb, url)["pairs"]) == (3, 0)
    assert lshdb(url, "link").out == "1 pair added\n"
    assert lshdb(url, "link").out == "0 pairs added\n"
    assert (figures(lshdb, url)["unlinked"], figures(lshdb, url)["pairs"]) == (0, 1)


@pytest.mark.parametrize("question", [["dupes"], ["query", "--id", "a.txt"], ["verify"]], ids=lambda words: words[0])
def test_a_question_links_by_itself(question: list[str], lshdb: Run, url: str, crawl: Path) -> None:
    lshdb(url, "ingest", "--no-link", "--base", crawl, crawl)
    assert lshdb(url, *question).code == 0
    assert figures(lshdb, url)["pairs"] == 1


def test_remove_forgets_documents_and_what_only_they_had(lshdb: Run, filled: str, crawl: Path) -> None:
    assert lshdb(filled, "remove", "a.txt").out == "1 document removed\n"
    assert lshdb(filled, "dupes").rows == [["c.txt", "b.txt", NEAR, "true"]]
    assert lshdb(filled, "remove", "c.txt", "b.txt", "c.txt").out == "2 documents removed\n"
    found = figures(lshdb, filled)
    assert (found["documents"], found["contents"], found["pairs"]) == (2, 1, 0)
    assert lshdb(filled, "check").code == 0
    assert (crawl / "a.txt").exists()


def test_an_unknown_id_removes_nothing(lshdb: Run, filled: str) -> None:
    ended = lshdb(filled, "remove", "a.txt", "nobody")
    assert ended.code == 41
    assert "'nobody'" in ended.err
    assert figures(lshdb, filled)["documents"] == 5


def test_an_index_of_this_version_needs_no_upgrade(lshdb: Run, filled: str, tmp_path: Path) -> None:
    ended = lshdb(filled, "upgrade")
    assert (ended.code, ended.out) == (0, f"already at revision {REVISIONS[-1]}\n")
    assert not list(tmp_path.glob("*before-upgrade*"))


def test_the_version_is_printed_without_a_verb(lshdb: Run) -> None:
    assert lshdb("none.db", "--version").out == f"lshdb {version('lshdb')}\n"


def test_every_verb_is_known_here() -> None:
    assert sorted(typer.main.get_command(app).commands) == sorted(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_help_with_examples(verb: str, lshdb: Run) -> None:
    ended = lshdb("none.db", verb, "--help")
    assert ended.code == 0
    assert f"lshdb [OPTIONS] {verb}" in " ".join(ended.out.split()) or f"lshdb {verb}" in ended.out
    assert "Example" in ended.out
    assert "[bold]" not in ended.out


@pytest.mark.parametrize("arguments", [["nothing"], ["dupes", "--nothing"], ["dupes", "--format", "xml"], ["remove"]])
def test_a_call_that_means_nothing_is_a_usage_error(arguments: list[str], lshdb: Run, url: str) -> None:
    ended = lshdb(url, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert "Traceback" not in ended.err


# Separate processes: signals, pipes, and concurrent writers.

COMMAND = [sys.executable, "-m", "lshdb"]
# A terminal sends Ctrl-C to all processes of the call. It arrives while the second batch is written.
INTERRUPTED = """
import os, signal
# A shell that runs its jobs in the background has them ignore Ctrl-C, and their children inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from lshdb.cli.app import main
from lshdb.store.tables import documents
from lshdb.store.sqlite.dialect import Sqlite
Sqlite.load_seconds = {load_seconds}
calls, put = [], documents.put
def put_or_interrupt(*arguments):
    calls.append(1)
    if len(calls) == 2:
        os.killpg(os.getpgrp(), signal.SIGINT)
    return put(*arguments)
documents.put = put_or_interrupt
main()
"""
NUM_RECORDS = 30_000


def consistent(url: str) -> tuple[int, str]:
    """Return (documents, state of the last run) of a consistent index."""
    with Store.open(url) as store, store.reading() as transaction:

        def number(statement: object) -> int:
            return int(transaction.execute(statement).scalar_one())  # type: ignore[arg-type]

        def size(table: object) -> int:
            return number(select(func.count()).select_from(table))  # type: ignore[arg-type]

        last = transaction.execute(select(run).order_by(run.c.run_key.desc()).limit(1)).one()
        num_documents = size(document)
        assert number(select(func.sum(run.c.num_added))) == num_documents
        assert size(content) == number(select(func.count(func.distinct(document.c.content_key))))
        # One more for its digest.
        assert size(band_bucket) == (store.params.bands + 1) * size(content)
        assert size(unlinked) <= size(content)
        return num_documents, last.state


@pytest.mark.parametrize("load_seconds", [0.0, 60.0])
def test_an_interrupted_ingest_leaves_a_consistent_index_and_goes_on_later(
    load_seconds: float, lshdb: Run, url: str, tmp_path: Path
) -> None:
    chance = random.Random(5)
    texts = {f"d{number}": f"{chance.getrandbits(200)} {chance.getrandbits(600)}" for number in range(NUM_RECORDS)}
    path = write_jsonl(tmp_path / "many.jsonl", texts)
    arguments = ["--bands", "4", "--rows", "2", "--no-link", str(path)]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(load_seconds=load_seconds), "--db", url, "ingest", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "lshdb: interrupted. Everything committed is kept; run the same command again to continue.\n"
    num_documents, state = consistent(url)
    # The first batch was committed, if it was not a part of one transaction with the second.
    assert (num_documents > 0) == (load_seconds == 0 or url.startswith("postgresql"))
    assert num_documents < NUM_RECORDS
    assert state == "interrupted"
    report = json.loads(lshdb(url, "ingest", "--json", *arguments).out)
    assert report["documents"]["added"] == NUM_RECORDS - num_documents
    assert consistent(url) == (NUM_RECORDS, "finished")


def test_a_reader_that_goes_away_is_no_error(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "same.jsonl", {f"document number {number}": TEN for number in range(120)})
    lshdb(url, "ingest", path)
    assert len(lshdb(url, "dupes", "--expand").out) > 2 * 65_536  # more than a pipe holds
    process = subprocess.Popen(
        [*COMMAND, "--db", url, "dupes", "--expand"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "left\tright\tsimilarity\texact\n"
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(30) == 141


@pytest.mark.parametrize("form", ["table", "jsonl", "csv", "tsv"])
def test_a_pipe_that_is_closed_at_once_is_no_error(form: str, lshdb: Run, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    lshdb(url, "ingest", write_jsonl(tmp_path / "same.jsonl", {"a": TEN, "b": TEN}))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "--db", url, "dupes", "--format", form],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=30,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_defect_has_a_status_of_its_own() -> None:
    defect = "from lshdb.cli import app\ndef fail(): raise ValueError('a defect')\napp.app = fail\napp.main()"
    ended = subprocess.run([sys.executable, "-c", defect], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (70, "ValueError: a defect")


def test_readers_do_not_wait_for_a_writer(lshdb: Run, filled: str, crawl: Path) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(pair).values(similarity=0.999))
        started = time.monotonic()
        assert lshdb(filled, "dupes").rows[-1] == ["a.txt", "b.txt", NEAR, "true"]
        assert lshdb(filled, "query", crawl / "b.txt").code == 0
        assert lshdb(filled, "query", "--id", "b.txt").code == 0
        assert figures(lshdb, filled)["pairs"] == 1
        assert time.monotonic() - started < 5


@pytest.mark.sqlite
def test_an_answer_while_another_process_writes_says_what_is_missing(
    lshdb: Run, crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.store.sqlite.dialect.BUSY_SECONDS", 0.2)
    url = str(tmp_path / "index.db")
    lshdb(url, "ingest", crawl)
    lshdb(url, "ingest", "--no-link", write_jsonl(tmp_path / "more.jsonl", {"new": f"{ELEVEN} twelve"}))
    with Store.open(url) as store, store.writing():
        ended = lshdb(url, "dupes")
        busy = lshdb(url, "ingest", crawl)
    assert (ended.code, len(ended.rows)) == (0, 2)
    assert ended.err == "warning  1 contents are not linked yet and are missing from this answer\n"
    assert busy.code == 18
    assert "Another process is writing to index" in busy.err
    assert len(lshdb(url, "dupes").rows) == 3


# dupes: which pairs, and in which order

RANGE = {
    "z": TEN,
    "b": ELEVEN,
    "a": f"{ELEVEN} twelve",
    "copy": TEN.upper(),
}


@pytest.fixture
def ranked(lshdb: Run, url: str, tmp_path: Path) -> str:
    """An index of four near-duplicates, two of them the same text."""
    assert lshdb(url, "ingest", write_jsonl(tmp_path / "range.jsonl", RANGE)).code == 0
    return url


def test_pairs_come_in_the_order_that_is_asked_for(lshdb: Run, ranked: str) -> None:
    expected = [["z", "copy", 1.0], ["b", "a", 7 / 8], ["z", "b", 6 / 7], ["z", "a", 6 / 8]]
    for expand in ((), ("--expand",)):
        rows = [[*row[:2], float(row[2])] for row in lshdb(ranked, "dupes", "--min-sim", 0.7, *expand).rows]
        by_similarity = lshdb(ranked, "dupes", "--min-sim", 0.7, *expand, "--sort", "similarity").rows
        by_id = lshdb(ranked, "dupes", "--min-sim", 0.7, *expand, "--sort", "id").rows
        assert [[*row[:2], float(row[2])] for row in by_id] == sorted(rows)
        assert [[*row[:2], float(row[2])] for row in by_similarity] == sorted(rows, key=lambda row: (-row[2], row[:2]))
        assert expand or sorted(rows) == sorted(expected)


def test_only_the_first_pairs_are_printed(lshdb: Run, ranked: str) -> None:
    for sort in ((), ("--sort", "similarity"), ("--sort", "id")):
        rows = lshdb(ranked, "dupes", "--min-sim", 0.7, *sort).rows
        for limit in (1, 2, 3, 9):
            assert lshdb(ranked, "dupes", "--min-sim", 0.7, *sort, "--limit", limit).rows == rows[:limit]
    assert lshdb(ranked, "dupes", "--limit", 1, "--format", "table").out.endswith("\nthe first 1 pair\n")


def test_pairs_are_in_a_range_of_similarities(lshdb: Run, ranked: str) -> None:
    def between(least: float, most: float) -> list[list[str]]:
        return sorted(row[:2] for row in lshdb(ranked, "dupes", "--min-sim", least, "--max-sim", most).rows)

    assert between(0.7, 0.86) == [["z", "a"], ["z", "b"]]
    assert between(0.86, 0.99) == [["b", "a"]]
    assert between(0.9, 1.0) == [["z", "copy"]]
    assert lshdb(ranked, "dupes", "--min-sim", 0.9, "--max-sim", 0.8).code == 2


def test_pairs_between_collections_are_sorted_by_the_side_they_are_printed_on(
    lshdb: Run, ranked: str, tmp_path: Path
) -> None:
    others = write_jsonl(tmp_path / "others.jsonl", {"y": f"{ELEVEN} twelve thirteen", "c": ELEVEN, "d": TEN})
    lshdb(ranked, "ingest", "--collection", "others", others)
    for sides in (("default", "others"), ("others", "default")):
        asked = ("dupes", "--between", *sides, "--expand", "--min-sim", 0.6)
        rows = lshdb(ranked, *asked).rows
        assert len(rows) > 5
        assert lshdb(ranked, *asked, "--sort", "id").rows == sorted(rows)
        assert lshdb(ranked, *asked, "--sort", "similarity").rows == sorted(rows, key=lambda row: (-float(row[2]), row))
        assert lshdb(ranked, *asked, "--sort", "id", "--limit", 2).rows == sorted(rows)[:2]


def test_a_current_folder_that_was_deleted_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        ["sh", "-c", f"rmdir {tmp_path}/gone && exec {sys.executable} -m lshdb stats"],
        cwd=tmp_path / "gone",
        stderr=subprocess.PIPE,
        text=True,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "the current folder no longer exists; change to another one" in done.stderr
