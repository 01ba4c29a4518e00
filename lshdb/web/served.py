"""Turns the JSON of a service's answers into the values that an index returns, and states what both sides agree on.

Knows no FastAPI.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

import msgspec

from lshdb.answers.explain import Comparison, Explanation, Side, Status
from lshdb.answers.query import Match
from lshdb.answers.worddiff import WordDiff
from lshdb.model.params import Params
from lshdb.model.passages import CommonRun
from lshdb.model.reports import Figures, HalfRead, Measurement, RunRow, Stats, StoredPair
from lshdb.model.values import Document

__all__ = [
    "MAX_DOCUMENTS",
    "MAX_MATCHES",
    "NAMESPACE",
    "NDJSON",
    "answers",
    "document",
    "explanation",
    "made",
    "matches",
    "stats",
    "without_surrogates",
]

_Made = TypeVar("_Made")

# Of an answer with a value on each line.
NDJSON: Final = "application/x-ndjson"
# Begins the type of a problem, before the name of an error of lshdb.
NAMESPACE: Final = "urn:lshdb:error:"
# Documents or decisions in one request.
MAX_DOCUMENTS: Final = 1_000
# Of each of many documents, in one answer.
MAX_MATCHES: Final = 1_000


def matches(answer: Any) -> list[Match]:
    """Return the near-duplicates of one document."""
    return made(answer["matches"], list[Match])


def answers(answer: Any) -> list[list[Match]]:
    """Return the near-duplicates of each of many documents."""
    return [matches(one) for one in answer["answers"]]


def document(found: Any) -> Document:
    """Return a document of the index."""
    features = None if found["features"] is None else tuple(found["features"])
    place = {name: found[name] for name in ("source", "locator", "dated_at")}
    return Document(found["id"], found["text"] or "", features, **place)


def _params(found: Any) -> Params:
    """Return the parameters of an index. A service keeps the seed to itself, which is 0 here."""
    return made(found | {"seed": 0}, Params)


def explanation(found: Any) -> Explanation:
    """Return what `Explanation.as_json` has turned into an object."""
    return Explanation(
        params=_params(found["params"]),
        left=made(found["left"], Side),
        right=made(found["right"], Side),
        comparison=_optional(found["comparison"], Comparison),
        estimate=found["estimate"],
        shared_bands=tuple(found["bands"]["shared"]),
        hot_bands=tuple(found["bands"]["hot"]),
        status=cast(Status, found["status"]),
        pair=_optional(found["pair"], StoredPair),
        word_diff=_optional(found["diff"], WordDiff),
        shared_runs=made(found.get("shared_runs", []), tuple[CommonRun, ...]),
    )


class _ServedStats(Stats):
    """The figures of an index without its seed, which a service keeps to itself."""

    __slots__ = ()

    def as_json(self) -> dict[str, object]:
        found = super().as_json()
        params = found["params"]
        assert isinstance(params, dict)
        return found | {"params": {name: value for name, value in params.items() if name != "seed"}}


def stats(found: Any) -> Stats:
    """Return what `Stats.as_json` has turned into an object."""
    return _ServedStats(
        url=found["index"],
        params=_params(found["params"]),
        figures=made({f"num_{name}": value for name, value in found["figures"].items()}, Figures),
        runs=made(found["runs"], tuple[RunRow, ...]),
        collections=found["collections"],
        num_unfinished=found["unfinished"]["sources"],
        unfinished=made(found["unfinished"]["first"], tuple[HalfRead, ...]),
        measured=_optional(found["measured"], Measurement),
    )


def made(value: object, kind: type[_Made]) -> _Made:
    """Return an object as a value of a class."""
    return msgspec.convert(value, kind)


def without_surrogates(text: str) -> str:
    """Return a text with U+FFFD for each lone surrogate, which JSON cannot hold."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _optional(value: object, kind: type[_Made]) -> _Made | None:
    return None if value is None else made(value, kind)
