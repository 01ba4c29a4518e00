"""HTML pages: one file, one document, its visible text.

Owns the charset a page declares and what of a page counts as its text. The parser is resiliparse, which follows the
HTML standard and does not fail on broken markup.

Pages made to keep the parser busy: what of HTML costs time that grows with the square of its size.

Found by feeding the parser 20,000 and more of every element, and measured with resiliparse 2.0. It never crashed, but
100,000 nested ``div`` took minutes to find the main content of, 100,000 attributes of one tag more than 25 s, 20,000
options of one list 2.7 s. Below the limits here the slowest page of 10 MB took 8 s.
In 6,000 pages of documentation nothing came near them: 14 levels, 4,765 characters without a ``>``.
Limitation: a cheap look at the markup, not a parse: what a script or a comment holds is counted as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, Final

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import map_encoding_to_html5

from lshdb.model.params import HtmlText
from lshdb.model.values import Document
from lshdb.readers.base import (
    MAX_PAGE_BYTES,
    Deferred,
    ReadOptions,
    Rejection,
    SourceFile,
    Unfit,
    file_doc_id,
    megabytes,
)
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.bytes.sniffing import looks_like_html
from lshdb.readers.bytes.streams import read_whole

__all__ = ["MAX_MAIN_DEPTH", "HtmlReader", "declared_charset", "nesting_depth", "page_text", "refuse_bomb"]

# The standard looks at 1024 bytes; pages that begin with a long comment put their charset later.
PRESCAN_BYTES: Final = 4096
COMMENT: Final = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
XML_CHARSET: Final = re.compile(rb"""\A\s*<\?xml[^>]*?\bencoding\s*=\s*["']([^"'>]+)""")
META_CHARSET: Final = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)


class HtmlReader:
    """A page is one document: its main content, or all its text."""

    name = "html"
    suffixes = (".html", ".htm", ".xhtml", ".xht", ".shtml")
    textual = True

    def recognises(self, head: bytes) -> bool:
        """Whether the first element is one that a page begins with."""
        return looks_like_html(head)

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Deferred | Rejection]:
        """One document, or one Rejection of a page that is too large or cannot be parsed."""
        raw = read_whole(stream, MAX_PAGE_BYTES)
        if raw is None:
            yield Rejection(source.uri, "", f"page larger than {megabytes(MAX_PAGE_BYTES)}")
        else:
            yield Deferred(source.uri, "", raw, partial(_page, file_doc_id(source, options), options.html))


def _page(doc_id: str, html: HtmlText, raw: bytes, uri: str, _locator: str) -> Document:
    """Return the document of a page. Raises: Unfit."""
    page, num_replaced = decode(raw, declared_charset(raw))
    return Document(doc_id, page_text(page, html), source=uri, num_replaced=num_replaced)


def declared_charset(raw: bytes) -> str | None:
    """The charset a page declares in an XML declaration or a meta element, as Python names it; None for none known.

    Source: WHATWG HTML, 13.2.3.2: a declared UTF-16 is UTF-8, since the declaration was read as ASCII.
    """
    head = COMMENT.sub(b"", raw[:PRESCAN_BYTES])
    match = XML_CHARSET.match(head) or META_CHARSET.search(head)
    if match is None:
        return None
    charset = map_encoding_to_html5(match[1].decode("ascii", "replace"), fallback_utf8=False)
    return "utf-8" if charset is not None and charset.startswith("utf-16") else charset


def page_text(page: str, html: HtmlText) -> str:
    """The visible text of a page: its main content, or all text.

    All text is also what a page gives that has no main content (8 of 3,000 pages of documentation, all of them lists
    of links), and one nested too deep to look for it.
    Raises: Unfit: a page that was made to keep the parser busy.
    """
    depth = nesting_depth(page)
    refuse_bomb(page, depth)
    if html == "main" and depth <= MAX_MAIN_DEPTH and (text := _extract(page, main_content=True)):
        return text
    return _extract(page, main_content=False)


def _extract(page: str, *, main_content: bool) -> str:
    # preserve_formatting: without it the words of neighbouring cells and items run together. No list bullets, links,
    # alternative texts or form fields: they differ between copies of one content, or are no words of it.
    try:
        text: str = extract_plain_text(
            page, preserve_formatting=True, main_content=main_content, list_bullets=False, alt_texts=False
        )
    except BaseException as error:
        # A panic of compiled Rust is no Exception; it costs one page and not the run.
        if type(error).__name__ != "PanicException":
            raise
        raise Unfit(f"the parser failed: {error}") from None
    return text


MAX_MAIN_DEPTH: Final = 500
MAX_DEPTH: Final = 10_000
MAX_ATTRIBUTES: Final = 10_000
MAX_REPEATS: Final = 20_000
# Below this many tags no nesting can cost more than 2 s.
MIN_TAGS: Final = 10_000

NESTING: Final = re.compile(r"<(/?)(?:div|article|main|section|table|a|b)\b", re.IGNORECASE)
REPEATED: Final = re.compile(r"<(?:option|body|html)\b", re.IGNORECASE)
# Quotes are quotes behind an equals sign only. Possessive: a page is passed over once, whatever it holds.
VALUE: Final = re.compile(r"""=\s*+(?:"[^"]*+"|'[^']*+')""")
QUOTED_END: Final = re.compile(r"""=\s*+(?:"[^">]*+>|'[^'>]*+>)""")
TAG: Final = re.compile(r"""</?[a-z](?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')|=)*+""", re.IGNORECASE)
SEPARATORS: Final = re.compile(r"""[\s/]++""")


def nesting_depth(page: str) -> int:
    """How many elements lie in each other at most, by their tags; 0 for a page of few tags, which needs no care."""
    if page.count("<") < MIN_TAGS:
        return 0
    depth = deepest = 0
    for tag in NESTING.finditer(page):
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def refuse_bomb(page: str, depth: int) -> None:
    """Nothing, for every page that was made to be read.

    Args: depth: its `nesting_depth`.
    Raises: Unfit: the parser would take minutes.
    """
    if depth > MAX_DEPTH:
        raise Unfit(f"elements nested more than {MAX_DEPTH} deep")
    may_hide_one = _has_long_run(page) or (page.count("=") > MAX_ATTRIBUTES and QUOTED_END.search(page) is not None)
    if may_hide_one and any(map(_is_attribute_bomb, TAG.finditer(page))):
        raise Unfit(f"a tag has more than {MAX_ATTRIBUTES} attributes")
    if page.count("<") > MAX_REPEATS and sum(1 for _ in REPEATED.finditer(page)) > MAX_REPEATS:
        raise Unfit(f"more than {MAX_REPEATS} option, body or html elements")


def _has_long_run(page: str) -> bool:
    """Whether so many characters follow each other without a ``>`` that a tag of too many attributes would fit."""
    # In leaps backwards from the longest end: 40 GB/s, where splitting the page takes a tenth of its extraction.
    start, length = 0, 2 * MAX_ATTRIBUTES
    while start + length <= len(page):
        if (end := page.rfind(">", start, start + length)) < 0:
            return True
        start = end + 1
    return False


def _is_attribute_bomb(tag: re.Match[str]) -> bool:
    # Every attribute takes a separator and a character at least; a slash and a closing quote separate too.
    if tag.end() - tag.start() < 2 * MAX_ATTRIBUTES:
        return False
    return len(SEPARATORS.findall(VALUE.sub("= ", tag[0]))) > MAX_ATTRIBUTES
