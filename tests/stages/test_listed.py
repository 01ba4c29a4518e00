"""A sorted list of contents, of which the row groups are read that can have a content."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lshdb.stages.listed import ListedContents

CONTENTS = [3, 5, 8, 2**40, 2**40 + 1, 2**40 + 7]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ([3, 4, 5, 8, 9], [3, 5, 8]),
        ([2**40 + 1, 2, 2**41, 5], [2**40 + 1, 5]),
        ([0, None, 2**40, None], [2**40]),
        ([], []),
    ],
)
def test_rows_whose_place_is_listed(tmp_path: Path, place: list[int | None], expected: list[int]) -> None:
    pq.write_table(pa.table({"content": CONTENTS}), tmp_path / "part-00000.parquet", row_group_size=2)
    batch = pa.record_batch({"place": pa.array(place, pa.int64()), "other": [str(one) for one in place]})
    found = ListedContents(tmp_path).among(batch)
    assert found.column("place").to_pylist() == expected
    assert found.column("other").to_pylist() == list(map(str, expected))


def test_nothing_is_on_an_empty_list(tmp_path: Path) -> None:
    pq.write_table(pa.table({"content": pa.array([], pa.int64())}), tmp_path / "part-00000.parquet")
    assert len(ListedContents(tmp_path).among(pa.record_batch({"place": [1, 2]}))) == 0
