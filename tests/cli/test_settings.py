"""The global options: before or after the verb."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lshdb.cli.app import main
from lshdb.cli.settings import Settings
from lshdb.errors import UsageError


def missing(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the name of the index that a call does not find."""
    monkeypatch.setattr(sys, "argv", ["lshdb", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 11
    return capsys.readouterr().err.removeprefix("lshdb: There is no index at ").split(". Create")[0]


@pytest.mark.parametrize(
    ("arguments", "variable", "expected"),
    [
        (["--db", "a.db", "dupes"], None, "a.db"),
        (["dupes", "--db", "a.db"], None, "a.db"),
        (["--db", "a.db", "dupes", "--db", "b.db"], None, "b.db"),
        (["dupes", "--db", "b.db"], "c.db", "b.db"),
        (["--db", "a.db", "dupes"], "c.db", "a.db"),
        (["dupes"], "c.db", "c.db"),
        (["dupes"], "", "lshdb.db"),
        (["dupes"], None, "lshdb.db"),
        (["--quiet", "dupes", "-q"], None, "lshdb.db"),
    ],
)
def test_the_last_one_wins_then_the_variable_then_the_default(
    arguments: list[str],
    variable: str | None,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LSHDB_URL", raising=False)
    if variable is not None:
        monkeypatch.setenv("LSHDB_URL", variable)
    assert missing(arguments, monkeypatch, capsys) == expected
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_was_not_given_again_stays() -> None:
    before = Settings(address="a.db", quiet=True, log_file=Path("log"))
    assert Settings(schema="news").over(before) == Settings("a.db", "news", True, None, Path("log"))


def test_an_empty_address_is_an_error_wherever_it_stands() -> None:
    for settings in (Settings(""), Settings("").over(Settings("a.db")), Settings().over(Settings(" "))):
        with pytest.raises(UsageError, match=r"--db is empty\. Is a variable of your shell not set\?"):
            _ = settings.db
