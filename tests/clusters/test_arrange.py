"""What is left of clusters that documents of a run touch."""

from __future__ import annotations

import numpy as np
import pytest

from lshdb.clusters.arrange import Clusters

TOUCHED: list[tuple[list[int], list[list[int]], list[int]]] = [
    ([3, 8], [[1, 3], [7, 8]], [0, 2]),
    ([4], [[4, 5, 6]], [1]),
    ([], [], []),
    ([99], [], []),
]


@pytest.mark.parametrize(("doc_keys", "left", "places"), TOUCHED)
def test_clusters_keep_what_was_touched_and_the_kept_document(
    doc_keys: list[int], left: list[list[int]], places: list[int]
) -> None:
    keys = np.arange(1, 10)
    clusters = Clusters(keys, 10 * keys, np.asarray([0, 3, 6, 9]), np.asarray([1, 4, 7]), "jaccard")
    found, where = clusters.touched(np.asarray(doc_keys, dtype=np.int64))
    assert [found.chosen(place).doc_keys.tolist() for place in range(len(found))] == left
    assert found.content_keys.tolist() == [10 * key for group in left for key in group]
    assert (found.first_keys.tolist(), where.tolist()) == ([3 * place + 1 for place in places], places)
