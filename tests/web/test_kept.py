"""Answers that are kept: until when, and who waits for new ones."""

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path

import pytest

from lshdb import CollectionUnknown, Decision, Document, Index
from lshdb.web import kept as module
from lshdb.web.kept import Kept

pytestmark = pytest.mark.sqlite


def test_the_one_who_changes_something_waits_for_the_new_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it takes too long: then the old one is given, and the new one computed meanwhile."""
    kept, is_computed = Kept(), threading.Event()

    def number(index: Index) -> int:
        found = len(index.decisions())
        is_computed.set()
        return found

    # Every answer counts as slow.
    monkeypatch.setattr(module, "SLOW_SECONDS", -1.0)
    with Index.create(tmp_path / "index.db") as index:
        index.add(Document("a", "one two three"))
        assert kept.get(index, "number", number) == 0
        index.decide(Decision("keep", "a", who="Ada"))
        assert kept.get(index, "number", number) == 0
        monkeypatch.setattr(module, "SLOW_SECONDS", 0.0)
        kept.expire()
        assert kept.get(index, "number", number) == 1
        monkeypatch.setattr(module, "PATIENT_SECONDS", 0.0)
        monkeypatch.setattr(module, "SLOW_SECONDS", -1.0)
        index.undo(1)
        kept.expire()
        is_computed.clear()
        assert kept.get(index, "number", number) == 1
        assert is_computed.wait(30)


def test_a_question_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    class Name:
        """The name of a question."""

    def fail(index: Index) -> None:
        raise CollectionUnknown(collection="none", url=index.url, known="default")

    kept, name = Kept(), Name()
    with Index.create(tmp_path / "index.db") as index, pytest.raises(CollectionUnknown):
        kept.get(index, name, fail)
    known = weakref.ref(name)
    del name
    gc.collect()
    assert known() is None
