"""Files of records in UTF-16 or UTF-32, which are refused by their byte order mark."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb.model.values import Document
from lshdb.readers import ReadOptions, Rejection
from tests.readers.reading_files import read

CONTENTS = {"a.csv": "id,text\n1,words\n", "a.tsv": "id\ttext\n1\twords\n", "a.jsonl": '{"id": "1", "text": "words"}\n'}


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize(("charset", "told"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32")])
def test_a_file_of_records_says_that_it_is_not_in_utf_8(name: str, charset: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(CONTENTS[name].encode(charset))
    reason = f"in {told}, not in UTF-8: convert it, for example with iconv -f {told} -t UTF-8"
    assert read(path) == [Rejection(path.as_uri(), "line 1", reason)]


@pytest.mark.parametrize("name", CONTENTS)
def test_a_byte_order_mark_of_utf_8_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(CONTENTS[name].encode("utf-8-sig"))
    [document] = read(path)
    assert isinstance(document, Document)
    assert document.text == "words"


def test_feature_sets_too(tmp_path: Path) -> None:
    path = tmp_path / "a.sets"
    path.write_bytes("1 words\n".encode("utf-16-be").join([b"\xfe\xff", b""]))
    [item] = read(path, ReadOptions(kind="set"))
    assert isinstance(item, Rejection)
    assert item.reason.startswith("in UTF-16, ")


def test_a_text_in_utf_16_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("née".encode("utf-16"))
    [document] = read(path)
    assert isinstance(document, Document)
    assert document.text == "née"
