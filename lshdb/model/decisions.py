"""Decisions of people about documents, which clusters follow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from lshdb.errors import UsageError
from lshdb.model.params import check_choice
from lshdb.model.values import MAX_NAME_BYTES, unstorable

__all__ = ["MAX_REASON", "MAX_WHO", "Decision", "DecisionKind", "DecisionState", "DecisionsReport"]

# Two documents are not duplicates; a document is the one to keep.
DecisionKind = Literal["different", "keep"]

# Whether a decision has an effect: yes; yes, although a text has changed since; no, because both documents have the
# same text; no, because a document is not in the index.
DecisionState = Literal["valid", "changed", "same_text", "absent"]

# Bytes of UTF-8.
MAX_WHO: Final = 200
MAX_REASON: Final = 2_000


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody decided about a document, or about two.

    Args:
        kind: ``different``: the documents are not duplicates; or ``keep``: keep the document in its cluster.
        id, collection: the document.
        other, other_collection: the other document; None for ``keep``.
        who: the name of a person, 1 to 200 bytes.
        reason: why, up to 2,000 bytes.
        decided_at: ISO 8601; None for now.
        decision: its number; None if it is not stored.
        state: ``valid``; ``changed``, if a text has changed since: the decision still has an effect;
            ``same_text``, if both documents have the same text, or ``absent``, if one is not in the index: the decision
            has no effect.

    Raises: UsageError: the kind, a name, a reason or the time is not usable.
    """

    kind: DecisionKind
    id: str
    other: str | None = None
    who: str = ""
    reason: str = ""
    collection: str = "default"
    other_collection: str | None = None
    decided_at: str | None = None
    decision: int | None = None
    state: DecisionState = "valid"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, DecisionKind)
        if (self.kind == "keep") != (self.other is None):
            raise UsageError(reason='a decision of kind "different" names two documents, one of kind "keep" one')
        if self.other is None:
            object.__setattr__(self, "other_collection", None)
        elif self.other_collection is None:
            object.__setattr__(self, "other_collection", self.collection)
        if (self.collection, self.id) == (self.other_collection, self.other):
            raise UsageError(reason="a decision names two different documents")
        for name in (self.collection, self.id, self.other_collection, self.other):
            if name is not None:
                _require(name, "the name of a document or collection", 1, MAX_NAME_BYTES)
        _require(self.who, "the name of a person", 1, MAX_WHO)
        _require(self.reason, "a reason", 0, MAX_REASON)
        if self.decided_at is not None:
            object.__setattr__(self, "decided_at", _in_utc(self.decided_at))

    @property
    def documents(self) -> tuple[tuple[str, str], ...]:
        """The collection and the id of each document."""
        first = (self.collection, self.id)
        return (first,) if self.other is None else (first, (self.other_collection or "", self.other))


@dataclass(frozen=True, slots=True)
class DecisionsReport:
    """What became of several decisions; unchanged are those that the index already had, or has later ones for."""

    num_added: int
    num_unchanged: int

    def as_json(self) -> dict[str, object]:
        """Return the object that ``decisions --import FILE --format jsonl`` prints."""
        return {"added": self.num_added, "unchanged": self.num_unchanged}


def _require(text: str, what: str, least: int, most: int) -> None:
    """Raises: UsageError: a text is empty, too long, or cannot be stored."""
    if (character := unstorable(text)) is not None:
        raise UsageError(reason=f"{what} holds {character}")
    if not least <= len(text.encode()) <= most:
        raise UsageError(reason=f"{what} has {least} to {most:,} bytes")


def _in_utc(moment: str) -> str:
    """Return a time as the database writes it. Without a time zone, it is in UTC. Raises: UsageError."""
    try:
        given = datetime.fromisoformat(moment)
        aware = given if given.tzinfo else given.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        raise UsageError(reason=f"a decision was made at {moment[:40]!r}, which is not a time in ISO 8601") from None
