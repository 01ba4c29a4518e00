"""The error tree: its drawing, exit codes, messages, and pickling."""

from __future__ import annotations

import inspect
import pickle
import re
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest

from lshdb import errors
from lshdb.errors import (
    BadDocument,
    BelowFloor,
    IndexMissing,
    IndexOutdated,
    LshdbError,
    NotIngested,
    StoreError,
    UsageError,
)

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, LshdbError)]
LEAVES = [kind for kind in CLASSES if not kind.__subclasses__()]
# What the command line ends with when no error of ours did it: done, no match, and the shells' own codes.
TAKEN = {0, 1, *range(64, 79), 126, 127, 130, 141, 143}

by_name = {"ids": lambda kind: kind.__name__}


def shown_fields(kind: type[LshdbError]) -> set[str]:
    """The names of the fields in the message."""
    return {name for _, name, _, _ in Formatter().parse(kind.__doc__ or "") if name}


def fields_of(kind: type[LshdbError]) -> dict[str, object]:
    """A value for each field that a caller has to give."""
    return {name: f"<{name} of it>" for name in kind.field_names() if name in shown_fields(kind)}


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    drawn: dict[str, tuple[str | None, int]] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.fullmatch(r" {4}((?:[│ ] {3})*)(├── |└── )?(\w+) *(\d+)?(?: .*)?", line)
        if found is None:
            continue
        depth = len(found[1]) // 4 + 1 if found[2] else 0
        path[depth:] = [found[3]]
        drawn[found[3]] = (path[depth - 1] if depth else None, int(found[4] or LshdbError.exit_code))
    parents = {kind: kind.__base__.__name__ if kind is not LshdbError and kind.__base__ else None for kind in CLASSES}
    assert drawn == {kind.__name__: (parents[kind], kind.exit_code) for kind in CLASSES}


def test_every_leaf_has_an_exit_code_of_its_own_but_the_usage_errors_that_share_2() -> None:
    codes = Counter(kind.exit_code for kind in LEAVES if not issubclass(kind, UsageError))
    assert [code for code, number in codes.items() if number > 1] == []
    assert {kind.exit_code for kind in CLASSES if issubclass(kind, UsageError)} == {2}
    assert 2 not in codes


def test_no_exit_code_is_one_that_means_something_else() -> None:
    assert not {kind.exit_code for kind in CLASSES} & TAKEN
    assert all(kind.exit_code < 128 for kind in CLASSES)


def test_a_parent_shares_its_exit_code_with_no_child() -> None:
    for kind in CLASSES:
        if kind.__subclasses__() and kind is not UsageError:
            assert kind.exit_code not in [child.exit_code for child in kind.__subclasses__()], kind


@pytest.mark.parametrize("kind", CLASSES, **by_name)  # type: ignore[arg-type]
def test_a_message_is_one_line_with_all_its_fields(kind: type[LshdbError]) -> None:
    fields = fields_of(kind)
    assert fields or kind is LshdbError, "a message without a field says the same of everything"
    error = kind(**fields)
    message = str(error)
    assert all(str(value) in message for value in fields.values())
    assert len(message.splitlines()) == 1
    assert not re.search(r"[{}]|  ", message)
    for name, value in fields.items():
        assert getattr(error, name) == value


@pytest.mark.parametrize("kind", CLASSES, **by_name)  # type: ignore[arg-type]
def test_pickling_keeps_the_class_the_fields_and_the_message(kind: type[LshdbError]) -> None:
    error = kind(**fields_of(kind))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert again.fields == error.fields
    assert str(again) == str(error)
    assert again.exit_code == kind.exit_code


@pytest.mark.parametrize("kind", CLASSES, **by_name)  # type: ignore[arg-type]
def test_the_fields_of_a_message_are_declared_so_that_a_type_checker_knows_them(kind: type[LshdbError]) -> None:
    assert shown_fields(kind) <= kind.field_names()
    assert not hasattr(kind, "__getattr__"), "any name would pass the type checker"


@pytest.mark.parametrize("kind", [kind for kind in LEAVES if kind.field_names()], **by_name)  # type: ignore[arg-type]
def test_a_field_cannot_be_forgotten(kind: type[LshdbError]) -> None:
    with pytest.raises(TypeError, match=f"{kind.__name__} takes the fields"):
        kind()


def test_a_value_with_braces_is_shown_as_it_is() -> None:
    assert str(UsageError(reason="{reason} {0} {")) == "{reason} {0} {"


def test_a_field_that_is_not_declared_is_refused() -> None:
    with pytest.raises(TypeError, match=r"UsageError takes the fields \['reason'\]; wrong or missing: \['raeson'\]"):
        UsageError(raeson="no")  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="raeson"):
        _ = UsageError(reason="no").raeson  # type: ignore[attr-defined]


def test_the_messages_name_what_helps() -> None:
    outdated = IndexOutdated(url="crawl.db", current="0001", head="0002")
    assert str(outdated) == (
        "Index crawl.db is at revision 0001; this version needs 0002. Run: lshdb --db crawl.db upgrade"
    )
    below = BelowFloor(min_sim=0.4, floor=0.5)
    assert str(below).startswith("--min-sim 0.4 is below this index's floor 0.5: less similar pairs are not")
    bad = BadDocument(source="file:///a.jsonl", locator=", line 3", reason="no text")
    assert str(bad) == "file:///a.jsonl, line 3: no text"


def test_a_command_in_a_message_is_quoted_for_a_shell() -> None:
    url = "postgresql://postgres@/d5?host=%2Ftmp&schema=x"
    assert str(IndexMissing(url=url)) == (
        f"There is no index at {url}. Create one with: lshdb --db '{url}' ingest PATH"
    )
    named = NotIngested(path=Path("/srv/new shard.jsonl"), reason="is not in the index")
    assert str(named).endswith(
        "/srv/new shard.jsonl is not in the index. Run first: lshdb ingest '/srv/new shard.jsonl'"
    )


def test_one_except_catches_them_all() -> None:
    assert all(issubclass(kind, LshdbError) for kind in CLASSES)
    assert issubclass(IndexOutdated, StoreError)
    assert not issubclass(BadDocument, StoreError)


def test_every_error_is_exported() -> None:
    assert sorted(errors.__all__) == sorted(kind.__name__ for kind in CLASSES)
