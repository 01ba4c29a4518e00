"""SECURITY.md names tests that exist, one for each promise and each limit."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.docs.pages import ROOT

TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ROWS = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if re.match(r"\| (?!promise|what)", line)]


@cache
def defined_in(path: Path) -> set[str]:
    """Return the names of the tests in a file."""
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_every_promise_and_every_limit_names_a_test() -> None:
    assert len(ROWS) > 40
    assert [row for row in ROWS if not TEST.search(row)] == []


def test_every_test_that_is_named_exists() -> None:
    named = {match.groups() for row in ROWS for match in TEST.finditer(row)}
    assert sorted((file, test) for file, test in named if test not in defined_in(ROOT / file)) == []
