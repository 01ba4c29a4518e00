"""Feature sets, one per line."""

from __future__ import annotations

from pathlib import Path

from lshdb.model.values import Document
from lshdb.readers import ReadOptions, Rejection
from tests.readers.reading_files import read


def test_a_line_is_an_id_and_its_features(tmp_path: Path) -> None:
    path = tmp_path / "a.sets"
    path.write_text("a x y  x\tz\n\nb 1 2\r\nc née")
    assert read(path) == [
        Document("a", features=("x", "y", "x", "z"), source=path.as_uri(), locator="line 1"),
        Document("b", features=("1", "2"), source=path.as_uri(), locator="line 3"),
        Document("c", features=("née",), source=path.as_uri(), locator="line 4"),
    ]


def test_a_line_without_features_and_an_id_with_nul_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.sets"
    path.write_bytes(b"a\nb\0 x\nc x\n\xc2\xa0\n")
    first, second, third, fourth = read(path)
    assert first == Rejection(path.as_uri(), "line 1", "an id without features")
    assert second == Rejection(path.as_uri(), "line 2", "the id holds a NUL character")
    assert isinstance(third, Document)
    assert fourth == Rejection(path.as_uri(), "line 4", "an id without features")


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.sets"
    path.write_bytes(b"a x\xff y\n")
    [item] = read(path)
    assert (item.features, item.num_replaced) == (("x\ufffd", "y"), 1)


def test_in_an_index_of_sets_every_text_file_holds_sets(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a x y\n")
    [item] = read(path, ReadOptions(kind="set"))
    assert item.features == ("x", "y")


def test_the_input_format_sets_overrules_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("a x y\n")
    [item] = read(path, ReadOptions(input_format="sets"))
    assert item.features == ("x", "y")
