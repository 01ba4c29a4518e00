"""After a reband, an index answers like one created with the new bands."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lshdb import Index, IngestOptions, Params
from lshdb.store.schema import band_bucket
from tests.properties.test_incremental import Editor
from tests.store.conftest import counts

PROMISES = ((0.5, 0.9), (0.5, 0.999), (0.3, 0.9), (0.9, 0.99))


@pytest.mark.parametrize("seed", range(4))
def test_an_index_with_other_bands_answers_as_one_built_with_them(
    seed: int, tmp_path: Path, new_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.tuning.reband.BATCH_MINIMA", 300)
    chance = random.Random(seed)
    editor, url = Editor(chance, tmp_path / "folder"), new_url()
    with Index.create(url, Params(shingle="word:2", bands=20, rows=5, num_perm=110)) as index:
        for min_sim, recall in chance.sample(PROMISES, 2):
            index.ingest([editor.folder], IngestOptions(prune=True))
            report = index.reband(min_sim, recall)
            assert (report.after, report.after.recall >= recall) == (index.params, True)
            assert answers(index) == built(new_url(), index.params, editor.folder)
            editor.edit()
        index.ingest([editor.folder], IngestOptions(prune=True))
        assert answers(index) == built(new_url(), index.params, editor.folder)


def built(url: str, params: Params, folder: Path) -> tuple[object, ...]:
    with Index.create(url, replace(params, first_band=0)) as index:
        index.ingest([folder], IngestOptions(prune=True))
        return answers(index)


def answers(index: Index) -> tuple[object, ...]:
    """Return everything that must not depend on how the index got its bands."""
    floor = index.params.floor
    pairs = {
        (*sorted((pair.left, pair.right)), pair.similarity, pair.exact) for pair in index.pairs(floor, expand=True)
    }
    figures = index.stats().figures
    ids = sorted({name for left, right, _, _ in pairs for name in (left, right)})
    matches = [sorted((match.id, match.similarity) for match in index.query_file(one, floor)) for one in ids]
    counted = (
        figures.num_documents,
        figures.num_contents,
        figures.num_pairs,
        figures.num_unlinked,
        counts(index.url, band_bucket),
    )
    return pairs, matches, counted
