"""The pages of one document, and of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response

from lshdb.answers.explain import Explanation
from lshdb.answers.worddiff import Hunk, WordDiff
from lshdb.errors import TextsNotKept
from lshdb.index import Index
from lshdb.model.decisions import Decision
from lshdb.model.values import Document
from lshdb.web.pages.sheet import Sheet, named, shown
from lshdb.web.questions import stored_document
from lshdb.web.texts import beginning_of

__all__ = ["DocumentPages"]

MATCHES: Final = 50

VERDICTS: Final[Mapping[str, str]] = {
    "same_content": "They have the same text, but for case, punctuation and white space.",
    "pair": "They are a pair.",
    "empty": "One of them has no words, so it has no near-duplicates.",
    "not_in_index": "One of them is not in the index.",
    "not_linked": "They were not compared yet.",
    "below_floor": "They are not a pair: they are less similar than this index stores.",
    "no_shared_band": "They are not a pair: their signatures share no band, so they were never compared.",
    "ruled_out": "They are not a pair: their signatures ruled it out before the texts were compared.",
    "hot_bucket": "They are not a pair: they share only oversized buckets, whose texts are not all compared.",
    "missing": "They should be a pair. Run lshdb check.",
}


class DocumentPages:
    """One document and its near-duplicates; two documents and what differs."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @shown
    async def document(self, request: Request) -> Response:
        """One document and its near-duplicates."""
        doc_id, collection = named(request, "id", "collection")

        def read(index: Index) -> dict[str, Any]:
            text = beginning_of(index, doc_id, collection)
            return {
                "document": _stored(index, doc_id, collection),
                "text": "The text is not kept in the index." if text is None else text,
                "collection": collection,
                "matches": index.query_id(doc_id, None, collection)[:MATCHES],
            }

        return self.sheet.page("document", doc_id[:100], "", await self.sheet.desk.list(read))

    @shown
    async def compare(self, request: Request) -> Response:
        """Two documents, what differs, and what somebody decided about them."""
        (a, in_a), (b, in_b) = named(request, "a", "collection_a"), named(request, "b", "collection_b")

        def read(index: Index) -> tuple[Explanation, list[Decision], list[str]]:
            known = self.sheet.collections(index)
            return index.explain(a, b, (in_a, in_b), ids=True), index.decisions([(in_a, a), (in_b, b)]), known

        found, decisions, known = await self.sheet.desk.list(read)
        left, right = _sides(found.word_diff)
        compared = {
            "found": found,
            "verdict": VERDICTS[found.status],
            "asked": {"a": a, "b": b, "collection_a": in_a, "collection_b": in_b},
            "view": "inline" if request.query_params.get("view") == "inline" else "sides",
            "left": left,
            "right": right,
            "decisions": decisions,
            "collections": known,
            "is_different": any(one.kind == "different" for one in decisions),
        }
        return self.sheet.page_with_forms(request, "compare", "Two documents", "", compared)


def _stored(index: Index, doc_id: str, collection: str) -> Document:
    """Return a document, without its text if the index keeps none. Raises: DocumentUnknown."""
    try:
        return stored_document(index, doc_id, collection)
    except TextsNotKept:
        return Document(doc_id)


def _sides(found: WordDiff | None) -> tuple[list[Hunk], list[Hunk]]:
    """Return the hunks of the left and of the right text."""
    hunks = found.hunks if found is not None else ()
    left, right, kind = list[Hunk](), list[Hunk](), "equal"
    for hunk in hunks:
        # Words that are left out belong to the hunk before them.
        kind = hunk.kind if hunk.kind != "elided" else kind
        if kind != "added":
            left.append(hunk)
        if kind != "removed":
            right.append(hunk)
    return left, right
