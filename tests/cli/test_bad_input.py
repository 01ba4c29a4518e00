"""Every kind of bad input gives one clear line and has no other effect."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.cli.conftest import Run

GOOD = "one good text of a few words stays in the index whatever else is wrong"


def one_line(text: str) -> str:
    """Return the text, which must be a single line."""
    lines = text.splitlines()
    assert len(lines) == 1, text
    return lines[0]


def documents(lshdb: Run, url: str) -> int:
    figures = json.loads(lshdb(url, "stats", "--json").out)["figures"]
    assert isinstance(figures["documents"], int)
    return figures["documents"]


def test_a_folder_that_does_not_exist(lshdb: Run, url: str, tmp_path: Path) -> None:
    ended = lshdb(url, "ingest", tmp_path / "nowhere")
    assert ended.code == 31
    assert one_line(ended.err) == f"lshdb: {tmp_path}/nowhere: no such file or folder."


def test_a_missing_path_beside_a_good_one_stops_before_anything_is_read(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(GOOD)
    assert lshdb(url, "ingest", tmp_path / "good.txt", tmp_path / "nowhere").code == 31
    assert lshdb(url, "stats").code == 11, "a misspelt path must not leave an index behind"


def test_an_empty_folder(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = lshdb(url, "ingest", tmp_path / "empty")
    assert ended.code == 32
    assert one_line(ended.err).startswith(f"lshdb: {tmp_path}/empty: nothing to read here")


def test_prune_refuses_a_folder_that_has_become_empty(lshdb: Run, url: str, tmp_path: Path) -> None:
    page = tmp_path / "crawl" / "page.txt"
    page.parent.mkdir()
    page.write_text(GOOD)
    lshdb(url, "ingest", page.parent)
    page.unlink()
    ended = lshdb(url, "ingest", "--prune", page.parent)
    assert ended.code == 33
    assert "Is a disk not mounted?" in one_line(ended.err)
    assert documents(lshdb, url) == 1


def test_an_unreadable_file() -> None:
    """Read the folder in another process; as another user if we are root, who may read everything."""
    script = (
        "import os, sys\n"
        "from lshdb.readers import ReadOptions, Reading, walk\n"
        "if os.geteuid() == 0: os.setegid(65534); os.seteuid(65534)\n"
        "for entry in walk([sys.argv[1]]):\n"
        "    for item in Reading(entry, ReadOptions()):\n"
        "        print(type(item).__name__, getattr(item, 'reason', ''))\n"
    )
    # Other users cannot enter the folders of pytest.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "good.txt").write_text(GOOD)
        (folder / "secret.txt").write_text(GOOD)
        (folder / "secret.txt").chmod(0o000)
        done = subprocess.run([sys.executable, "-c", script, name], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["Document ", "Rejection Permission denied"]


def test_bytes_that_are_not_utf8_are_replaced_and_counted(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("un café très agréable près de la forêt".encode("latin-1"))
    (tmp_path / "marked.txt").write_bytes("un café très agréable près de la forêt".encode("utf-16"))
    (tmp_path / "declared.html").write_bytes(
        '<meta charset="iso-8859-1"><p>un café très agréable près de la forêt'.encode("latin-1")
    )
    report = json.loads(lshdb(url, "ingest", "--html", "all", "--json", tmp_path).out)
    assert report["documents"]["added"] == 3
    assert report["documents"]["replaced"] == 1
    # A BOM or a declared charset gives the text. Replaced bytes give another one.
    assert report["contents_added"] == 2


def test_bad_json_lines_are_rejected_one_by_one_and_their_neighbours_stay(lshdb: Run, url: str, tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": "a", "text": GOOD}),
        "{not json",
        '{"id": "b"}',
        '{"id": 1.5, "text": "no id"}',
        '{"id": "c", "text": 7}',
        json.dumps({"id": "d", "text": GOOD}),
    ]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines))
    ended = lshdb(url, "ingest", "--json", tmp_path / "lines.jsonl")
    report = json.loads(ended.out)
    assert ended.code == 35
    assert (report["documents"]["added"], report["documents"]["rejected"]) == (2, 4)
    said = ended.err.splitlines()[:-1]
    assert [line.split("lines.jsonl, ")[1].split(":")[0] for line in said] == ["line 2", "line 3", "line 4", "line 5"]
    assert "text" in said[1]
    recorded = lshdb(url, "stats", "--rejected", report["run"]).rows
    assert [row[1] for row in recorded] == ["line 2", "line 3", "line 4", "line 5"]


def test_a_feature_line_without_features(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "sets.txt").write_text("A 1 2 3\nB\nC 1 2 3\n")
    ended = lshdb(url, "ingest", "--shingle", "set", "--json", tmp_path / "sets.txt")
    report = json.loads(ended.out)
    assert (report["documents"]["added"], report["documents"]["rejected"]) == (2, 1)
    assert "line 2" in one_line(ended.err)


def test_an_index_made_with_other_parameters(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(GOOD)
    lshdb(url, "ingest", "--rows", "4", tmp_path / "good.txt")
    ended = lshdb(url, "ingest", "--rows", "5", tmp_path / "good.txt")
    assert ended.code == 15
    assert "was created with --rows 4, not 5" in one_line(ended.err)


def test_a_question_below_the_floor(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(GOOD)
    lshdb(url, "ingest", "--floor", "0.6", tmp_path / "good.txt")
    ended = lshdb(url, "dupes", "--min-sim", "0.4")
    assert ended.code == 2
    assert "below this index's floor 0.6" in one_line(ended.err)


def test_a_question_without_an_index_makes_none(lshdb: Run, tmp_path: Path) -> None:
    ended = lshdb(tmp_path / "none.db", "dupes")
    assert ended.code == 11
    assert "There is no index at" in one_line(ended.err)
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_not_a_database(lshdb: Run, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear reader, " * 200)
    ended = lshdb(tmp_path / "letter.txt", "ingest", tmp_path)
    assert ended.code == 12
    assert "is not an lshdb index" in one_line(ended.err)
    assert (tmp_path / "letter.txt").read_text() == "Dear reader, " * 200


def test_another_programs_sqlite_file_is_left_as_it_is(lshdb: Run, tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE photo (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    ended = lshdb(path, "ingest", tmp_path)
    assert ended.code == 12
    assert "with a table 'photo'" in one_line(ended.err)
    assert path.read_bytes() == before


def test_a_folder_in_place_of_an_index(lshdb: Run, tmp_path: Path) -> None:
    ended = lshdb(tmp_path, "dupes")
    assert ended.code == 21
    one_line(ended.err)


def test_an_unknown_database(lshdb: Run) -> None:
    ended = lshdb("mysql://host/name", "dupes")
    assert ended.code == 2
    assert "mysql is not a database lshdb knows" in one_line(ended.err)


def test_a_url_that_cannot_be_read_does_not_repeat_its_password(lshdb: Run) -> None:
    ended = lshdb("postgresql://me:hush@host:notaport/name", "dupes")
    assert ended.code == 2
    assert "hush" not in one_line(ended.err)


@pytest.mark.postgres
def test_a_postgres_that_does_not_answer(lshdb: Run) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ended = lshdb(f"postgresql://me:hush@127.0.0.1:{port}/name", "dupes")
    assert ended.code == 16
    line = one_line(ended.err)
    assert "does not answer" in line
    assert "hush" not in line


@pytest.mark.postgres
def test_a_wrong_password_is_named_and_never_printed(lshdb: Run, postgres_server: str) -> None:
    require_password(postgres_server)
    url = postgres_server.replace("postgres:@", "lshdb_locked:hush@")
    ended = lshdb(url, "dupes")
    assert ended.code == 17
    line = one_line(ended.err)
    assert "password authentication failed" in line
    assert "hush" not in line
    query = postgres_server.replace("postgres:@", "lshdb_locked@")
    ended = lshdb(f"{query}{'&' if '?' in query else '?'}password=hush", "dupes")
    assert ended.code == 17
    assert "hush" not in one_line(ended.err)


def require_password(server: str) -> None:
    """Create a role that needs a password."""
    with psycopg.connect(server, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'lshdb_locked'").fetchone():
            connection.execute("CREATE ROLE lshdb_locked LOGIN PASSWORD 'right'")
        (hba,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(hba).read_text()
        if "lshdb_locked" not in rules:
            Path(hba).write_text(f"local all lshdb_locked scram-sha-256\n{rules}")
        connection.execute(sql.SQL("SELECT pg_reload_conf()"))
