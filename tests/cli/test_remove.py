"""Removing documents by their ids, by a list of ids, and by collection; and ids that are relative paths."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lshdb import CollectionUnknown, Document, Index
from lshdb.ingest import removal
from tests.cli.conftest import Run
from tests.cli.test_collections import ELEVEN, OTHER, TEN, write_jsonl


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with three texts."""
    (here := tmp_path / "here").mkdir()
    for name, text in {"a.txt": TEN, "b.txt": ELEVEN, "c.txt": OTHER}.items():
        (here / name).write_text(text)
    monkeypatch.chdir(here)
    return here


def num_documents(url: str) -> int:
    with Index.open(url) as index:
        return len(index)


@pytest.mark.parametrize("name", ["a.txt", "./a.txt", "../here/a.txt", "{folder}/a.txt"])
def test_a_relative_path_means_the_absolute_id(lshdb: Run, url: str, folder: Path, name: str) -> None:
    name = name.format(folder=folder)
    lshdb(url, "ingest", folder)
    assert [row[0] for row in lshdb(url, "query", "--id", name, "--min-sim", "0.5").rows] == [str(folder / "b.txt")]
    explained = json.loads(lshdb(url, "explain", "--json", name, "b.txt").out)
    assert (explained["left"]["name"], explained["left"]["is_file"]) == (str(folder / "a.txt"), False)
    assert lshdb(url, "remove", name).out == "1 document removed\n"
    assert num_documents(url) == 2


def test_records_of_a_file_may_be_named_by_its_relative_path(lshdb: Run, url: str, folder: Path) -> None:
    first = write_jsonl(folder / "a.jsonl", {"1": TEN})
    (second := folder / "b.jsonl").write_text(
        json.dumps({"id": "1", "text": ELEVEN}) + "\n" + json.dumps({"text": "x"})
    )
    lshdb(url, "ingest", "--on-conflict", "qualify", first, second)
    assert lshdb(url, "remove", "1@b.jsonl", "b.jsonl#2").out == "2 documents removed\n"
    assert num_documents(url) == 1


def test_an_id_that_is_exactly_the_name_comes_first(lshdb: Run, url: str, folder: Path) -> None:
    lshdb(url, "ingest", folder)
    with Index.open(url) as index:
        index.add([Document("a.txt", OTHER)])
        assert index.meant("a.txt") == "a.txt"
        assert index.meant("./a.txt") == str(folder / "a.txt")
        assert index.meant("nothing") == "nothing"


def test_ids_are_read_from_a_file_and_from_standard_input(lshdb: Run, url: str, folder: Path) -> None:
    lshdb(url, "ingest", folder)
    (folder / "list").write_text(f"{folder}/a.txt\r\n\nb.txt\n")
    assert lshdb(url, "remove", "--from-file", folder / "list").out == "2 documents removed\n"
    (folder / "empty").write_text("")
    command = [sys.executable, "-m", "lshdb", "--db", url, "remove", "--from-file", "-"]
    assert subprocess.run(command, input=b"c.txt", capture_output=True, check=True).stdout == b"1 document removed\n"
    assert lshdb(url, "remove", "--from-file", folder / "empty").out == "0 documents removed\n"
    assert lshdb(url, "remove", "--from-file", folder / "none").code == 31


def test_ids_may_be_separated_by_nul(lshdb: Run, url: str, folder: Path) -> None:
    lshdb(url, "ingest", folder)
    with Index.open(url) as index:
        index.add([Document("two\nlines", OTHER)])
    (folder / "one").write_bytes(b"two\nlines")
    assert lshdb(url, "remove", "-0", "--from-file", "one").out == "1 document removed\n"
    (folder / "two").write_bytes(b"a.txt\0b.txt\0")
    assert lshdb(url, "remove", "-0", "--from-file", "two").out == "2 documents removed\n"


def test_an_unknown_id_in_a_list_removes_nothing(lshdb: Run, url: str, folder: Path) -> None:
    lshdb(url, "ingest", folder)
    (folder / "list").write_text("a.txt\nnobody\n")
    ended = lshdb(url, "remove", "--from-file", "list")
    assert ended.code == 41
    assert "'nobody'" in ended.err
    assert num_documents(url) == 3


def test_a_collection_is_removed_as_a_whole_and_read_again_later(lshdb: Run, url: str, folder: Path) -> None:
    lshdb(url, "ingest", folder)
    lshdb(url, "ingest", "--collection", "test", folder)
    assert lshdb(url, "remove", "--collection", "test", "--all").out == "3 documents removed\n"
    with Index.open(url) as index:
        assert (len(index), index.collections(), index.stats().figures.num_sources) == (3, ["default"], 3)
    assert lshdb(url, "check", "--all").code == 0
    report = json.loads(lshdb(url, "ingest", "--json", "--collection", "test", folder).out)
    assert report["documents"]["added"] == 3


def test_an_interrupted_removal_of_a_collection_leaves_nothing_that_counts_as_read(
    lshdb: Run, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lshdb(url, "ingest", folder)
    monkeypatch.setattr("lshdb.index.ADDED_DOCUMENTS", 1)
    with Index.open(url) as index, monkeypatch.context() as patch:
        calls = iter([None, None])
        some_of = removal.documents.some_of

        def interrupted(*arguments: object) -> list[int]:
            if next(calls, "over") == "over":
                raise KeyboardInterrupt
            return some_of(*arguments)  # type: ignore[arg-type]

        patch.setattr(removal.documents, "some_of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            index.remove_collection("default")
    assert num_documents(url) == 1
    report = json.loads(lshdb(url, "ingest", "--json", folder).out)
    assert (report["documents"]["added"], report["documents"]["unchanged"]) == (2, 1)


def test_an_unknown_collection_has_nothing_to_remove(url: str) -> None:
    with Index.create(url) as index, pytest.raises(CollectionUnknown):
        index.remove_collection("nobody")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "remove takes an ID, --from-file FILE, or --collection NAME --all"),
        (["--all"], "--all takes --collection NAME and no ids"),
        (["--all", "--collection", "default", "a.txt"], "--all takes --collection NAME and no ids"),
        (["--all", "--collection", "default", "--from-file", "-"], "--all takes --collection NAME and no ids"),
        (["-0", "a.txt"], "-0 says how the ids of --from-file are separated"),
    ],
)
def test_arguments_that_do_not_fit_together_remove_nothing(
    lshdb: Run, url: str, folder: Path, arguments: list[str], reason: str
) -> None:
    lshdb(url, "ingest", folder)
    ended = lshdb(url, "remove", *arguments)
    assert ended.code == 2
    assert reason in ended.err
    assert num_documents(url) == 3


NOTE = (
    "note  the next ingest does not bring these documents back unless their files change; "
    "with --forget-source it does\n"
)


def test_a_removed_document_stays_removed_and_the_user_is_told(lshdb: Run, url: str, folder: Path) -> None:
    lshdb(url, "ingest", folder)
    ended = lshdb(url, "remove", "a.txt")
    assert (ended.out, ended.err) == ("1 document removed\n", NOTE)
    assert lshdb(url, "ingest", folder).code == 0
    assert num_documents(url) == 2
    assert lshdb(url, "--quiet", "remove", "b.txt").err == ""


def test_forgetting_its_source_brings_a_document_back(lshdb: Run, url: str, folder: Path) -> None:
    records = write_jsonl(folder / "r.jsonl", {"1": TEN, "2": ELEVEN})
    lshdb(url, "ingest", folder)
    assert lshdb(url, "remove", "--forget-source", "1", "a.txt").err == ""
    assert num_documents(url) == 3
    report = json.loads(lshdb(url, "ingest", "--json", folder).out)["documents"]
    assert (report["added"], report["unchanged"]) == (2, 3)
    assert num_documents(url) == 5
    assert records.exists()


def test_nothing_is_said_about_documents_whose_file_is_gone_or_that_have_none(
    lshdb: Run, url: str, folder: Path
) -> None:
    lshdb(url, "ingest", folder)
    with Index.open(url) as index:
        index.add([Document("given", OTHER)])
    (folder / "a.txt").unlink()
    assert lshdb(url, "remove", "a.txt", "given").err == ""
