"""Texts that the index does not keep are read again from their sources, if they are still the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lshdb import Document, Index, IngestOptions, Params
from lshdb.linking.rereading import spool_lost
from lshdb.readers import ReadOptions
from lshdb.sketch.texts import unpack
from lshdb.store.store import Store

# Each of these has a pair, except the last.
TEXTS = ["ant bee cat dog", "ant bee cat dog elk", "ant bee cat dog fox", "yak zebu"]
PARAMS = Params(shingle="word:1", bands=100, rows=1, floor=0.5, keep_text=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of four records, whose texts are in a field of another name."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": str(row), "body": text}) + "\n" for row, text in enumerate(TEXTS)))
    return path


@pytest.fixture
def store(url: str, path: Path) -> Iterator[Store]:
    with Index.create(url, PARAMS) as index:
        index.ingest([path], IngestOptions(read=ReadOptions(text_field="body")))
        index.add(Document("of a program", "ant bee cat dog gnu"))
    with Store.open(url) as store:
        yield store


def spooled(store: Store, *content_keys: int, options: ReadOptions = ReadOptions()) -> dict[int, str]:  # noqa: B008
    """Return the texts of the contents, or those of all contents that have a pair."""
    chosen = np.array(content_keys, dtype=np.int64) if content_keys else None
    with store.reading() as snapshot:
        spool = spool_lost(snapshot, store.params, options, chosen)
    return {key: unpack(frame) for key, frame in spool.texts(np.arange(1, 9))}


def test_the_texts_of_pairs_or_of_some_contents_are_read_as_they_were_before(store: Store) -> None:
    first, second, third, fourth = TEXTS
    assert spooled(store) == {1: first, 2: second, 3: third}
    assert spooled(store, 2, 4, 5) == {2: second, 4: fourth}


def test_a_text_that_has_changed_or_is_gone_is_left_out(store: Store, path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0].replace("bee", "BEE"), lines[1].replace("elk", "eel"), lines[2]]))
    assert spooled(store, 1, 2, 3, 4) == {1: TEXTS[0].replace("bee", "BEE"), 3: TEXTS[2]}
    path.unlink()
    assert spooled(store, 1, 2, 3, 4) == {}


def test_a_line_that_cannot_be_read_now_costs_only_itself(store: Store, path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "{\n", lines[2], lines[3]]))
    assert spooled(store, 1, 2, 3, 4) == {1: TEXTS[0], 3: TEXTS[2], 4: TEXTS[3]}


def test_a_record_that_is_no_text_now_is_left_out(store: Store, path: Path) -> None:
    path.write_text('{"id": "0", "body": ["ant", "bee"]}\n')
    assert spooled(store, 1, options=ReadOptions(kind="set")) == {}
