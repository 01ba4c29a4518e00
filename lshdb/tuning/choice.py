"""Choose bands and rows: the cost of a banding, and the cheapest banding that keeps a promise.

Pure arithmetic without NumPy, because the command line also tunes without an index. Limitation: the costs were measured
on one machine. Only their proportions matter, and costs change little around the optimum.
"""

from __future__ import annotations

import math
import shlex
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from lshdb.errors import InvalidParams, ParamsMismatch, PromiseUnreachable
from lshdb.model import arguments
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
from lshdb.model.params import (
    DEFAULT_FLOOR,
    DEFAULT_MIN_SIM,
    MAX_PERMUTATIONS,
    Params,
    check_number,
    check_range,
    check_similarity,
)

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
    "params_after",
    "params_for_recall",
    "params_of",
    "require_chosen",
    "signed",
]


# What an index promises by default.
PROMISE: Final = {"min_sim": DEFAULT_MIN_SIM, "recall": DEFAULT_RECALL}
# Parameters that follow from each other.
BANDED: Final = frozenset({"min_sim", "recall", "bands", "rows", "num_perm"})
# The most bands that are chosen. You may give an index more.
MAX_CHOSEN_PERM: Final = 1_024


class Costs(Struct, frozen=True):
    """The cost of one document, in microseconds.

    Args: row: a row of the bucket table. candidate: a candidate pair that is found, deduplicated and estimated.
        minimum: a minimum that is computed, stored and read again.
    """

    row: float
    candidate: float
    minimum: float

    def of(self, banding: Banding, num_perm: int, candidates: float) -> float:
        """Return the cost of a document with this banding and number of candidates."""
        # A pair is a candidate of two documents, but is computed once.
        return self.row * banding.bands + self.candidate * candidates / 2 + self.minimum * num_perm


class Option(Struct, frozen=True):
    """A banding for an index, and its consequences.

    Args:
        num_perm: minima of a signature.
        recall: the probability that a pair at the requested similarity is found.
        candidates: contents that share a bucket with a content.
        bytes: the size of the signature and the bucket rows of a content.
        threshold: the similarity at which the S-curve is about the steepest.
        false_positive_area, false_negative_area: under the S-curve below the requested similarity, and over it above.
    """

    banding: Banding
    num_perm: int
    recall: float
    candidates: float
    bytes: float
    threshold: float
    false_positive_area: float
    false_negative_area: float


# Measured on SQLite. Writing a row takes 0.7 to 1.3 microseconds in a small table and 1.8 in one of 60 million; reading
# it takes 0.1. Linking 16,307 pages with 50 x 2, 33 x 3 and 20 x 5 takes 5 microseconds for each additional candidate.
COSTS: Final = Costs(row=2.0, candidate=5.0, minimum=0.05)


def least_bands(min_sim: float, recall: float, rows: int) -> int:
    """Return the fewest bands that find a pair at `min_sim` with probability `recall`; 0 if none suffice."""

    def found(bands: int) -> float:
        # The probability itself, because its logarithm would round.
        return Banding(bands, rows).candidate_probability(min_sim)

    bands = 1 + bisect_left(range(1, MAX_BANDS + 1), recall, key=found)
    return bands if bands <= MAX_BANDS else 0


def keeping(min_sim: float, recall: float, max_perm: int) -> Iterator[Banding]:
    """Return for each number of rows the fewest bands that keep a promise with `max_perm` minima, ordered by rows."""
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
    """Return the cheapest banding that finds a pair at `min_sim` with probability `recall`.

    Args:
        num_perm: the number of minima, if it is fixed; None if it may be chosen.
        bands, rows: fixed values, if any.
        similarities: of the current corpus. Because an index grows, the cost assumes at least 100,000 contents.

    Raises: PromiseUnreachable: no banding with this number of minima finds enough; InvalidParams: a value is out of
        range.
    """
    arguments.similarity(min_sim)
    check_number("recall", recall)
    if not 0.0 < recall < 1.0:
        raise InvalidParams(name="recall", value=recall, reason="it must be above 0 and below 1")
    for name, value in (("num_perm", num_perm), ("bands", bands), ("rows", rows)):
        if value is not None:
            check_range(name, value, 1, MAX_PERMUTATIONS)
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
    """Return the bandings that keep a promise, by rows, up to twice the rows of the cheapest.

    Args: as `choose`. Raises: PromiseUnreachable.
    """
    cheapest = choose(min_sim, recall, num_perm=num_perm, similarities=similarities)
    found = keeping(min_sim, recall, num_perm or MAX_CHOSEN_PERM)
    near = [banding for banding in found if banding.rows <= 2 * cheapest.rows]
    return [option(banding, min_sim, num_perm or signed(banding), similarities, sizes) for banding in near]


def option(banding: Banding, min_sim: float, num_perm: int, similarities: Similarities, sizes: Sizes) -> Option:
    """Return the consequences of a banding."""
    return Option(
        banding=banding,
        num_perm=num_perm,
        recall=banding.candidate_probability(min_sim),
        candidates=similarities.candidates(banding),
        bytes=sizes.of(banding, num_perm),
        threshold=banding.threshold,
        false_positive_area=banding.false_positive_area(min_sim),
        false_negative_area=banding.false_negative_area(min_sim),
    )


def signed(banding: Banding) -> int:
    """Return the number of minima of a signature for a banding, which is also enough to estimate similarities."""
    return max(DEFAULT_NUM_PERM, banding.bands * banding.rows)


def params_of(chosen: Mapping[str, Any]) -> Params:
    """Return parameters with the given values and defaults for the others.

    If another `min_sim` or `recall` than the default is given, bands and rows are derived from them; see
    `params_for_recall`.

    Raises: InvalidParams: a parameter is unknown, or its value is out of range.
    """
    known = {*Params.__dataclass_fields__, "recall"}
    for name in chosen.keys() - known:
        reason = f"there is no such parameter; there are {', '.join(sorted(known))}"
        raise InvalidParams(name=name, value=chosen[name], reason=reason)
    if _is_default_promise(chosen):
        chosen = {name: value for name, value in chosen.items() if name not in PROMISE}
    if "recall" in chosen or ("min_sim" in chosen and not {"bands", "rows"} <= chosen.keys()):
        return params_for_recall(**{"min_sim": DEFAULT_MIN_SIM, "recall": DEFAULT_RECALL, **chosen})
    least = chosen.get("min_sim", DEFAULT_MIN_SIM)
    check_similarity("min_sim", least)
    return Params(**{"floor": min(DEFAULT_FLOOR, least), **chosen})


def _is_default_promise(chosen: Mapping[str, Any]) -> bool:
    """Return whether the default bands meet the request."""
    num_perm = chosen.get("num_perm", DEFAULT_NUM_PERM)
    if {"bands", "rows"} & chosen.keys() or not isinstance(num_perm, int) or num_perm < DEFAULT_NUM_PERM:
        return False
    return all(chosen.get(name, default) == default for name, default in PROMISE.items())


def params_after(stored: Params, chosen: Mapping[str, Any]) -> Params:
    """Return the parameters of an index without documents, when others are chosen.

    Those that are not chosen stay. Bands, rows, minima, `min_sim` and `recall` follow from each other: if one of them
    is chosen, the others are derived again.
    """
    kept = {name: getattr(stored, name) for name in ("shingle", "multiset", "scheme", "seed", "keep_text", "html")}
    if stored.floor != min(DEFAULT_FLOOR, stored.min_sim):
        kept["floor"] = stored.floor
    if not BANDED & chosen.keys():
        kept |= {name: getattr(stored, name) for name in BANDED if name != "recall"}
    return params_of(kept | dict(chosen))


def require_chosen(params: Params, chosen: Mapping[str, Any], url: str) -> None:
    """Check that the index at `url` has the chosen parameters. Raises: ParamsMismatch."""
    for name, given in chosen.items():
        stored = getattr(params, name)
        # Bands are whole numbers, so an index promises more than the requested recall.
        if stored < given if name == "recall" else stored != given:
            option, advice = f"--{name.replace('_', '-')}", _advice(params, name, given, url)
            raise ParamsMismatch(url=url, name=option, stored=stored, given=given, advice=advice)


def _advice(params: Params, name: str, given: Any, url: str) -> str:
    """Return the command that gives an index with documents another promise; empty if there is none."""
    min_sim, recall = {"min_sim": (given, DEFAULT_RECALL), "recall": (params.min_sim, given)}.get(name, (0.0, 0.0))
    if not min_sim:
        return ""
    try:
        choose(min_sim, recall, num_perm=params.num_perm)
    except PromiseUnreachable:
        return ""
    said = f" --recall {recall}" if name == "recall" else ""
    return f" To change this one: lshdb --db {shlex.quote(url)} reband --min-sim {min_sim}{said}"


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
    """Return the cheapest parameters that find a pair at `min_sim` with probability `recall`.

    Args:
        num_perm: the minima of a signature; by default as many as the bands need, but at least 100.
        bands, rows: fixed values, if any.
        similarities: of the corpus.
        others: other parameters, unchanged. If the floor is not among them, it is lowered to `min_sim` if necessary.

    Raises: PromiseUnreachable: there are none; InvalidParams: a value is out of range.
    """
    check_similarity("min_sim", min_sim)
    chosen = choose(min_sim, recall, num_perm=num_perm, bands=bands, rows=rows, similarities=similarities)
    return Params(
        **{"floor": min(DEFAULT_FLOOR, min_sim), **others},
        bands=chosen.bands,
        rows=chosen.rows,
        min_sim=min_sim,
        num_perm=num_perm or signed(chosen),
    )


def _given(min_sim: float, recall: float, most: int, bands: int | None, rows: int | None) -> list[Banding]:
    """Return the bandings that keep the promise with the given bands and rows."""
    if bands is None:
        return [banding for banding in keeping(min_sim, recall, most) if rows in (None, banding.rows)]
    tried = [Banding(bands, each) for each in ([rows] if rows else range(1, most // bands + 1)) if each * bands <= most]
    return [banding for banding in tried if banding.candidate_probability(min_sim) >= recall]


def _unreachable(min_sim: float, recall: float, num_perm: int, only: Banding | None) -> PromiseUnreachable:
    """Return the error, with the closest values that are possible."""
    nearest = only or Banding(min(num_perm, MAX_BANDS), 1)
    least = (1.0 - (1.0 - recall) ** (1.0 / nearest.bands)) ** (1.0 / nearest.rows)
    return PromiseUnreachable(
        minima=f"{nearest.bands} bands of {nearest.rows} rows" if only else f"{num_perm} minima",
        min_sim=min_sim,
        recall=recall,
        # Rounded towards the values that can be reached.
        reachable=math.floor(nearest.candidate_probability(min_sim) * 1e4) / 1e4,
        least=math.ceil(least * 1e3) / 1e3,
    )
