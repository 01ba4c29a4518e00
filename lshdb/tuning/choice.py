"""How bands and rows are chosen: what a banding costs, and the cheapest one that keeps a promise.

Owns the costs that are compared. Pure arithmetic, without NumPy: the command line tunes where there is no index.
Limitation: costs are those of one machine; only their proportions matter, and a choice is flat around its optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lshdb.errors import InvalidParams, ParamsMismatch, PromiseUnreachable
from lshdb.model.banding import (
    DEFAULT_NUM_PERM,
    DEFAULT_RECALL,
    MAX_BANDS,
    SQLITE_SIZES,
    TYPICAL,
    Banding,
    Similarities,
    Sizes,
)
from lshdb.model.params import DEFAULT_FLOOR, DEFAULT_MIN_SIM, MAX_PERMUTATIONS, Params, check_range, check_similarity

__all__ = [
    "COSTS",
    "MAX_CHOSEN_PERM",
    "Costs",
    "Option",
    "choose",
    "keeping",
    "least_bands",
    "option",
    "options",
    "params_for_recall",
    "params_of",
    "require_chosen",
    "signed",
]


# More are never chosen; an index may be given more.
MAX_CHOSEN_PERM: Final = 1_024


@dataclass(frozen=True, slots=True)
class Costs:
    """What a document costs, in microseconds.

    Args: row: a row in the table of buckets. candidate: a candidate pair that is found, made unique and estimated.
        minimum: a minimum that is made, stored and read again.
    """

    row: float
    candidate: float
    minimum: float

    def of(self, banding: Banding, num_perm: int, candidates: float) -> float:
        """What a document costs with this banding and so many candidates."""
        # A pair is the candidate of two documents, and computed once.
        return self.row * banding.bands + self.candidate * candidates / 2 + self.minimum * num_perm


@dataclass(frozen=True, slots=True)
class Option:
    """A banding that an index may be given, and what it means.

    Args:
        num_perm: minima of a signature.
        recall: the probability that a pair at the similarity asked for is found.
        candidates: others that a content shares a bucket with.
        bytes: that a content takes for its signature and its buckets.
    """

    banding: Banding
    num_perm: int
    recall: float
    candidates: float
    bytes: float


# Measured on SQLite. A row: 0.7 to 1.3 microseconds to write in a small table, 1.8 in one of 60 million, 0.1 to read. A
# candidate: linking 16,307 pages with 50 x 2, 33 x 3 and 20 x 5 takes 5 microseconds more for each more that there are.
COSTS: Final = Costs(row=2.0, candidate=5.0, minimum=0.05)


def least_bands(min_sim: float, recall: float, rows: int) -> int:
    """The fewest bands with which a pair at `min_sim` shares a bucket with probability `recall`; 0: no number does."""
    bands = 1
    # By doubling, then by halving: of the probability itself, not of logarithms that round.
    while Banding(bands, rows).candidate_probability(min_sim) < recall:
        bands *= 2
        if bands > 2 * MAX_BANDS:
            return 0
    low = bands // 2
    while bands - low > 1:
        middle = (low + bands) // 2
        if Banding(middle, rows).candidate_probability(min_sim) < recall:
            low = middle
        else:
            bands = middle
    return bands if bands <= MAX_BANDS else 0


def keeping(min_sim: float, recall: float, max_perm: int) -> Iterator[Banding]:
    """For each number of rows the fewest bands that keep a promise with `max_perm` minima; few rows first."""
    for rows in range(1, max_perm + 1):
        bands = least_bands(min_sim, recall, rows)
        if bands == 0:
            return
        if bands * rows <= max_perm:
            yield Banding(bands, rows)


def choose(
    min_sim: float,
    recall: float,
    *,
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    similarities: Similarities = TYPICAL,
) -> Banding:
    """The cheapest banding that finds a pair at `min_sim` with probability `recall`.

    Args:
        num_perm: the minima there are; None where they are still to be made.
        bands, rows: what is given already.
        similarities: of the corpus as it is; an index grows, so it is taken to have 100,000 contents or more.

    Raises: PromiseUnreachable: no banding of so many minima does.
    """
    most = num_perm or max(MAX_CHOSEN_PERM, (bands or 1) * (rows or 1))
    found = _given(min_sim, recall, most, bands, rows)
    if not found:
        raise _unreachable(min_sim, recall, most, Banding(bands, rows) if bands and rows else None)

    def cost(banding: Banding) -> float:
        return COSTS.of(banding, num_perm or signed(banding), similarities.grown_candidates(banding))

    return min(found, key=cost)


def options(
    min_sim: float,
    recall: float,
    *,
    num_perm: int | None = None,
    similarities: Similarities = TYPICAL,
    sizes: Sizes = SQLITE_SIZES,
) -> list[Option]:
    """What keeps a promise, by rows; more rows than twice those of the cheapest are left out.

    Args: as `choose`. Raises: PromiseUnreachable.
    """
    cheapest = choose(min_sim, recall, num_perm=num_perm, similarities=similarities)
    found = keeping(min_sim, recall, num_perm or MAX_CHOSEN_PERM)
    near = [banding for banding in found if banding.rows <= 2 * cheapest.rows]
    return [option(banding, min_sim, num_perm or signed(banding), similarities, sizes) for banding in near]


def option(banding: Banding, min_sim: float, num_perm: int, similarities: Similarities, sizes: Sizes) -> Option:
    """What a banding means."""
    return Option(
        banding=banding,
        num_perm=num_perm,
        recall=banding.candidate_probability(min_sim),
        candidates=similarities.candidates(banding),
        bytes=sizes.of(banding, num_perm),
    )


def signed(banding: Banding) -> int:
    """The minima of a signature that is made for a banding: enough to estimate similarities by, too."""
    return max(DEFAULT_NUM_PERM, banding.bands * banding.rows)


def params_of(chosen: Mapping[str, Any]) -> Params:
    """Parameters as they were chosen, by name, with defaults for the others.

    Where a `min_sim` or `recall` is among them, the bands and rows follow from these; see `params_for_recall`.
    """
    if "recall" in chosen or ("min_sim" in chosen and not {"bands", "rows"} <= chosen.keys()):
        return params_for_recall(**{"min_sim": DEFAULT_MIN_SIM, "recall": DEFAULT_RECALL, **chosen})
    return Params(**{"floor": min(DEFAULT_FLOOR, chosen.get("min_sim", DEFAULT_MIN_SIM)), **chosen})


def require_chosen(params: Params, chosen: Mapping[str, Any], url: str) -> None:
    """Check that the index at `url` has the chosen parameters. Raises: ParamsMismatch."""
    for name, given in chosen.items():
        stored = getattr(params, name)
        # Bands are whole numbers, so an index promises more than it was asked for.
        if stored < given if name == "recall" else stored != given:
            raise ParamsMismatch(url=url, name=f"--{name.replace('_', '-')}", stored=stored, given=given)


def params_for_recall(
    min_sim: float,
    recall: float,
    *,
    num_perm: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    similarities: Similarities = TYPICAL,
    **others: Any,
) -> Params:
    """The cheapest parameters that find a pair at `min_sim` with probability `recall`.

    Args:
        num_perm: the minima of a signature; by default what the bands take, and not less than 100.
        bands, rows: what is chosen already.
        similarities: of the corpus; see `tuning`.
        others: as they are; the floor follows `min_sim` down where it is not among them.

    Raises: PromiseUnreachable: there are none; InvalidParams: a value is out of its range.
    """
    check_similarity("min_sim", min_sim)
    if not 0.0 < recall < 1.0:
        raise InvalidParams(name="recall", value=recall, reason="it must be above 0 and below 1")
    for name, value in (("num_perm", num_perm), ("bands", bands), ("rows", rows)):
        if value is not None:
            check_range(name, value, 1, MAX_PERMUTATIONS)
    chosen = choose(min_sim, recall, num_perm=num_perm, bands=bands, rows=rows, similarities=similarities)
    return Params(
        **{"floor": min(DEFAULT_FLOOR, min_sim), **others},
        bands=chosen.bands,
        rows=chosen.rows,
        min_sim=min_sim,
        num_perm=num_perm or signed(chosen),
    )


def _given(min_sim: float, recall: float, most: int, bands: int | None, rows: int | None) -> list[Banding]:
    """What keeps the promise with the bands and rows that are given."""
    if bands is None:
        return [banding for banding in keeping(min_sim, recall, most) if rows in (None, banding.rows)]
    tried = [Banding(bands, each) for each in ([rows] if rows else range(1, most // bands + 1)) if each * bands <= most]
    return [banding for banding in tried if banding.candidate_probability(min_sim) >= recall]


def _unreachable(min_sim: float, recall: float, num_perm: int, only: Banding | None) -> PromiseUnreachable:
    """The refusal, with the nearest that can be had."""
    nearest = only or Banding(min(num_perm, MAX_BANDS), 1)
    least = (1.0 - (1.0 - recall) ** (1.0 / nearest.bands)) ** (1.0 / nearest.rows)
    return PromiseUnreachable(
        minima=f"{nearest.bands} bands of {nearest.rows} rows" if only else f"{num_perm} minima",
        min_sim=min_sim,
        recall=recall,
        # Rounded to what is still true.
        reachable=math.floor(nearest.candidate_probability(min_sim) * 1e4) / 1e4,
        least=math.ceil(least * 1e3) / 1e3,
    )
