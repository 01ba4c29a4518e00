"""The digests of an older index, which can be forged, are replaced by an upgrade."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import func, select, update

from lshdb import Decision, Document, Index, IngestOptions, Params
from lshdb.audit import digests as renewal
from lshdb.audit.digests import renew_digests
from lshdb.errors import IndexRebanded
from lshdb.model.progress import Progress, Stage
from lshdb.model.upkeep import DigestReport
from lshdb.sketch.sketch import sketch
from lshdb.store.dialect import INGEST
from lshdb.store.schema import content, index_params, new_digest
from lshdb.store.store import Store
from tests.audit.indexes import fill
from tests.audit.test_planted import ALL, audited, plant, repaired
from tests.cli.conftest import Run, lshdb
from tests.sketch.forge import FORGED
from tests.store.released import answers_of, restore

__all__ = ["lshdb"]

OLD = Params(table_version="unicode14-1")


def old_index(url: str, folder: Path, **chosen: object) -> None:
    """A sound index with old digests."""
    fill(url, folder, table_version="unicode14-1", **chosen)


def version_of(url: str) -> str:
    with Store.open(url) as store:
        return store.params.table_version


def digests_of(url: str) -> set[bytes]:
    with Store.open(url) as store, store.reading() as transaction:
        return set(transaction.execute(select(content.c.digest)).scalars())


def num_staged(url: str) -> int:
    with Store.open(url) as store, store.reading() as transaction:
        return int(transaction.execute(select(func.count()).select_from(new_digest)).scalar_one())


def answers(url: str) -> list[tuple[object, ...]]:
    with Index.open(url) as index:
        return [(pair.left, pair.right, pair.similarity, pair.exact) for pair in index.pairs(0.5)]


@pytest.mark.parametrize("name", ["revision_0001", "revision_0002"])
def test_an_older_index_has_the_digests_of_its_texts_after_an_upgrade(name: str, url: str, tmp_path: Path) -> None:
    restore(name, url, tmp_path)
    done = Index.upgrade(url).digests
    assert done is not None
    assert (done.num_left, done.num_computed) == (0, len(digests_of(url)))
    with Index.open(url) as index:
        assert index.params.table_version == "unicode14-1-sha256"
        pairs = [[pair.left, pair.right, pair.similarity, pair.exact] for pair in index.pairs(index.params.floor)]
        assert sorted(pairs) == sorted(answers_of(name)["pairs"])
        documents = [index.get(left) for left, *_ in pairs]
        made = sketch([document for document in documents if document is not None], index.params).digests
    assert {row.tobytes() for row in made} <= digests_of(url)
    assert (Index.upgrade(url).digests, num_staged(url)) == (None, 0)
    assert audited(url) == set()


@pytest.mark.parametrize("keep_text", [True, False])
def test_the_index_answers_and_recognises_its_texts_as_before(keep_text: bool, url: str, tmp_path: Path) -> None:
    old_index(url, tmp_path / "folder", keep_text=keep_text)
    with Index.open(url) as index:
        index.remove(["copy"])
        cluster = next(index.clusters())
        index.decide(Decision("keep", cluster.members[1], who="Ada"))
    before, digests = answers(url), digests_of(url)
    done = Index.upgrade(url).digests
    assert done == DigestReport(len(digests), 0)
    assert (answers(url), version_of(url)) == (before, "unicode14-1-sha256")
    assert not digests_of(url) & digests
    with Index.open(url) as index:
        assert [(one.id, one.state) for one in index.decisions(limit=1)] == [(cluster.members[1], "valid")]
        for path in sorted((tmp_path / "folder").iterdir()):
            path.write_text(path.read_text() + "\n")
        counts = index.ingest([tmp_path / "folder"], IngestOptions(prune=True)).counts
        assert (counts.num_added, counts.num_updated, counts.num_contents) == (0, 0, 0)
    assert audited(url) == set()


class Killed(Progress):
    """Kills this process after a few batches."""

    def __init__(self, num_batches: int) -> None:
        self._left = num_batches

    def advanced(self, stage: Stage, share: float) -> None:
        self._left -= stage == "upgrade"
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


def upgrade_and_die(url: str, num_batches: int) -> None:
    with Store.open(url) as store:
        renew_digests(store, Killed(num_batches), batch_contents=3)


@pytest.mark.parametrize("keep_text", [True, False])
def test_an_upgrade_that_is_killed_continues_where_it_was(keep_text: bool, url: str, tmp_path: Path) -> None:
    old_index(url, tmp_path / "folder", keep_text=keep_text)
    before, digests = answers(url), digests_of(url)
    process = multiprocessing.get_context("spawn").Process(target=upgrade_and_die, args=(url, 2))
    process.start()
    process.join(100)
    assert process.exitcode == -signal.SIGKILL
    assert (num_staged(url), version_of(url), digests_of(url)) == (6, "unicode14-1", digests)
    # The index is used and changed meanwhile.
    assert answers(url) == before
    with Index.open(url) as index:
        index.remove(["copy"])
        assert list(index.check(ALL)) == []
    assert Index.upgrade(url).digests == DigestReport(len(digests) - 6, 0)
    assert (version_of(url), num_staged(url)) == ("unicode14-1-sha256", 0)
    assert audited(url) == set()


def test_an_index_whose_sources_are_gone_keeps_its_old_digests_until_they_are_back(
    url: str, tmp_path: Path, lshdb: Run
) -> None:
    old_index(url, tmp_path / "folder", keep_text=False)
    with Index.open(url) as index:
        index.remove(["copy"])
    (tmp_path / "folder" / "a.jsonl").rename(tmp_path / "away.jsonl")
    ended = lshdb(url, "upgrade")
    num_contents = len(digests_of(url))
    computed, left = num_staged(url), num_contents - num_staged(url)
    assert 0 < computed < num_contents
    assert ended.out.splitlines()[1:] == [
        f"computed the digests of {computed} texts",
        f"{left} texts are neither kept nor in a source, so the index keeps its old digests; run the same command "
        "once the sources are back",
    ]
    assert "unicode14-1: a hostile text can pass for another one; lshdb upgrade" in lshdb(url, "stats").out
    (tmp_path / "away.jsonl").rename(tmp_path / "folder" / "a.jsonl")
    assert lshdb(url, "upgrade").out.splitlines()[1:] == [f"computed the digests of {left} texts"]
    assert "unicode14-1-sha256: a hostile text can pass for similar" in lshdb(url, "stats").out


def test_a_text_that_cannot_be_trusted_gets_no_new_digest(url: str, tmp_path: Path) -> None:
    old_index(url, tmp_path / "folder")
    plant(url, ["broken_text"], 1)
    num_contents = len(digests_of(url))
    assert Index.upgrade(url).digests == DigestReport(num_contents - 1, 1)
    assert version_of(url) == "unicode14-1"


def test_documents_that_a_forged_text_has_replaced_are_found_in_their_sources(url: str, tmp_path: Path) -> None:
    genuine, forged = json.loads(FORGED.read_text())["texts"]
    path = tmp_path / "both.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in
                            (("forged", forged), ("genuine", genuine))))  # fmt: skip
    with Index.create(url, replace(OLD, shingle="word:2")) as index:
        index.ingest([path])
        assert [pair.similarity for pair in index.pairs(0.9)] == [1.0]
    Index.upgrade(url)
    assert {(fault, key) for fault, key in audited(url)} == {("document-differs", "2")}
    assert repaired(url) == {}
    with Index.open(url) as index:
        index.ingest([path])
        assert list(index.pairs(0.9)) == []
        assert [(found := index.get(name)) is not None and found.text for name in ("forged", "genuine")] == [
            forged,
            genuine,
        ]
    assert audited(url) == set()


@pytest.fixture
def old(tmp_path: Path) -> str:
    """The place of an index with old digests of 22 texts of about 270 characters."""
    url = str(tmp_path / "old.db")
    old_index(url, tmp_path / "folder")
    with Index.open(url) as index:
        index.remove(["copy"])
    return url


class Doing(Progress):
    """Notes the progress, and does something after the first batch."""

    def __init__(self, action: Callable[[], object] = bool) -> None:
        self.shares: list[float] = []
        self._action = action

    def advanced(self, stage: Stage, share: float) -> None:
        self.shares.append(round(share * 22, 9))
        if len(self.shares) == 1:
            self._action()


@pytest.mark.parametrize("chosen", [{}, {"keep_text": False}, {"keep_text": False, "shingle": "set"}], ids=str)
def test_digests_are_computed_in_batches(chosen: dict[str, object], tmp_path: Path) -> None:
    url, progress = str(tmp_path / "index.db"), Doing()
    old_index(url, tmp_path / "folder", **chosen)
    with Index.open(url) as index:
        index.remove(["copy"])
    with Store.open(url) as store:
        assert renew_digests(store, progress, batch_contents=5) == DigestReport(22, 0)
    assert progress.shares == [5, 10, 15, 20, 22]


def test_texts_are_normalised_in_parts(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, normalise = [], renewal.normalise_utf8

    def noted(texts: list[bytes], *options: object) -> object:
        sizes.append(len(texts))
        return normalise(texts, *options)  # type: ignore[arg-type]

    monkeypatch.setattr(renewal, "normalise_utf8", noted)
    monkeypatch.setattr(renewal, "text_groups", partial(renewal.text_groups, group_bytes=500))
    with Store.open(old) as store:
        assert renew_digests(store, Progress()) == DigestReport(22, 0)
    assert sizes == [2] * 11


def test_an_upgrade_waits_for_an_ingest(old: str) -> None:
    done = []
    with Store.open(old) as ingesting, Store.open(old) as upgrading:
        upgrade = Thread(target=lambda: done.append(renew_digests(upgrading, Progress())))
        with ingesting.sole_work(INGEST, wait=False):
            upgrade.start()
            upgrade.join(0.2)
            assert upgrade.is_alive()
        upgrade.join(100)
    assert done == [DigestReport(22, 0)]


def test_digests_that_another_process_has_replaced_before_are_left_alone(old: str) -> None:
    with Store.open(old) as late:
        assert Index.upgrade(old).digests == DigestReport(22, 0)
        assert renew_digests(late, Progress()) is None
        assert renew_digests(late, Progress()) is None


def test_digests_that_another_process_replaces_meanwhile_are_left_alone(old: str) -> None:
    def overtake() -> None:
        with Store.open(old) as other:
            renewal._Renewal(other, Progress(), 100).run()

    with Store.open(old) as store:
        assert renew_digests(store, Doing(overtake), batch_contents=3) == DigestReport(3, 0)
        assert store.params.table_version == "unicode14-1-sha256"
    assert audited(old) == set()


def test_other_parameters_meanwhile_end_an_upgrade_and_the_next_one_continues(old: str) -> None:
    def change() -> None:
        with Store.open(old) as other, other.writing() as transaction:
            transaction.execute(update(index_params).values(min_sim=0.65))

    with Store.open(old) as store, pytest.raises(IndexRebanded):
        renew_digests(store, Doing(change), batch_contents=3)
    assert Index.upgrade(old).digests == DigestReport(19, 0)


def test_a_text_that_is_added_after_the_last_batch_has_its_digest_too(old: str) -> None:
    def add() -> None:
        with Index.open(old) as index:
            index.add([Document("late", "a text that was added meanwhile")])

    with Store.open(old) as store:
        assert renew_digests(store, Doing(add)) == DigestReport(23, 0)
