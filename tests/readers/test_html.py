"""HTML pages: their charset, their text, and pages that were made to hurt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lshdb.readers import ReadOptions, Rejection
from lshdb.readers.html import declared_charset, page_text
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


def test_script_style_links_and_image_descriptions_are_no_text() -> None:
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


def test_what_no_charset_explains_is_replaced_and_counted(tmp_path: Path) -> None:
    assert page_of(tmp_path / "a.html", b"<meta charset=utf-8><p>caf\xe9 \xff") == ("caf\ufffd \ufffd", 2)
    assert page_of(tmp_path / "b.html", b"<meta charset=euc-jp><p>\xc5\xec \xff") == ("東 \ufffd", 1)


def test_a_charset_declared_behind_a_long_comment_is_found() -> None:
    assert declared_charset(b"<!--" + b"x" * 3000 + b"--><meta charset=koi8-r>") == "koi8-r"


def test_a_page_larger_than_ten_megabytes_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"<p>" + b"word " * 2_000_000)
    assert read(path) == [Rejection(path.as_uri(), "", "page larger than 10 MB")]


def test_an_empty_page_is_a_document_without_text(tmp_path: Path) -> None:
    assert page_of(tmp_path / "a.html", b"") == ("", 0)


HOSTILE = {
    "a million nested elements": "'<div>' * 1_000_000 + 'word'",
    "a million elements that never close": "'<p><b><i>word' * 300_000",
    "nested formatting and blocks": "'<a><div>' * 1_000_000",
    "a hundred thousand attributes": "'<p ' + ' '.join(f'a{i}' for i in range(100_000)) + '>word'",
    "attributes that end in their quotes": "'<p ' + ' '.join(f'a{i}=\">\"' for i in range(100_000)) + '>word'",
    "attributes without a space": "'<p ' + ''.join(f'a{i}=\"\"' for i in range(100_000)) + '>word'",
    "attributes between slashes": "'<p ' + '/'.join(f'a{i}' for i in range(100_000)) + '>word'",
    "quotes that never close": "'<p a=\"' * 200_000",
    "a hundred thousand options": "'<select>' + '<option>' * 100_000",
    "a body that is opened again and again": "''.join(f'<body a{i}=1>' for i in range(100_000))",
    "NUL characters": r"'<p>one\0two' * 10_000",
    "blocks inside a table": "'<table>' + '<div>word' * 100_000",
    "only angle brackets": "'<' * 1_000_000",
    "open comments": "'<!--' * 1_000_000",
}


@pytest.mark.parametrize("page", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_page_neither_crashes_nor_hangs(tmp_path: Path, page: str) -> None:
    # In a process of its own: a crash or a hang in compiled code cannot be caught here.
    program = f"""
from pathlib import Path
from lshdb.readers import ReadOptions, read_source, source_file
path = Path({str(tmp_path / "a.html")!r})
path.write_text({page})
print(len(list(read_source(source_file(path), ReadOptions()))))
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert answer.stdout == "1\n"


def test_a_bomb_is_rejected_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<p " + " ".join(f"a{i}" for i in range(10_001)) + ">word")
    assert read(path) == [Rejection(path.as_uri(), "", "a tag has more than 10000 attributes")]
    path.write_text("<div>" * 10_001)
    assert read(path) == [Rejection(path.as_uri(), "", "elements nested more than 10000 deep")]
    path.write_text("<select>" + "<option>" * 20_001)
    assert read(path) == [Rejection(path.as_uri(), "", "more than 20000 option, body or html elements")]


def test_a_long_page_of_plain_text_is_no_bomb(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<pre>" + "a < b and word " * 50_000 + "</pre>")
    assert texts(path)[0].startswith("a < b and word")


@pytest.mark.parametrize("separator", ["=1 ", "='>' ", '=""', "/", "\n=\t'x'"])
def test_attributes_are_counted_however_they_are_written(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "a.html"
    path.write_text("<p " + separator.join(f"a{i}" for i in range(10_100)) + ">word")
    assert read(path) == [Rejection(path.as_uri(), "", "a tag has more than 10000 attributes")]


def test_one_long_attribute_is_no_bomb(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<p data-words='" + "word > " * 50_000 + "'>text</p>")
    assert texts(path) == ["text"]


def test_a_panic_of_the_parser_costs_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """As compiled Rust raises it."""

    def panic(*_arguments: object, **_options: object) -> str:
        raise PanicException("index out of bounds")

    monkeypatch.setattr("lshdb.readers.html.extract_plain_text", panic)
    path = tmp_path / "a.html"
    path.write_text("<p>word")
    assert read(path) == [Rejection(path.as_uri(), "", "the parser failed: index out of bounds")]
