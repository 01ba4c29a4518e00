"""Which documents are let in, and under what id: what the options ask of every reader's documents alike."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lshdb.model.values import Document
from lshdb.readers.base import Deferred, Item, ReadOptions, Rejection, Unfit, too_large

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["admit"]


def admit(step: Item | Deferred, options: ReadOptions) -> Item | Deferred:
    """The item with its id prefixed; a Rejection in place of a document whose text exceeds the limit."""
    if isinstance(step, Deferred):
        return Deferred(step.source, step.locator, partial(_parsed, step.parse, options))
    try:
        return _admitted(step, options)
    except Unfit as error:
        assert isinstance(step, Document)
        return Rejection(step.source or step.doc_id, step.locator, str(error))


def _parsed(parse: Callable[[], Item], options: ReadOptions) -> Item:
    return _admitted(parse(), options)


def _admitted(item: Item, options: ReadOptions) -> Item:
    """Raises: Unfit: its text is too large."""
    if not isinstance(item, Document):
        return item
    # A character is four bytes at most: few texts have to be measured.
    if 4 * len(item.text) > options.max_text and (size := _num_bytes(item.text)) > options.max_text:
        raise Unfit(too_large(options.max_text, size))
    return replace(item, doc_id=options.id_prefix + item.doc_id) if options.id_prefix else item


def _num_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
