"""Contents that are not linked yet are linked before an answer, unless that would keep the question waiting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lshdb import Document, Index, Params
from lshdb.errors import AccessDenied, IndexBusy
from lshdb.linking.link import Linking
from lshdb.linking.pending import link_pending
from lshdb.model.progress import Progress
from lshdb.store.store import Store
from lshdb.store.tables import graph

PARAMS = Params(shingle="word:1", bands=100, rows=1, floor=0.5)


class Warnings(Progress):
    """Keeps warnings."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def warned(self, message: str) -> None:
        self.given.append(message)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An index with two similar documents that are not linked yet."""
    with Index.create(url, PARAMS) as index:
        index.add([Document("a", "ant bee cat"), Document("b", "ant bee cat dog")], link=False)
    with Store.open(url) as store:
        yield store


def pending(store: Store) -> tuple[list[str], int, int]:
    """Return the warnings, and the numbers of contents that are not linked and of pairs."""
    progress = Warnings()
    link_pending(store, progress)
    return progress.given, store.read(graph.num_unlinked), store.read(graph.num_pairs)


def test_contents_are_linked_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pending(store) == ([], 0, 1)
    monkeypatch.setattr(Store, "is_locked", lambda _: pytest.fail("nothing is left to link"))
    assert pending(store) == ([], 0, 1)


WARNING = "2 contents are not linked yet and are missing from this answer"


def test_while_another_process_writes_the_answer_lacks_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "is_locked", lambda _: True)
    assert pending(store) == ([WARNING], 2, 0)


@pytest.mark.parametrize("error", [IndexBusy, AccessDenied])
def test_where_another_links_or_this_role_may_only_read_the_answer_lacks_them(
    store: Store, error: type[IndexBusy | AccessDenied], monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(_: Linking, *, wait: bool = True) -> int:
        assert not wait
        raise error(url=store.url, reason="x")

    monkeypatch.setattr(Linking, "link", link)
    assert pending(store) == ([WARNING], 2, 0)
