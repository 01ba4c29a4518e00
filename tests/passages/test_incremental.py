"""After any inserts, updates and removals, the fingerprints are those of an index that is made anew."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from lshdb import Document, Index, IngestOptions
from lshdb.audit import Thoroughness, passages
from lshdb.audit.faults import FROM_TEXT
from lshdb.errors import IndexRebanded, InvalidParams, ParamsMismatch
from lshdb.ingest.options import Budgets
from lshdb.linking.comparison import text_groups
from lshdb.model.progress import Progress
from lshdb.passages import build as passages_build
from lshdb.passages.build import _write_part, build
from lshdb.sketch.sketch import sketch
from lshdb.store.schema import content_text
from lshdb.store.store import Store
from lshdb.store.tables import fingerprints

ALL = Thoroughness(sample=None)
N = 6

ids = st.sampled_from(["a", "b", "c", "d"])
texts = st.lists(st.sampled_from(["one", "two", "three", "four", "水", "five"]), max_size=25).map(" ".join)
added = st.tuples(st.just("add"), st.lists(st.tuples(ids, texts), min_size=1, max_size=4))
steps = st.lists(st.one_of(added, st.tuples(st.just("remove"), ids), st.just(("vacuum", ""))), max_size=12)


def entries(url: str) -> dict[bytes, set[int]]:
    """The fingerprints of each content, by its digest. Those of deleted contents are left out."""
    with Store.open(url) as store, store.reading() as transaction:
        digests = dict(transaction.connection.exec_driver_sql("SELECT content_key, digest FROM content").fetchall())
        found: dict[bytes, set[int]] = {bytes(digest): set() for digest in digests.values()}
        for some in fingerprints.all_entries(transaction):
            for fingerprint, key in zip(some.hashes.tolist(), some.content_keys.tolist(), strict=True):
                if key in digests:
                    assert fingerprint not in found[bytes(digests[key])]
                    found[bytes(digests[key])].add(fingerprint)
    return found


def num_entries(url: str) -> int:
    with Store.open(url) as store, store.reading() as transaction:
        return sum(len(some) for some in fingerprints.all_entries(transaction))


def expected(url: str) -> dict[bytes, set[int]]:
    """The fingerprints of the texts of the index."""
    with Index.open(url) as index:
        documents = [index.get(doc_id) for doc_id in "abcd"]
        texts = [document.text for document in documents if document is not None and document.text]
        made = sketch([Document("x", text) for text in texts], index.params)
    assert made.fingerprints is not None
    rows = [made.fingerprints.chosen(np.array([row])).hashes for row in range(len(texts))]
    return {made.digests[row].tobytes(): set(rows[row].tolist()) for row in range(len(texts))}


# A new place for each example.
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_after_any_steps_the_fingerprints_are_those_of_the_texts(
    new_url: Callable[[], str], steps: list[tuple[str, object]]
) -> None:
    play(new_url(), steps)


def play(url: str, steps: list[tuple[str, object]]) -> None:
    with Index.create(url, {"passages": N}) as index:
        for what, given_ in steps:
            if what == "add":
                assert isinstance(given_, list)
                index.add(Document(doc_id, text) for doc_id, text in dict(given_).items())
            elif what == "vacuum":
                index.vacuum()
            elif given_ in index:
                index.remove(str(given_))
        assert list(index.check(ALL)) == []
    assert entries(url) == expected(url)
    with Index.open(url) as index:
        index.vacuum()
        assert list(index.check(ALL)) == []
    assert entries(url) == expected(url)
    assert num_entries(url) == sum(map(len, expected(url).values()))


def corpus(folder: Path) -> Path:
    path = folder / "texts.jsonl"
    lines = [f'{{"id": "{n}", "text": "{" ".join(str(n * n + i) for i in range(n % 40))}"}}\n' for n in range(300)]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("shingle", ["word:5", "char:8"])
def test_an_ingest_in_parts_writes_the_fingerprints_of_an_addition_at_once(
    shingle: str, new_url: Callable[[], str], tmp_path: Path
) -> None:
    folder, urls = corpus(tmp_path), [new_url(), new_url()]
    for url, count in zip(urls, (20, 10_000), strict=True):
        options = IngestOptions(budgets=Budgets(chunk_items=count, batch_documents=count))
        with Index.create(url, {"passages": N, "shingle": shingle}) as index:
            index.ingest(folder, options)
            assert list(index.check(ALL)) == []
    assert entries(urls[0]) == entries(urls[1])
    assert num_entries(urls[0]) > 300


def test_passages_that_are_built_later_are_those_that_an_ingest_writes(
    new_url: Callable[[], str], tmp_path: Path
) -> None:
    folder, at_once, later = corpus(tmp_path), new_url(), new_url()
    with Index.create(at_once, {"passages": N}) as index:
        index.ingest(folder)
    with Index.create(later) as index:
        index.ingest(folder)
        assert num_entries(later) == 0
        assert index.build_passages(N).passages == N
        assert index.params.passages == N
        index.add(Document("more", "a b c d e f g h i j"))
    with Index.open(at_once) as index:
        index.add(Document("more", "a b c d e f g h i j"))
    assert entries(later) == entries(at_once)


def built(url: str, folder: Path) -> dict[bytes, set[int]]:
    """The fingerprints of an index that was made with them."""
    with Index.create(url, {"passages": N}) as index:
        index.ingest(folder)
    return entries(url)


@pytest.mark.parametrize("step", ["begin", "put", "advance", "finish"])
def test_a_build_that_fails_at_any_step_continues_and_equals_a_fresh_one(
    step: str, new_url: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = corpus(tmp_path), new_url()
    with Index.create(url) as index:
        index.ingest(folder)
    done, num_calls = getattr(fingerprints, step), 0

    def broken(*arguments: object) -> None:
        nonlocal num_calls
        num_calls += 1
        done(*arguments)
        # In the third of five parts, or at the only call.
        if num_calls == 3 or step in ("begin", "finish"):
            raise KeyboardInterrupt

    with Store.open(url) as store:
        monkeypatch.setattr(fingerprints, step, broken)
        with pytest.raises(KeyboardInterrupt):
            build(store, N, Progress(), written_texts=70)
        monkeypatch.undo()
        assert store.params.passages == 0
    with Index.open(url) as index:
        assert list(index.check(ALL)) == []
    with Store.open(url) as store:
        build(store, N, Progress(), written_texts=70)
    assert entries(url) == built(new_url(), folder)
    with Index.open(url) as index:
        assert index.params.passages == N
        assert list(index.check(ALL)) == []


def test_between_the_parts_of_a_build_documents_come_and_go(url: str, tmp_path: Path) -> None:
    folder = corpus(tmp_path)
    with Index.create(url) as index:
        index.ingest(folder)
    with Store.open(url) as store:
        with store.writing() as transaction:
            fingerprints.begin(transaction, N)
        assert not _write_part(store, replace(store.params, passages=N), Progress(), 100)
    with Index.open(url) as index:
        index.remove("50")
        index.add(Document("more", "a b c d e f g h i j"))
    with Store.open(url) as store:
        build(store, N, Progress(), written_texts=70)
    with Index.open(url) as index:
        assert list(index.check(ALL)) == []


def test_a_part_of_a_build_ends_when_it_has_many_fingerprints(
    url: str, new_url: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = corpus(tmp_path)
    with Index.create(url) as index:
        index.ingest(folder)
    monkeypatch.setattr(passages_build, "text_groups", partial(text_groups, group_bytes=1))
    monkeypatch.setattr(passages_build, "WRITTEN_FINGERPRINTS", 1)
    parts: list[int] = []
    advance = fingerprints.advance
    monkeypatch.setattr(fingerprints, "advance", lambda transaction, at: parts.append(at) or advance(transaction, at))
    with Store.open(url) as store:
        build(store, N, Progress())
    assert len(parts) > 100
    assert entries(url) == built(new_url(), folder)


KILLED = """
import os, signal, sys
from lshdb.model.progress import Progress
from lshdb.passages.build import build
from lshdb.store.store import Store
from lshdb.store.tables import fingerprints

advance = fingerprints.advance

def killing(transaction, position):
    advance(transaction, position)
    if position > 150:
        os.kill(os.getpid(), signal.SIGKILL)

fingerprints.advance = killing
with Store.open(sys.argv[1]) as store:
    build(store, 6, Progress(), written_texts=70)
"""


def test_a_build_that_is_killed_continues_and_equals_a_fresh_one(new_url: Callable[[], str], tmp_path: Path) -> None:
    folder, url = corpus(tmp_path), new_url()
    with Index.create(url) as index:
        index.ingest(folder)
    assert subprocess.run([sys.executable, "-c", KILLED, url], check=False).returncode == -signal.SIGKILL
    with Store.open(url) as store, store.reading() as transaction:
        assert fingerprints.building(transaction) == fingerprints.Build(N, 140)
    with Index.open(url) as index:
        assert index.build_passages(N).passages == N
        assert list(index.check(ALL)) == []
    assert entries(url) == built(new_url(), folder)


def test_passages_of_another_length_replace_those_there_were(url: str, tmp_path: Path) -> None:
    with Index.create(url, {"passages": 13}) as index:
        index.ingest(corpus(tmp_path))
        before = num_entries(url)
        index.build_passages(25)
        assert index.params.passages == 25
        assert 0 < num_entries(url) < before
        assert list(index.check(ALL)) == []
        index.drop_passages()
        assert index.params.passages == 0
        assert num_entries(url) == 0


def test_a_process_that_would_write_no_fingerprints_is_refused(url: str) -> None:
    with Index.create(url) as index, Index.open(url) as other:
        index.build_passages(N)
        with pytest.raises(IndexRebanded):
            other.add(Document("a", "a text"))


def test_an_index_without_its_texts_has_no_passages(url: str) -> None:
    with pytest.raises(InvalidParams, match="passages are read from the kept texts"):
        Index.create(url, {"passages": N, "keep_text": False})
    with pytest.raises(InvalidParams, match="an index of sets has no passages"):
        Index.create(url, {"passages": N, "shingle": "set"})
    with Index.create(url, {"keep_text": False}) as index, pytest.raises(InvalidParams, match="kept texts"):
        index.build_passages(N)


def test_an_index_with_documents_does_not_get_passages_by_the_way(url: str) -> None:
    with Index.create(url) as index:
        index.add(Document("a", "a text"))
    with pytest.raises(ParamsMismatch):
        Index.ensure(url, {"passages": N})


def test_a_copy_has_the_fingerprints(new_url: Callable[[], str], tmp_path: Path) -> None:
    url, copy = new_url(), new_url()
    with Index.create(url, {"passages": N}) as index:
        index.ingest(corpus(tmp_path))
        index.copy(copy)
    assert entries(copy) == entries(url)
    with Index.open(copy) as index:
        assert index.params.passages == N
        assert list(index.check(ALL)) == []


def test_wrong_fingerprints_are_found_and_repaired(url: str, tmp_path: Path) -> None:
    with Index.create(url, {"passages": N}) as index:
        index.ingest(corpus(tmp_path))
    before = entries(url)
    with Store.open(url) as store, store.writing() as transaction:
        chosen = "SELECT prefix, first_content_key, entries FROM fingerprint_block ORDER BY prefix LIMIT 2"
        one, other = transaction.connection.exec_driver_sql(chosen).fetchall()
        transaction.connection.exec_driver_sql(f"DELETE FROM fingerprint_block WHERE prefix = {one[0]}")
        transaction.connection.exec_driver_sql(
            f"UPDATE fingerprint_block SET first_content_key = first_content_key + 1 WHERE prefix = {other[0]}"
        )
    with Index.open(url) as index:
        audit = index.check(ALL)
        assert {fault.fault for fault in audit} == {"fingerprints-differ"}
        index.repair(audit.counts)
        assert list(index.check(ALL)) == []
    assert entries(url) == before


def test_wrong_fingerprints_are_counted_whatever_is_read_at_a_time(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["ant bee cat dog elk fox gnu hen", "one two three four five six seven", "yak zebu ox pig cow ewe ram"]
    with Index.create(url, {"passages": N}) as index:
        index.add(Document(str(number), text) for number, text in enumerate(texts))
        before = entries(url)
        monkeypatch.setattr(fingerprints, "PAGE_BLOCKS", 1)
        monkeypatch.setattr(passages, "text_groups", partial(text_groups, group_bytes=1))
        assert list(index.check(ALL)) == []
        with Store.open(url) as store, store.writing() as transaction:
            transaction.connection.exec_driver_sql("DELETE FROM fingerprint_block")
            transaction.execute(update(content_text).where(content_text.c.content_key == 2).values(text=b"no frame"))
        kept = {digest: found for digest, found in before.items() if digest != sketched(texts[1], index)}
        found = [(one.key, one.detail, one.repair) for one in index.check(ALL) if one.table == "fingerprint_block"]
        assert found == [
            ("1", f"its 0 fingerprints are not the {len(before[sketched(texts[0], index)])} of its text", FROM_TEXT),
            ("3", f"its 0 fingerprints are not the {len(before[sketched(texts[2], index)])} of its text", FROM_TEXT),
        ]
        index.repair(["fingerprints-differ"])
    assert {digest: found for digest, found in entries(url).items() if found} == kept


def sketched(text: str, index: Index) -> bytes:
    """Return the digest of a text."""
    return sketch([Document("x", text)], index.params).digests[0].tobytes()
