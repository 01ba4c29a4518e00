"""HTML pages: charset and text."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb.readers import ReadOptions, Rejection
from lshdb.readers.extraction import page_text
from lshdb.readers.html import declared_charset
from tests.readers.reading_files import read, texts

ARTICLE = "The quick brown fox jumps over the lazy dog and runs away into the dark forest. " * 5
PAGE = f"<html><body><nav><a href=x>Home</a> <a href=y>About</a></nav><main><p>{ARTICLE}</p></main></body></html>"


def page_of(path: Path, raw: bytes) -> tuple[str, int]:
    path.write_bytes(raw)
    [item] = read(path)
    return item.text, item.num_replaced


def test_main_content_leaves_out_the_navigation_and_all_text_keeps_it() -> None:
    assert "Home" not in page_text(PAGE, "main")
    assert "Home" in page_text(PAGE, "all")
    assert "quick brown fox" in page_text(PAGE, "main")


def test_the_option_html_chooses_between_them(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE)
    assert "Home" not in texts(tmp_path / "a.html")[0]
    assert "Home" in texts(tmp_path / "a.html", ReadOptions(html="all"))[0]


def test_a_page_without_main_content_gives_all_its_text() -> None:
    assert page_text("<nav><a href=x>Home</a></nav>", "main") == "Home"


def test_words_of_neighbouring_cells_do_not_run_together() -> None:
    assert page_text("<table><tr><td>one<td>two</table><ul><li>three<li>four</ul>", "all").split() == [
        "one",
        "two",
        "three",
        "four",
    ]


def test_scripts_styles_link_targets_and_image_descriptions_are_not_text() -> None:
    page = "<p>word<script>let x</script><style>p{}</style><img src=i alt=picture> <a href='/target'>link</a>"
    assert page_text(page, "all").split() == ["word", "link"]


@pytest.mark.parametrize(
    "declaration",
    [
        b'<meta charset="iso-8859-1">',
        b"<META CHARSET=latin1>",
        b'<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">',
        b'<?xml version="1.0" encoding="windows-1252"?>',
        b"<!-- <meta charset=utf-8> --><meta charset='l1'>",
    ],
)
def test_the_declared_charset_decodes_the_page(tmp_path: Path, declaration: bytes) -> None:
    assert page_of(tmp_path / "a.html", declaration + b"<p>caf\xe9 \x80") == ("café €", 0)


def test_a_byte_order_mark_overrules_the_declaration(tmp_path: Path) -> None:
    raw = b"\xff\xfe" + "<meta charset=shift_jis><p>née".encode("utf-16-le")
    assert page_of(tmp_path / "a.html", raw) == ("née", 0)


def test_a_page_in_a_many_byte_charset(tmp_path: Path) -> None:
    raw = b"<meta charset=x-sjis><p>" + "東京".encode("shift_jis")
    assert page_of(tmp_path / "a.html", raw) == ("東京", 0)


def test_a_declaration_that_does_not_fit_gives_way_to_utf8(tmp_path: Path) -> None:
    raw = b"<meta charset=shift_jis><p>" + "née ünd Ö".encode() + b"\xc3\xa0"
    assert page_of(tmp_path / "a.html", raw) == ("née ünd Öà", 0)


@pytest.mark.parametrize("charset", [b"nonsense", b"rot13", b"utf-7", b"replacement", b"utf-16", b"x" * 3000])
def test_an_unknown_charset_is_read_as_utf8(tmp_path: Path, charset: bytes) -> None:
    assert page_of(tmp_path / "a.html", b"<meta charset=" + charset + b"><p>" + "née".encode()) == ("née", 0)


def test_bytes_that_no_charset_explains_are_replaced_and_counted(tmp_path: Path) -> None:
    assert page_of(tmp_path / "a.html", b"<meta charset=utf-8><p>caf\xe9 \xff") == ("caf\ufffd \ufffd", 2)
    assert page_of(tmp_path / "b.html", b"<meta charset=euc-jp><p>\xc5\xec \xff") == ("東 \ufffd", 1)


def test_a_charset_declared_after_a_long_comment_is_found() -> None:
    assert declared_charset(b"<!--" + b"x" * 3000 + b"--><meta charset=koi8-r>") == "koi8-r"


def test_a_page_larger_than_ten_megabytes_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"<p>" + b"word " * 2_000_000)
    assert read(path) == [Rejection(path.as_uri(), "", "page larger than 10 MB")]


def test_an_empty_page_is_a_document_without_text(tmp_path: Path) -> None:
    assert page_of(tmp_path / "a.html", b"") == ("", 0)
