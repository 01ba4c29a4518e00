"""What requests hold, and what answers look like. FastAPI checks the former and describes both."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Final

import msgspec
from fastapi import Path, Query
from fastapi.responses import Response
from pydantic import AfterValidator, ConfigDict, Field, model_validator

from lshdb.answers.query import Match
from lshdb.clusters.catalogue import Listed
from lshdb.clusters.members import Member
from lshdb.errors import UsageError
from lshdb.model.choices import Comparing, Outcome
from lshdb.model.decisions import MAX_REASON, MAX_WHO, Decision, DecisionKind
from lshdb.model.params import Params
from lshdb.model.passages import Containing
from lshdb.model.reports import Pair, RunRow
from lshdb.model.values import MAX_DATE, MAX_NAME_BYTES, MIN_DATE
from lshdb.web.served import MAX_DOCUMENTS, MAX_MATCHES

__all__ = [
    "Added",
    "AddedDecisions",
    "Answers",
    "Asked",
    "AskedMany",
    "Changed",
    "Collection",
    "Cursor",
    "Dated",
    "Decided",
    "DecisionList",
    "DecisionNumbers",
    "DocId",
    "DocIdInPath",
    "Limit",
    "Many",
    "ManyDecisions",
    "Matches",
    "MinSim",
    "Most",
    "Name",
    "Named",
    "Put",
    "Removal",
    "Similarity",
    "Stored",
    "Undone",
    "cursor",
    "json",
    "position",
    "without_seed",
]

# Both databases store smaller keys.
MAX_KEY: Final = 2**63


def _name(given: str) -> str:
    """Return a name that both databases can look up. Raises: ValueError."""
    try:
        size = len(given.encode())
    except UnicodeEncodeError:
        raise ValueError("it holds a lone surrogate") from None
    if not given or "\0" in given or size > MAX_NAME_BYTES:
        raise ValueError(f"a name has 1 to {MAX_NAME_BYTES:,} bytes, and no NUL character")
    return given


Name = Annotated[str, AfterValidator(_name)]
Similarity = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]

DocId = Annotated[Name, Query()]
DocIdInPath = Annotated[Name, Path()]
Collection = Annotated[Name, Query(description="Namespace of the document ids.")]
MinSim = Annotated[Similarity | None, Query(description="Least similarity; the index's own by default.")]
Limit = Annotated[int, Query(ge=1, le=1_000, description="Items of one answer.")]
Most = Annotated[int | None, Query(ge=1, description="Items of one answer, 100 and at most 1,000; lines: all.")]
Cursor = Annotated[str | None, Query(max_length=8_000, description="The `next` of the previous answer.")]


# Each wrong field takes a kilobyte, and a body has room for millions.
MAX_FIELDS: Final = 20


@dataclass(frozen=True)
class _Sent:
    """An object that a client sends. Other fields are refused: a misspelt one would do nothing."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _require_few(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > MAX_FIELDS:
            raise ValueError(f"an object has at most {MAX_FIELDS} fields")
        return given


@dataclass(frozen=True)
class Content(_Sent):
    """A document's text: exactly one of the three."""

    text: str | None = None
    html: str | None = None
    features: Annotated[list[str], Field(fail_fast=True)] | None = None

    # The fields of which exactly one names what is asked about, or added.
    _one_of: ClassVar[tuple[str, ...]] = ("text", "html", "features")

    def __post_init__(self) -> None:
        if sum(getattr(self, name) is not None for name in self._one_of) != 1:
            *first, last = self._one_of
            raise ValueError(f"give one of {', '.join(first)} and {last}")


@dataclass(frozen=True)
class Dated(Content):
    """A document. `dated_at` is in microseconds since 1970 UTC."""

    dated_at: Annotated[int, Field(strict=True, ge=MIN_DATE, le=MAX_DATE)] | None = None


@dataclass(frozen=True)
class Named(Dated):
    """A document with its id."""

    id: Name = ""


@dataclass(frozen=True)
class Asked(Content):
    """A question: which documents of the index are like this one? It may also be named by its id.

    `k` is the largest number of matches, null for all.
    """

    id: Name | None = None
    collection: Name = "default"
    min_sim: Similarity | None = None
    k: Annotated[int, Field(ge=1)] | None = 100
    measure: Comparing = "jaccard"

    _one_of: ClassVar = ("text", "html", "features", "id")


@dataclass(frozen=True)
class Many(_Sent):
    """Several documents."""

    documents: Annotated[list[Named], Field(max_length=MAX_DOCUMENTS)]


@dataclass(frozen=True)
class AskedMany(Many):
    """The same question about several documents."""

    min_sim: Similarity | None = None
    k: Annotated[int, Field(ge=1, le=MAX_MATCHES)] = 100


@dataclass(frozen=True)
class Removal(_Sent):
    """Ids of documents to remove."""

    ids: Annotated[list[Name], Field(max_length=MAX_DOCUMENTS)]


_Who = Annotated[str, Field(min_length=1, max_length=MAX_WHO)]
_Reason = Annotated[str, Field(max_length=MAX_REASON)]


@dataclass(frozen=True)
class Decided(_Sent):
    """A decision. `other` is for `different` only, and then in the same collection unless another one is given."""

    kind: DecisionKind
    id: Name
    who: _Who
    other: Name | None = None
    reason: _Reason = ""
    collection: Name = "default"
    other_collection: Name | None = None


@dataclass(frozen=True)
class DecidedThen(Decided):
    """A decision that was made at some time; now, if none is given. It may have the other fields of a listed one."""

    __pydantic_config__: ClassVar = ConfigDict(extra="ignore")
    decided_at: Annotated[str, Field(max_length=50)] | None = None


@dataclass(frozen=True)
class ManyDecisions(_Sent):
    """Several decisions."""

    decisions: Annotated[list[DecidedThen], Field(max_length=MAX_DOCUMENTS)]


@dataclass(frozen=True)
class DecisionNumbers(_Sent):
    """The numbers of decisions."""

    decisions: Annotated[list[Annotated[int, Field(strict=True, ge=1, lt=MAX_KEY)]], Field(max_length=MAX_DOCUMENTS)]


@dataclass(frozen=True)
class Matches:
    """Near-duplicates, the most similar first, or documents that contain one, those with most of it first."""

    matches: list[Match] | list[Containing]


@dataclass(frozen=True)
class Answered:
    """The near-duplicates of one of several documents."""

    id: str
    matches: list[Match]


@dataclass(frozen=True)
class Answers:
    """The near-duplicates of several documents, in their order."""

    answers: list[Answered]


@dataclass(frozen=True)
class Stored:
    """A document of the index."""

    id: str
    collection: str
    text: str | None
    features: list[str] | None = None
    source: str | None = None
    locator: str = ""
    dated_at: int | None = None


@dataclass(frozen=True)
class Put:
    """What became of a document, and the near-duplicates that it met."""

    id: str
    outcome: Outcome
    matches: list[Match] = field(default_factory=list)


@dataclass(frozen=True)
class Added:
    """What became of several documents."""

    added: int
    updated: int
    unchanged: int
    pairs_added: int


@dataclass(frozen=True)
class Changed:
    """How many documents were removed."""

    removed: int


@dataclass(frozen=True)
class Pairs:
    """Pairs, and the cursor of the next ones; null at the end."""

    items: list[Pair]
    next: str | None


@dataclass(frozen=True)
class Clusters:
    """Clusters, and the cursor of the next ones; null at the end."""

    items: list[Listed]
    next: str | None
    total: int


@dataclass(frozen=True)
class ClusterMembers:
    """The documents of a cluster, the kept one first."""

    cluster: str
    size: int
    members: list[Member]


@dataclass(frozen=True)
class Runs:
    """Runs, and the cursor of the next ones; null at the end."""

    items: list[RunRow]
    next: str | None


@dataclass(frozen=True)
class DecisionList:
    """Decisions, and the cursor of the next ones; null at the end."""

    items: list[Decision]
    next: str | None


@dataclass(frozen=True)
class AddedDecisions:
    """How many decisions were added; the index had the others, or later ones about the same documents."""

    added: int
    unchanged: int


@dataclass(frozen=True)
class Undone:
    """How many decisions were undone."""

    undone: int


def json(value: Any, status: int = 200) -> Response:
    """Return a value as JSON. It takes a tenth of the time that FastAPI takes to check and encode it."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def without_seed(params: Params) -> dict[str, object]:
    """Return parameters as an object. Who knows the seed can choose texts that collide."""
    return {name: value for name, value in asdict(params).items() if name != "seed"}


def cursor(place: tuple[Any, ...] | None) -> str | None:
    """Return a place in a list as an opaque text."""
    return None if place is None else base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def position(given: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """Return the place of a cursor. Args: kinds: of its values. Raises: UsageError: it is not one of this list."""
    if given is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(given + "=" * (-len(given) % 4))
        place = tuple(msgspec.json.decode(raw, type=tuple[kinds]))  # type: ignore[valid-type]
        if any(isinstance(value, int) and not 0 <= value < MAX_KEY for value in place):
            raise ValueError
        return place
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise UsageError(reason="the cursor is not one of this list") from None
