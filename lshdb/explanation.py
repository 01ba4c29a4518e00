"""What `explaining` finds out about two documents: frozen, and as JSON where a script reads it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from lshdb.model.params import Params
from lshdb.store.inspection import StoredPair
from lshdb.worddiff import WordDiff

__all__ = ["Comparison", "Explanation", "Side", "Status"]

# What two documents are to the index; but for the first two, why they are no pair.
Status = Literal[
    "same_content",
    "pair",
    "empty",
    "not_in_index",
    "not_linked",
    "below_floor",
    "no_shared_band",
    "ruled_out",
    "hot_bucket",
    "missing",
]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two.

    Args:
        name: its id, or the file.
        content_key: its content; None where it is empty, or a file whose content the index does not have.
        kept_of: the first document of its content, whose text is shown, where that is another one.
        is_gone: its text is neither kept nor still where it was read from.
    """

    name: str
    is_file: bool
    content_key: int | None
    kept_of: str | None
    is_gone: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """What both texts say: the distinct shingles of each and of both, and how similar these make them."""

    left_shingles: int
    right_shingles: int
    shared_shingles: int
    similarity: float
    left_in_right: float
    right_in_left: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that decided whether two documents are a pair.

    Args:
        comparison: None where a text is gone.
        estimate: the similarity that the signatures show.
        shared_bands: the bands in which both have one bucket; hot_bands: those of them too hot to expand.
        pair: as it is stored; None where it is not.
        word_diff: None where it was not asked for, or a text is gone.
    """

    params: Params
    left: Side
    right: Side
    comparison: Comparison | None
    estimate: float
    shared_bands: tuple[int, ...]
    hot_bands: tuple[int, ...]
    status: Status
    pair: StoredPair | None
    word_diff: WordDiff | None

    @property
    def similarity(self) -> float:
        """The exact similarity; the estimate where a text is gone."""
        return self.estimate if self.comparison is None else self.comparison.similarity

    @property
    def probability(self) -> float:
        """The probability that two documents of this similarity share a band."""
        return self.params.banding.candidate_probability(self.similarity)

    def as_json(self) -> dict[str, object]:
        """The object that ``explain --json`` prints."""
        return {
            "left": asdict(self.left),
            "right": asdict(self.right),
            "status": self.status,
            "pair": None if self.pair is None else asdict(self.pair),
            "estimate": self.estimate,
            "comparison": None if self.comparison is None else asdict(self.comparison),
            "bands": {"number": self.params.bands, "shared": self.shared_bands, "hot": self.hot_bands},
            "probability": self.probability,
            "diff": None if self.word_diff is None else asdict(self.word_diff),
        }
