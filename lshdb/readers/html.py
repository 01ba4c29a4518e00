"""HTML pages: one file, one document, its visible text.

Owns the charset a page declares and what of a page counts as its text. The parser is resiliparse, which follows the
HTML standard and does not fail on broken markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import map_encoding_to_html5

from lshdb.model.params import HtmlText
from lshdb.model.values import Document
from lshdb.readers.base import MAX_PAGE_BYTES, ReadOptions, Rejection, SourceFile, Unfit, file_doc_id, megabytes
from lshdb.readers.bombs import MAX_MAIN_DEPTH, nesting_depth, refuse_bomb
from lshdb.readers.decoding import decode
from lshdb.readers.sniffing import looks_like_html
from lshdb.readers.streams import read_whole

__all__ = ["HtmlReader", "declared_charset", "page_text"]

# The standard looks at 1024 bytes; pages that begin with a long comment put their charset later.
PRESCAN_BYTES: Final = 4096
COMMENT: Final = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
XML_CHARSET: Final = re.compile(rb"""\A\s*<\?xml[^>]*?\bencoding\s*=\s*["']([^"'>]+)""")
META_CHARSET: Final = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)


class HtmlReader:
    """A page is one document: its main content, or all its text."""

    name = "html"
    suffixes = (".html", ".htm", ".xhtml", ".xht", ".shtml")
    holds_many = False
    textual = True

    def recognises(self, head: bytes) -> bool:
        """Whether the first element is one that a page begins with."""
        return looks_like_html(head)

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Document | Rejection]:
        """One document, or one Rejection of a page that is too large or cannot be parsed."""
        raw = read_whole(stream, MAX_PAGE_BYTES)
        if raw is None:
            yield Rejection(source.uri, "", f"page larger than {megabytes(MAX_PAGE_BYTES)}")
            return
        page, num_replaced = decode(raw, declared_charset(raw))
        try:
            text = page_text(page, options.html)
        except Unfit as error:
            yield Rejection(source.uri, "", str(error))
            return
        yield Document(file_doc_id(source, options), text, source=source.uri, num_replaced=num_replaced)


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
