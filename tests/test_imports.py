"""What is installed and loaded: every package is installed, and a call loads only the modules that it needs."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lshdb import Index
from lshdb.cli.app import Commands
from lshdb.ingest.make import make_whole
from lshdb.ingest.workers import PRELOADED
from lshdb.model.values import Document

# Prints the loaded modules after a call of the command line.
CALL = """
import contextlib, io, json, sys
sys.argv = ["lshdb", *sys.argv[1:]]
out = io.StringIO()
with contextlib.redirect_stdout(out):
    from lshdb.cli.app import main
    try:
        main()
    except SystemExit as ended:
        code = ended.code
json.dump({"code": code, "out": out.getvalue(), "modules": sorted(sys.modules)}, sys.stdout)
"""
HEAVY = {"numpy", "numba", "sqlalchemy", "alembic", "psycopg", "sqlite3", "xxhash", "zstandard", "resiliparse"}


def call(*arguments: object) -> tuple[int, str, set[str]]:
    """Return (exit code, output, modules loaded) of a call in another process."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=60
    )
    said = json.loads(done.stdout)
    return said["code"], said["out"], set(said["modules"])


def loaded_by(statement: str) -> set[str]:
    script = f"import json, sys; {statement}; json.dump(sorted(sys.modules), sys.stdout)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


@pytest.mark.parametrize("module", ["lshdb", "lshdb.errors", "lshdb.cli.app"])
def test_importing_the_surface_loads_nothing_heavy(module: str) -> None:
    assert not loaded_by(f"import {module}") & HEAVY


def test_a_worker_process_loads_no_database() -> None:
    assert make_whole.__module__ in PRELOADED
    modules = loaded_by(f"import {', '.join(PRELOADED)}")
    assert not modules & {"sqlalchemy", "alembic", "psycopg"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["dupes", "--help"], ["ingest", "-h"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code, out, modules = call(*arguments)
    assert code == 0
    assert out
    assert not modules & HEAVY


@pytest.fixture(scope="module")
def index_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of two near-duplicates, linked."""
    path = tmp_path_factory.mktemp("imports") / "index.db"
    words = "one two three four five six seven eight nine ten"
    with Index.create(str(path)) as index:
        index.add([Document("a", words), Document("b", f"{words} eleven")])
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["dupes", "--min-sim", "0.8", "--limit", "5", "--format", "jsonl"],
        ["query", "--id", "a"],
        ["stats", "--json"],
        ["upgrade"],
    ],
    ids=" ".join,
)
def test_an_answer_from_the_tables_loads_no_compiler_and_no_other_driver(
    index_file: Path, arguments: list[str]
) -> None:
    code, out, modules = call("--db", index_file, *arguments)
    assert code == 0
    assert out
    assert not modules & {"numba", "llvmlite", "alembic", "psycopg", "sqlalchemy.dialects.postgresql", "pydantic"}
    assert "sqlalchemy" in modules


def test_a_call_loads_no_verb_but_its_own(index_file: Path) -> None:
    _, _, modules = call("--db", index_file, "stats", "--json")
    assert {f"lshdb.cli.{verb}" for verb in Commands()} & modules == {"lshdb.cli.stats"}


def test_a_small_job_loads_no_compiler(tmp_path: Path, index_file: Path) -> None:
    page, path = tmp_path / "page.txt", tmp_path / "new.db"
    page.write_text("one two three four five six seven eight nine ten")
    for arguments in (["ingest", page, page.parent], ["query", page], ["dupes"]):
        code, _, modules = call("--db", path, *arguments)
        assert code == 0
        assert not modules & {"numba", "llvmlite", "alembic"}
    code, out, modules = call("--db", index_file, "query", page, "--min-sim", "0.8")
    assert (code, "numba" in modules) == (0, False)
    assert out == "id\tsimilarity\texact\na\t1.0\ttrue\nb\t0.8571428571428571\ttrue\n"


def test_an_error_before_the_index_loads_no_compiler(tmp_path: Path) -> None:
    code, _, modules = call("--db", tmp_path / "none.db", "dupes")
    assert code == 11
    assert "numba" not in modules


def test_every_package_is_installed() -> None:
    root = Path(__file__).parents[1]
    listed = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {".".join(file.parent.relative_to(root).parts) for file in root.glob("lshdb/**/__init__.py")}
    migrations = {"lshdb.migrations", "lshdb.migrations.versions"}  # in a folder of their own
    assert sorted(listed) == sorted(found | migrations)


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["stats", "--json"], set[str]()),
        (["dupes"], {"lshdb.linking.pending", "lshdb.tuning.choice", "lshdb.tuning.promises"}),
    ],
)
def test_a_command_loads_only_the_stages_that_it_needs(
    index_file: Path, arguments: list[str], needed: set[str]
) -> None:
    code, _, modules = call("--db", index_file, *arguments)
    assert code == 0
    stages = ("ingest", "linking", "audit", "overlap", "passages", "readers", "tuning")
    assert {name for name in modules if name.startswith(tuple(f"lshdb.{one}." for one in stages))} == needed
