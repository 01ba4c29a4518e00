"""The command line asks a service as it asks the index itself: the same output, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lshdb import Document, Index
from lshdb.web.options import ServeOptions
from tests.cli.conftest import Run
from tests.cli.conftest import lshdb as lshdb
from tests.web.conftest import ELEVEN, OTHER, TEN, Service, serving

pytestmark = pytest.mark.sqlite
TOKEN = "a secret of 16 characters or more"


@pytest.fixture
def service(sqlite_url: str) -> Iterator[Service]:
    """A service of an index with two collections, and ids that hold line ends of other kinds."""
    with Index.open(sqlite_url) as index:
        index.add([Document("a", f"{OTHER} too"), Document("x\u2028\x85y", f"{TEN} twelve")], "news")
        index.add([Document(f"n{number}", f"{TEN} {number}") for number in range(7)])
    with serving(sqlite_url, ServeOptions()) as service:
        yield service


QUESTIONS = [
    "dupes", "dupes --min-sim 0.5 --sort similarity --limit 3 --format jsonl", "dupes --expand --format csv",
    "dupes --within news --min-sim 0.5", "dupes --between default news --max-sim 0.9 --min-sim 0.5",
    "dupes --sort id --format table",
    "clusters --min-sim 0.6", "clusters --members --format jsonl", "clusters --limit 1 --keep shortest-id --format csv",
    "clusters --members --linkage complete-to-keep --within default --min-size 3",
    "query --id b", "query --id a --collection news --min-sim 0.5", "query --id b -k 2 --format jsonl",
    "query {file}", "query {lines} --min-sim 0.6", "query {lines} -k 1 --format csv", "query {lines} --only-new",
    "query {page} --input-format html", "query {fresh}",
    "explain a b", "explain a b --json", "explain a a --collection default --collection news --no-diff",
    "stats", "runs --format jsonl", "runs --limit 1",
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_output_is_that_of_the_index(
    question: str, service: Service, sqlite_url: str, lshdb: Run, tmp_path: Path
) -> None:
    places = {name: tmp_path / name for name in ("file", "lines", "page", "fresh")}
    places["file"].write_text(f"{ELEVEN} twelve")
    places["fresh"].write_text("this is like nothing that is there")
    places["page"].write_text(f"<title>t</title><p>{TEN}<p>more")
    records = [{"id": "1", "text": ELEVEN}, {"id": "2", "text": "quite new words are these"}, {"id": "3", "text": TEN}]
    places["lines"].write_text("".join(f"{json.dumps(record)}\n" for record in records))
    arguments = question.format(**places).split()
    near, far = lshdb(sqlite_url, *arguments), lshdb(service.address, *arguments)
    assert far.out == near.out
    assert far.code == near.code
    assert far.out or question == "query {fresh}"


def test_decisions_are_made_listed_sent_and_undone_as_with_the_index_itself(
    sqlite_url: str, tmp_path: Path, lshdb: Run
) -> None:
    other = str(tmp_path / "other.db")
    with Index.create(other) as index:
        index.add([Document(doc_id, text) for doc_id, text in zip("abcd", (TEN, ELEVEN, TEN, OTHER), strict=True)])
    listed = tmp_path / "listed.jsonl"
    steps = [
        "decisions --different a b --reason editions --who Ada", "decisions --keep c --who Ada",
        "decisions --keep none",
        "decisions --different a c --who Ada", "decisions --format csv",
        f"decisions --format jsonl --out {listed} --force",
        "decisions --undo 1 --undo 9", "decisions --undo 1 --undo 2", "decisions", f"decisions --import {listed}",
        f"decisions --import {listed} --format jsonl", "decisions --import none.jsonl", "decisions --undo 1 --keep a",
    ]  # fmt: skip
    with serving(sqlite_url, ServeOptions(writable=True)) as service:
        for step in steps:
            near, far = lshdb(other, *step.split()), lshdb(service.address, *step.split())
            moment = r"20\d\d-[\d:T.+-]+"
            assert re.sub(moment, "", far.out) == re.sub(moment, "", near.out), step
            assert (far.code, far.err.replace(service.address, other)) == (near.code, near.err), step
    with serving(sqlite_url, ServeOptions()) as service:
        refused = lshdb(service.address, "decisions", "--keep", "a", "--who", "Ada")
        assert (refused.code, "started without --writable" in refused.err) == (20, True)
        assert lshdb(service.address, "decisions", "--format", "csv").out.count("Ada") == 2


def test_the_figures_are_the_same_but_for_the_seed(service: Service, sqlite_url: str, lshdb: Run) -> None:
    near, far = (json.loads(lshdb(url, "stats", "--json").out) for url in (sqlite_url, service.address))
    assert near["params"].pop("seed") > 0
    assert far == near


REFUSED = {
    "dupes --complete": "a service does not take --complete; ask the index itself, with --db URL|PATH",
    "clusters --prefer x": "a service does not take --prefer or --measure containment for clusters; ask the index "
    "itself, with --db URL|PATH",
    "stats --hot": "a service does not answer that; ask the index itself, with --db URL|PATH",
    "explain --files a b": "a service does not compare files; ask the index itself, with --db URL|PATH",
    "dupes --schema s": "--schema s: a service has its index already",
    "ingest .": "--db: this is the address of a service, which answers query, dupes, clusters, explain, "
    "decisions, stats and runs; for anything else, name the index itself: postgresql://USER@HOST/NAME or a plain path",
}


@pytest.mark.parametrize("question", REFUSED)
def test_what_a_service_cannot_do_is_one_line_that_names_the_way_out(
    question: str, service: Service, lshdb: Run
) -> None:
    ended = lshdb(service.address, *question.split())
    assert (ended.code, ended.out, ended.err) == (2, "", f"lshdb: {REFUSED[question]}\n")


def test_errors_and_notes_are_the_same_lines(service: Service, sqlite_url: str, lshdb: Run) -> None:
    questions = (
        "dupes --min-sim 0.1",
        "clusters --min-sim 0.6",
        "query --id b --min-sim 0.6",
        "dupes --within none",
        "query --id none",
        "explain a none",
    )
    for question in questions:
        near, far = lshdb(sqlite_url, *question.split()), lshdb(service.address, *question.split())
        assert (far.code, far.err.replace(service.address, sqlite_url)) == (near.code, near.err)


def test_the_token_comes_from_the_environment_and_is_never_printed(
    sqlite_url: str, lshdb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(sqlite_url, ServeOptions(token=TOKEN)) as service:
        address = service.address.replace("127", f"me:{TOKEN}@127", 1)
        refused = lshdb(address, "stats")
        assert (refused.code, TOKEN in refused.err) == (17, False)
        monkeypatch.setenv("LSHDB_TOKEN", TOKEN)
        asked = [lshdb(address, *verb) for verb in (["stats"], ["runs", "--json"], ["query", "--id", "none"])]
    assert [one.code for one in asked] == [0, 0, 41]
    assert not [one for one in asked if TOKEN in one.out + one.err]
