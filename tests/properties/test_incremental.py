"""After any sequence of edits of a folder, the index answers like a new index of it."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from lshdb import Document, Index, IngestOptions, Params
from lshdb.store.schema import band_bucket, content_text
from tests.store.conftest import counts

WORDS = [f"word{number}" for number in range(60)]
SEQUENCES = 6
# Finds a pair at the floor with probability 0.99999.
LOOSE: Final[dict[str, Any]] = {"shingle": "word:2", "bands": 40, "rows": 2}
EDITS = 5


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_an_edited_folder_answers_as_a_fresh_index_of_it(seed: int, tmp_path: Path, new_url: Callable[[], str]) -> None:
    editor = Editor(random.Random(seed), tmp_path / "folder")
    url = new_url()
    for _ in range(EDITS):
        editor.edit()
        ingest(url, editor.folder)
    assert answers(url, editor.folder) == answers(new_url(), editor.folder)


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_adding_removing_and_linking_in_any_order_answers_as_a_fresh_index(
    seed: int, new_url: Callable[[], str]
) -> None:
    chance = random.Random(seed)
    originals = [chance.choices(WORDS, k=length) for length in (1, 12, 30, 60)]
    texts: dict[str, str] = {}
    with Index.create(new_url(), Params(**LOOSE)) as index:
        for _ in range(EDITS):
            some = {f"d{chance.randrange(30)}": " ".join(varied(chance, originals)) for _ in range(6)}
            texts |= some
            index.add((Document(*one) for one in some.items()), link=chance.random() < 0.5)
            gone = chance.sample(sorted(texts), k=2)
            index.remove(gone)
            texts = {doc_id: text for doc_id, text in texts.items() if doc_id not in gone}
        found = graph_of(index)
    with Index.create(new_url(), Params(**LOOSE)) as fresh:
        fresh.add(Document(*one) for one in sorted(texts.items()))
        assert found == graph_of(fresh)


def varied(chance: random.Random, originals: list[list[str]]) -> list[str]:
    words = list(chance.choice(originals))
    for _ in range(chance.randint(0, 3)):
        words[chance.randrange(len(words))] = chance.choice(WORDS)
    return words


def graph_of(index: Index) -> tuple[object, ...]:
    """Pairs and clusters."""
    pairs = {(*sorted((pair.left, pair.right)), pair.similarity) for pair in index.pairs(0.5, expand=True)}
    return pairs, [sorted(sorted(cluster.members) for cluster in index.clusters(s)) for s in (0.5, 0.7, 0.9)]


def ingest(url: str, folder: Path) -> None:
    with Index.ensure(url, LOOSE) as index:
        index.ingest([folder], IngestOptions(prune=True))


def answers(url: str, folder: Path) -> tuple[object, ...]:
    """Return everything that must not depend on the order of the documents."""
    ingest(url, folder)
    with Index.open(url) as index:
        pairs = {
            (*sorted((pair.left, pair.right)), pair.similarity, pair.exact) for pair in index.pairs(0.5, expand=True)
        }
        figures = index.stats().figures
        ids = sorted(str(path) for path in folder.rglob("*.txt"))
        neighbours = [sorted((match.id, match.similarity) for match in index.query_id(one, 0.5)) for one in ids]
        clusters = {frozenset(cluster.members) for s in (0.5, 0.7, 0.9) for cluster in index.clusters(s)}
    counted = (figures.num_documents, figures.num_empty, figures.num_contents, figures.num_pairs, figures.num_unlinked)
    return pairs, clusters, counted, neighbours, counts(url, content_text, band_bucket)


class Editor:
    """Change a folder of similar texts at random."""

    def __init__(self, chance: random.Random, folder: Path) -> None:
        self._chance = chance
        self.folder = folder
        folder.mkdir()
        self._originals = [self._text() for _ in range(4)]
        for _ in range(10):
            self._add()

    def edit(self) -> None:
        """Make a few changes of every kind."""
        for _ in range(self._chance.randint(1, 6)):
            self._chance.choice([self._add, self._change, self._touch, self._delete, self._copy, self._rename])()

    def _text(self) -> list[str]:
        return self._chance.choices(WORDS, k=self._chance.choice([0, 1, 8, 30, 60]))

    def _variant(self) -> str:
        words = list(self._chance.choice(self._originals))
        for _ in range(self._chance.randint(0, 4)):
            if words:
                words[self._chance.randrange(len(words))] = self._chance.choice(WORDS)
        return " ".join(words)

    def _files(self) -> list[Path]:
        return sorted(self.folder.rglob("*.txt"))

    def _any(self) -> Path:
        return self._chance.choice(self._files())

    def _new_path(self) -> Path:
        inner = self.folder / self._chance.choice(["", "deep", "deep/er"])
        inner.mkdir(parents=True, exist_ok=True)
        return inner / f"{self._chance.randrange(10**9)}.txt"

    def _add(self) -> None:
        self._new_path().write_text(self._variant())

    def _change(self) -> None:
        path = self._any()
        path.write_text(self._variant())
        # The clock may be too coarse to distinguish two writes. A person saves later.
        after = path.stat().st_mtime_ns + self._chance.randrange(1, 10**9)
        os.utime(path, ns=(after, after))

    def _touch(self) -> None:
        self._any().touch()

    def _delete(self) -> None:
        if len(self._files()) > 1:
            self._any().unlink()

    def _copy(self) -> None:
        shutil.copy(self._any(), self._new_path())

    def _rename(self) -> None:
        self._any().rename(self._new_path())
