"""The digests of an older index, which can be forged, are replaced by an upgrade."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from lshdb import Index, IngestOptions, Params
from lshdb.audit.digests import renew_digests
from lshdb.model.progress import Progress, Stage
from lshdb.model.upkeep import DigestReport
from lshdb.sketch.sketch import sketch
from lshdb.store.schema import content, new_digest
from lshdb.store.store import Store
from tests.audit.indexes import fill
from tests.audit.test_planted import ALL, audited, plant, repaired
from tests.cli.conftest import Run, lshdb
from tests.sketch.forge import FORGED
from tests.store.released import answers_of, restore

__all__ = ["lshdb"]

OLD, AFTER = Params(table_version="unicode14-1"), Params(table_version="unicode14-1-sha256")
NUM_CONTENTS = 22


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
    before, digests = answers(url), digests_of(url)
    done = Index.upgrade(url).digests
    assert done == DigestReport(len(digests), 0)
    assert (answers(url), version_of(url)) == (before, "unicode14-1-sha256")
    assert not digests_of(url) & digests
    with Index.open(url) as index:
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
        f"{left} texts are neither kept nor in their sources, so the index keeps its old digests; run the same command "
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
