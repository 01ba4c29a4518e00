"""``lshdb export`` on both databases: kept and dropped documents, and complete files or none."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet
import pytest

from lshdb import ClusterOptions, Document, ExportOptions, Index
from lshdb.store.schema import content_text
from lshdb.store.store import Store
from tests.cli.conftest import Run
from tests.cli.test_clusters import CHAIN, COPIES, FAR, MAKING, NEAR, OTHERS, add, words

AT = ("--min-sim", "0.7")
KEPT = ["a", "c", "x", "alone", "empty"]
DROPPED = [["b", "a", repr(NEAR)], ["y", "x", "1.0"], ["z", "x", "1.0"]]


@pytest.fixture
def filled(url: str) -> str:
    """The URL of an index of a chain a ~ b ~ c, three copies x, y, z, an unrelated document and an empty one."""
    add(url, CHAIN | COPIES | OTHERS)
    return url


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.split(".db")[0].isalnum())


def test_what_is_kept_is_one_id_a_line(lshdb: Run, filled: str) -> None:
    ended = lshdb(filled, "export", *AT)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == KEPT


def test_what_is_dropped_says_for_whom_and_how_similar_it_is_to_that(lshdb: Run, filled: str) -> None:
    rows = lshdb(filled, "export", "--what", "dropped", *AT).rows
    assert sorted(row[:3] for row in rows) == DROPPED
    assert {tuple(row[3:]) for row in rows} == {("true", "default", "default")}


def test_single_linkage_drops_what_is_only_connected(lshdb: Run, filled: str) -> None:
    rows = lshdb(filled, "export", "--what", "dropped", "--linkage", "single", *AT).rows
    assert ["c", "a", repr(FAR)] in [row[:3] for row in rows]
    assert lshdb(filled, "export", "--linkage", "single", *AT).out.splitlines() == ["a", "x", "alone", "empty"]


def test_kept_and_dropped_are_all_documents_and_none_twice(lshdb: Run, filled: str) -> None:
    for linkage in ("single", "complete-to-keep"):
        for least in ("0.5", "0.7", "1.0"):
            arguments = ("--linkage", linkage, "--min-sim", least)
            kept = lshdb(filled, "export", *arguments).out.splitlines()
            dropped = [row[0] for row in lshdb(filled, "export", "--what", "dropped", *arguments).rows]
            assert sorted(kept + dropped) == sorted(CHAIN | COPIES | OTHERS)


def test_policies_and_preferences_choose_what_is_kept(lshdb: Run, filled: str) -> None:
    arguments = ("export", *AT, "--prefer", "^[by]$")
    assert lshdb(filled, *arguments).out.splitlines() == ["b", "y", "alone", "empty"]


def test_records_have_the_kept_texts(lshdb: Run, filled: str) -> None:
    out = lshdb(filled, "export", "--what", "records", *AT).out
    texts = CHAIN | COPIES | OTHERS
    assert [json.loads(line) for line in out.splitlines()] == [{"id": name, "text": texts[name]} for name in KEPT]


SETS = "a x y\nb y x\nc z\n"


@pytest.mark.parametrize("name", ["sets.jsonl", "sets.parquet"])
def test_feature_sets_are_exported_as_features_that_can_be_ingested(
    lshdb: Run, new_url: Callable[[], str], tmp_path: Path, name: str
) -> None:
    source, url = tmp_path / "in.sets", new_url()
    source.write_text(SETS)
    assert lshdb(url, "ingest", "--shingle", "set", source).code == 0
    assert lshdb(url, "export", "--what", "records", "--out", tmp_path / name).code == 0
    if name.endswith("parquet"):
        rows = pyarrow.parquet.read_table(tmp_path / name).to_pylist()
    else:
        rows = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
    assert rows == [{"id": "a", "text": ["x", "y"]}, {"id": "c", "text": ["z"]}]
    again = lshdb(new_url(), "ingest", "--shingle", "set", tmp_path / name, "--json")
    assert json.loads(again.out)["documents"]["added"] == 2


def test_records_are_read_in_portions(lshdb: Run, filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lshdb(filled, "export", "--what", "records").out
    monkeypatch.setattr("lshdb.clusters.export.HELD_TEXTS", 2)
    assert lshdb(filled, "export", "--what", "records").out == whole
    assert len(whole.splitlines()) == 5


def test_a_parquet_file_has_the_same_records(
    lshdb: Run, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.clusters.tabular.GROUP_CHARACTERS", 100)
    add(filled, {"odd": "a lone \udc80 surrogate \U0001f600"})
    assert lshdb(filled, "export", "--what", "records", *AT, "--out", tmp_path / "out.parquet").code == 0
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    texts = CHAIN | COPIES | OTHERS | {"odd": "a lone � surrogate \U0001f600"}
    assert table.to_pydict() == {"id": [*KEPT, "odd"], "text": [texts[name] for name in [*KEPT, "odd"]]}
    assert pyarrow.parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups > 2


def test_a_lone_surrogate_survives_in_json(lshdb: Run, url: str, tmp_path: Path) -> None:
    add(url, {"odd": "a lone \udc80 surrogate"})
    assert lshdb(url, "export", "--what", "records", "--out", tmp_path / "out.jsonl").code == 0
    assert json.loads((tmp_path / "out.jsonl").read_text())["text"] == "a lone \udc80 surrogate"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "txt", "other"])
def test_the_suffix_of_the_file_chooses_the_format(suffix: str, lshdb: Run, filled: str, tmp_path: Path) -> None:
    out = tmp_path / f"kept.{suffix}"
    assert lshdb(filled, "export", *AT, "--out", out).code == 0
    written = out.read_text()
    if suffix == "csv":
        assert list(csv.reader(io.StringIO(written))) == [["id", "collection"], *([name, "default"] for name in KEPT)]
    elif suffix == "tsv":
        assert written.splitlines() == ["id\tcollection", *(f"{name}\tdefault" for name in KEPT)]
    elif suffix == "jsonl":
        assert [json.loads(line)["id"] for line in written.splitlines()] == KEPT
    else:
        assert written.splitlines() == KEPT


def test_the_format_goes_before_the_suffix_and_must_suit(lshdb: Run, filled: str, tmp_path: Path) -> None:
    assert lshdb(filled, "export", *AT, "--out", tmp_path / "kept.csv", "--format", "lines").code == 0
    assert (tmp_path / "kept.csv").read_text().splitlines() == KEPT
    ended = lshdb(filled, "export", "--what", "records", "--format", "csv")
    assert (ended.code, ended.err) == (2, "lshdb: --what records is written as jsonl, parquet, not as csv\n")
    assert lshdb(filled, "export", "--what", "records", "--format", "parquet").code == 2
    assert lshdb(filled, "export", "--out", tmp_path / "kept.parquet").code == 2


def test_parquet_without_pyarrow_says_what_to_install(
    lshdb: Run, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    ended = lshdb(filled, "export", "--what", "records", "--out", tmp_path / "out.parquet")
    assert ended.code == 2
    assert "pip install pyarrow" in ended.err


# The audit.


def audit_of(path: Path) -> tuple[dict[str, object], list[dict[str, object]]]:
    header, *rows = [json.loads(line) for line in path.read_text().splitlines()]
    return header, rows


def test_an_audit_accounts_for_every_document(lshdb: Run, filled: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    ended = lshdb(filled, "export", "--what", "records", "--linkage", "single", *AT, "--prefer", "x", "--out", out)
    assert ended.code == 0
    assert ended.out.startswith("8 documents: 4 kept (1 of them empty), 4 dropped from 2 clusters; ")
    header, rows = audit_of(tmp_path / "out.jsonl.audit.jsonl")
    assert header["lshdb"] == version("lshdb")
    assert header["params"]["bands"] == 50  # type: ignore[index]
    with Index.open(filled) as index:
        assert header["index"] == index.url
    assert datetime.fromisoformat(str(header["exported_at"])).utcoffset() == timedelta(0)
    expected = {
        "what": "records", "min_sim": 0.7, "keep": "first", "prefer": ["x"], "linkage": "single", "within": None,
        "documents": 8, "kept": 4, "dropped": 4, "empty": 1, "clusters": 2, "out": str(out),
    }  # fmt: skip
    assert {name: header[name] for name in expected} == expected
    assert len({row["cluster"] for row in rows}) == 2
    assert [(row["dropped"], row["kept_for"], row["similarity"], row["exact"], row["reason"]) for row in rows] == [
        ("b", "a", NEAR, True, "similar"),
        ("c", "a", FAR, True, "connected"),
        ("y", "x", 1.0, True, "copy"),
        ("z", "x", 1.0, True, "copy"),
    ]


@pytest.mark.parametrize("what", ["kept", "dropped", "records"])
def test_every_export_has_the_same_audit(what: str, lshdb: Run, filled: str, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    assert lshdb(filled, "export", "--what", what, *AT, "--audit", audit).out
    assert sorted((row["dropped"], row["kept_for"]) for row in audit_of(audit)[1]) == [
        ("b", "a"), ("y", "x"), ("z", "x"),
    ]  # fmt: skip


def test_the_report_is_an_object_for_scripts(lshdb: Run, filled: str, tmp_path: Path) -> None:
    report = json.loads(lshdb(filled, "export", *AT, "--out", tmp_path / "out.txt", "--json").out)
    assert report.pop("seconds") >= 0
    assert report == {
        "documents": 8, "kept": 5, "dropped": 3, "empty": 1, "clusters": 2,
        "out": str(tmp_path / "out.txt"), "audit": str(tmp_path / "out.txt.audit.jsonl"),
    }  # fmt: skip


# Files.


def test_files_that_are_there_stay_unless_forced(lshdb: Run, filled: str, tmp_path: Path) -> None:
    out, audit = tmp_path / "out.txt", tmp_path / "out.txt.audit.jsonl"
    for there, absent in ((out, audit), (audit, out)):
        there.write_text("precious")
        ended = lshdb(filled, "export", *AT, "--out", out)
        assert (ended.code, ended.err) == (
            61, f"lshdb: {there} already exists. Choose another file, or overwrite it with --force.\n",
        )  # fmt: skip
        assert there.read_text() == "precious"
        assert not absent.exists()
        there.unlink()
    out.write_text("worthless")
    assert lshdb(filled, "export", *AT, "--out", out, "--force").code == 0
    assert out.read_text().splitlines() == KEPT


def test_what_cannot_be_written_is_said_before_anything_is_done(
    lshdb: Run, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def must_not(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("lshdb.clusters.clusters.Deduplication.clusters", must_not)
    for out, reason in ((tmp_path / "no" / "out", "there is no such folder"), (tmp_path, "it is not a regular file")):
        ended = lshdb(filled, "export", "--out", out, "--force")
        assert (ended.code, ended.err) == (62, f"lshdb: Cannot write {out}: {reason}. Nothing was changed.\n")
    same = lshdb(filled, "export", "--out", tmp_path / "one", "--audit", tmp_path / "one")
    assert same.code == 2
    assert names(tmp_path) == []


def test_an_export_never_writes_over_the_index(lshdb: Run, tmp_path: Path) -> None:
    url = tmp_path / "index.db"
    add(str(url), COPIES)
    (tmp_path / "link").symlink_to(url)
    for out in (url, tmp_path / "link"):
        ended = lshdb(url, "export", "--out", out, "--force")
        assert ended.code == 62
        assert "it is a file of the index" in ended.err
    assert lshdb(url, "export").out == "x\n"


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_an_export_that_fails_leaves_no_file(
    suffix: str, lshdb: Run, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the text of a document is missing, the index is damaged, and no partial file is left."""
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(content_text.delete().where(content_text.c.content_key == 5))
    out = tmp_path / f"out.{suffix}"
    out.write_text("precious")
    ended = lshdb(filled, "export", "--what", "records", "--out", out, "--force")
    assert ended.code == 24
    assert "the text of document 'alone' is missing" in ended.err
    assert out.read_text() == "precious"
    assert names(tmp_path) == [out.name]


def test_a_full_disk_is_an_error_of_the_file(
    lshdb: Run, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    ended = lshdb(filled, "export", "--out", tmp_path / "out.txt")
    assert ended.code == 62
    assert ": No space left on device" in ended.err
    assert names(tmp_path) == []


def test_records_of_an_index_without_texts_name_the_way_out(lshdb: Run, url: str, tmp_path: Path) -> None:
    with Index.ensure(url, MAKING | {"keep_text": False}) as index:
        index.add(Document(doc_id, text) for doc_id, text in (CHAIN | COPIES).items())
    ended = lshdb(url, "export", "--what", "records", "--out", tmp_path / "out.jsonl")
    assert ended.code == 51
    assert "lshdb export --what kept lists the ids" in ended.err
    assert lshdb(url, "export", "--min-sim", "1.0").out.splitlines() == ["a", "b", "c", "x"]


# Collections, and from Python.


def test_collections_are_exported_together_or_one(lshdb: Run, filled: str) -> None:
    add(filled, {"a": words(0), "n": words(400)}, "second")
    both = lshdb(filled, "export", *AT, "--format", "csv").out.splitlines()
    assert both[1:] == [*(f"{name},default" for name in KEPT), "n,second"]
    dropped = lshdb(filled, "export", *AT, "--what", "dropped").rows
    assert ["a", "a", "1.0", "true", "second", "default"] in dropped
    assert lshdb(filled, "export", *AT, "--within", "second").out.splitlines() == ["a", "n"]
    assert lshdb(filled, "export", "--within", "nobody").code == 42


def test_the_counts_of_an_export_are_those_of_its_collection(lshdb: Run, filled: str, tmp_path: Path) -> None:
    add(filled, {"a": words(0), "b": words(0), "n": words(400), "empty": ""}, "second")
    lshdb(filled, "export", "--within", "second", "--out", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text().splitlines() == ["a", "n", "empty"]
    header = json.loads((tmp_path / "out.txt.audit.jsonl").read_text().splitlines()[0])
    counts = {name: header[name] for name in ("documents", "kept", "dropped", "empty", "clusters")}
    assert counts == {"documents": 4, "kept": 3, "dropped": 1, "empty": 1, "clusters": 1}


def test_a_program_exports_to_a_file_or_a_stream(filled: str, tmp_path: Path) -> None:
    with Index.open(filled) as index:
        report = index.export(str(tmp_path / "out.jsonl"), 0.7, ExportOptions("records"))
        stream = io.StringIO()
        other = index.export(stream, options=ExportOptions(clusters=ClusterOptions(keep="shortest-id")))
    assert (report.num_kept, report.num_dropped, report.num_empty) == (5, 3, 1)
    assert report.audit == str(tmp_path / "out.jsonl.audit.jsonl")
    assert (other.out, other.audit) == (None, None)
    assert stream.getvalue().splitlines() == KEPT


def test_an_empty_index_exports_nothing(lshdb: Run, url: str, tmp_path: Path) -> None:
    add(url, {})
    assert lshdb(url, "export").out == ""
    assert lshdb(url, "export", "--what", "records", "--out", tmp_path / "out.parquet").code == 0
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").num_rows == 0
