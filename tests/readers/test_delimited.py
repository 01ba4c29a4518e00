"""CSV and TSV: columns by name, quotes, and invalid rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb.model.values import Document
from lshdb.readers import ReadOptions, Rejection, base
from tests.readers.reading_files import read


def write(path: Path, raw: str | bytes) -> Path:
    path.write_bytes(raw.encode() if isinstance(raw, str) else raw)
    return path


def reasons(path: Path, options: ReadOptions = ReadOptions()) -> list[tuple[str, str]]:  # noqa: B008
    return [(item.locator, item.reason) for item in read(path, options) if isinstance(item, Rejection)]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.TAB", "\t"), ("a.csv.gz", ",")])
def test_a_row_is_a_document_by_the_names_of_its_columns(tmp_path: Path, name: str, separator: str) -> None:
    rows = [["lang", "text", "id"], ["en", "one two", "a"], ["fr", "née", "b"]]
    path = write(tmp_path / name, "\n".join(separator.join(row) for row in rows))
    assert read(path) == [
        Document("a", "one two", source=path.as_uri(), locator="line 2"),
        Document("b", "née", source=path.as_uri(), locator="line 3"),
    ]


def test_a_quoted_field_holds_separators_quotes_and_line_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'id,text\r\na,"one, ""two""\r\n\r\nthree"\r\n\r\nb,four\r\n')
    assert read(path) == [
        Document("a", 'one, "two"\n\nthree', source=path.as_uri(), locator="line 2"),
        Document("b", "four", source=path.as_uri(), locator="line 6"),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    [item] = read(write(tmp_path / "a.csv", b"\xef\xbb\xbfid,text\na,one\n"))
    assert isinstance(item, Document)


def test_the_options_name_the_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id,url,body\n1,u,one\n")
    [item] = read(path, ReadOptions(id_field="url", text_field="body"))
    assert isinstance(item, Document)
    assert (item.doc_id, item.text) == ("u", "one")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("id,body", 'no column "text"; the columns are: id, body'),
        ("id,text,text", 'more than one column "text"; the columns are: id, text, text'),
        ("id,text,id", 'more than one column "id"; the columns are: id, text, id'),
        ("", 'no column "text"; the columns are: '),
    ],
)
def test_a_missing_column_is_one_rejection_that_names_those_there_are(tmp_path: Path, header: str, reason: str) -> None:
    assert reasons(write(tmp_path / "a.csv", f"{header}\na,b\nc,d\n")) == [("line 1", reason)]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("b", "not as many fields as the header: 1, not 2"),
        ("b,one,two", "not as many fields as the header: 3, not 2"),
        ("b\0,one", "the id holds a NUL character"),
        ('b,"one" two', "not a valid row: ',' expected after '\"'"),
    ],
)
def test_a_bad_row_is_rejected_and_the_others_are_read(tmp_path: Path, row: str, reason: str) -> None:
    path = write(tmp_path / "a.csv", f"id,text\na,one\n{row}\nc,three\n")
    assert reasons(path) == [("line 3", reason)]
    assert [item.doc_id for item in read(path) if isinstance(item, Document)] == ["a", "c"]


def test_a_quote_that_stays_open_is_rejected_at_the_end(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'id,text\na,one\nb,"two\nc,three\n')
    assert reasons(path) == [("line 3", "not a valid row: unexpected end of data")]


def test_a_field_and_a_line_that_are_too_long_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MAX_LINE_BYTES", 2_000_000)
    options = ReadOptions(max_text=100_000)
    path = write(tmp_path / "a.csv", "id,text\na," + "x" * 100_001 + "\nb," + "y" * 3_000_000 + "\nc,three\n")
    assert reasons(path, options) == [
        ("line 2", "not a valid row: field larger than field limit (100000)"),
        ("line 3", "longer than 2 MB"),
    ]
    assert read(path, options)[-1] == Document("c", "three", source=path.as_uri(), locator="line 4")


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    first, second = read(write(tmp_path / "a.csv", b'id,text\na,"caf\xe9\n\xff"\nb,x\n'))
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.text, first.num_replaced, second.num_replaced) == ("caf\ufffd\n\ufffd", 2, 0)


def test_a_truncated_file_says_so(tmp_path: Path) -> None:
    import gzip

    raw = gzip.compress(b"id,text\n" + b"".join(b"%d,word\n" % number for number in range(100_000)))
    *_, last = read(write(tmp_path / "a.csv.gz", raw[:-1000]))
    assert isinstance(last, Rejection)
    assert last.reason == "gzip stream is truncated in the row that begins here"


def test_an_index_of_sets_takes_the_words_as_features(tmp_path: Path) -> None:
    [item] = read(write(tmp_path / "a.csv", "id,text\na,x y  x\n"), ReadOptions(kind="set"))
    assert isinstance(item, Document)
    assert (item.text, item.features) == ("", ("x", "y", "x"))
