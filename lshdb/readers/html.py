"""HTML pages: one file, one document, its visible text.

Owns the charset that a page declares. `extraction` owns its text. The parser is resiliparse, which follows the HTML
standard and does not fail on broken markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, Final

from resiliparse.parse.encoding import map_encoding_to_html5

from lshdb.model.params import HtmlText
from lshdb.model.values import Document
from lshdb.readers.base import (
    MAX_PAGE_BYTES,
    Deferred,
    ReadOptions,
    Rejection,
    SourceFile,
    megabytes,
)
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.bytes.sniffing import looks_like_html
from lshdb.readers.bytes.streams import read_whole
from lshdb.readers.extraction import page_text
from lshdb.readers.naming import file_doc_id

__all__ = ["HtmlReader", "declared_charset"]

# The standard says 1024 bytes, but pages that begin with a long comment declare their charset later.
PRESCAN_BYTES: Final = 4096
COMMENT: Final = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
XML_CHARSET: Final = re.compile(rb"""\A\s*<\?xml[^>]*?\bencoding\s*=\s*["']([^"'>]+)""")
META_CHARSET: Final = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)


class HtmlReader:
    """One document per page: its main content, or all its text."""

    name = "html"
    suffixes = (".html", ".htm", ".xhtml", ".xht", ".shtml")
    textual = True
    holds_records = False

    def recognises(self, head: bytes) -> bool:
        """Return whether the first element is one that pages begin with."""
        return looks_like_html(head)

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Deferred | Rejection]:
        """Yield one document, or one Rejection of a page that is too large or cannot be parsed."""
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
    """Return the charset that a page declares in an XML declaration or a meta element, as Python names it.

    Returns: None if the page declares none, or an unknown one.
    Source: WHATWG HTML, 13.2.3.2: a declared UTF-16 means UTF-8, because the declaration could be read as ASCII.
    """
    head = COMMENT.sub(b"", raw[:PRESCAN_BYTES])
    match = XML_CHARSET.match(head) or META_CHARSET.search(head)
    if match is None:
        return None
    charset = map_encoding_to_html5(match[1].decode("ascii", "replace"), fallback_utf8=False)
    return "utf-8" if charset is not None and charset.startswith("utf-16") else charset
