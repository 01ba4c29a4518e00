"""Find the fields of a record and make its text from them.

A field name with dots, such as ``meta.body``, also names a field in a nested object. A field whose own name contains
the dots takes precedence. The texts of several fields are joined by line ends; missing fields are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from lshdb.model.values import Document
from lshdb.readers.base import MAX_PAGE_BYTES, Deferred, ReadOptions, Unfit, megabytes
from lshdb.readers.bytes.sniffing import SNIFF_BYTES
from lshdb.readers.extraction import page_text

__all__ = ["field", "is_html", "joined", "paged", "quoted", "text_of"]

_Value = TypeVar("_Value")

ELEMENTS: Final = (
    "a abbr address article aside b base blockquote body br center code dd div dl dt em fieldset figure font footer "
    "form h[1-6] head header hr html i iframe img ins label li link main meta nav ol p pre s script section small "
    "span strong style sub sup svg table tbody td tfoot th thead title tr tt u ul video"
)
# The start tag of an element, after comments. A comment ends at its first "-->", as in `sniffing`.
COMMENTS: Final = r"(?:<!--(?:(?!-->).)*-->\s*)*"
TAG: Final = rf"<(?:!doctype\s+html|(?:{ELEMENTS.replace(' ', '|')})(?=[\s/>]))"
HTML: Final = re.compile(rf"\s*(?:<\?xml[^>]*>\s*)?{COMMENTS}{TAG}", re.IGNORECASE | re.DOTALL)


def field(record: Mapping[str, _Value], name: str, opened: Callable[[_Value], Mapping[str, _Value] | None]) -> _Value:
    """Return the value of a field, which may be nested.

    Args: opened: returns the fields of a nested object; None for any other value.
    Raises: KeyError: the record does not have the field.
    """
    if name in record:
        return record[name]
    at = name.rfind(".")
    while at > 0:
        inner = opened(record[name[:at]]) if name[:at] in record else None
        if inner is not None:
            try:
                return field(inner, name[at + 1 :], opened)
            except KeyError:
                pass  # A shorter first part may lead to it.
        at = name.rfind(".", 0, at)
    raise KeyError(name)


def quoted(names: Sequence[str]) -> str:
    """Return ``"title" or "body"``, for a message."""
    return " or ".join(f'"{name}"' for name in names)


def joined(parts: Sequence[str]) -> str:
    """Return the texts of several fields as one."""
    return "\n".join(part for part in parts if part)


def is_html(value: str) -> bool:
    """Return whether a value begins with the tag of an HTML element."""
    return HTML.match(value[:SNIFF_BYTES]) is not None


def text_of(value: str, options: ReadOptions) -> str:
    """Return the text of a field, which may be HTML. Raises: Unfit: the page is too large, or cannot be parsed."""
    if options.text_format == "text" or (options.text_format == "auto" and not is_html(value)):
        return value
    if len(value) > MAX_PAGE_BYTES:
        raise Unfit(f"page larger than {megabytes(MAX_PAGE_BYTES)}")
    return page_text(value, options.html)


def paged(bare: Document, parts: Sequence[str], options: ReadOptions) -> Deferred:
    """Return a document whose fields may be HTML. Another process may extract their texts.

    Args: bare: the document without its text; it has a source.
    """
    return Deferred(bare.source or "", bare.locator, msgspec.msgpack.encode(parts), partial(_extracted, bare, options))


def _extracted(bare: Document, options: ReadOptions, raw: bytes, _uri: str, _locator: str) -> Document:
    parts = msgspec.msgpack.decode(raw, type=list[str])
    return replace(bare, text=joined([text_of(part, options) for part in parts]))
