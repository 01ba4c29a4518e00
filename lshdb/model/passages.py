"""Answers about containment and passages."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Boilerplate", "CommonRun", "Contained", "Containing", "Passage"]


@dataclass(frozen=True, slots=True)
class Containing:
    """A document that contains the document that was asked about, or is contained in it.

    Args:
        containment: the share of the shingles of the contained document that the other one has, in (0, 1]; exact.
    """

    id: str
    containment: float
    collection: str = "default"


@dataclass(frozen=True, slots=True)
class Contained:
    """Two documents: `containment` is the share of the shingles of `small` that `large` also has.

    Args: exact: always true; the containment is computed from both texts.
    """

    small: str
    large: str
    containment: float
    exact: bool = True
    small_collection: str = "default"
    large_collection: str = "default"


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of words of a document that other documents also have.

    Args:
        text: the passage as it appears in the document.
        start, stop: its words, counted from 0; `stop` is not in it.
        start_byte, stop_byte: its bytes in the UTF-8 text of the document.
        num_documents: how many other documents contain the whole passage.
        exact: False if there are more of them, because not all texts with so frequent a passage were compared.
        documents: the first of them, as (id, collection).
    """

    text: str
    start: int
    stop: int
    start_byte: int
    stop_byte: int
    num_documents: int
    exact: bool
    documents: tuple[tuple[str, str], ...]

    @property
    def num_words(self) -> int:
        """The length of the passage in words."""
        return self.stop - self.start

    @property
    def first(self) -> str:
        """The id of the first other document."""
        return self.documents[0][0]


@dataclass(frozen=True, slots=True)
class CommonRun:
    """A run of words that two documents share, as it appears in the left one.

    Args: start: its first word in the left document, counted from 0.
    """

    text: str
    start: int
    num_words: int


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """A passage that many documents share.

    Args:
        text: the passage as it appears in the first of them.
        num_documents: how many documents contain it.
        exact: False if that is the number of documents with its fingerprints, of which some may differ in a word.
        first: the id of the first document.
        collection: its collection.
    """

    text: str
    num_words: int
    num_documents: int
    exact: bool
    first: str
    collection: str
