"""Rules for rows that the constraints of the schema cannot express. Each rule selects the rows that break it.

These are the rules that SQL alone can check; `lshdb.audit` has those that need recomputing. Nothing here executes SQL.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from sqlalchemy import ColumnElement, Delete, LargeBinary, Table, bindparam, delete, func, or_, select, tuple_

from lshdb.model.choices import FaultKind
from lshdb.store.schema import (
    DIGEST_BAND,
    band_bucket,
    content,
    content_text,
    decision,
    document,
    index_params,
    oversized_bucket,
    pair,
)
from lshdb.store.statements.generations import in_use
from lshdb.store.statements.statements import Rows

__all__ = ["DELETABLE", "LOST", "OF_NO_DOCUMENT", "RULES", "Rule", "breaches", "deletion"]

LOST: Final = "none: restore it from a backup"
RELINKED: Final = "deleted; its contents are linked again"


class Rule(Struct, frozen=True):
    """Rows that must not exist.

    Args:
        kind: the name of the fault; it never changes.
        wrong: the condition that selects these rows.
        detail: a description of the fault, with the names of columns in braces.
        repair: a description of what a repair does.
        deletes: whether a repair deletes the row, and nothing else.
        relinks: columns whose contents are linked again afterwards.
        without_texts: whether the rule also holds for an index that keeps no texts.
    """

    kind: FaultKind
    table: Table
    wrong: ColumnElement[bool]
    detail: str
    repair: str = "deleted"
    deletes: bool = True
    relinks: tuple[str, ...] = ()
    without_texts: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the columns of the table's primary key."""
        return tuple(column.key for column in self.table.primary_key.columns)


def breaches(rule: Rule) -> Rows:
    """Select the rows that break a rule, ordered by key, without their binary columns."""
    shown = [column for column in rule.table.columns if not isinstance(column.type, LargeBinary)]
    return select(*shown).where(rule.wrong).order_by(*rule.table.primary_key.columns)


def deletion(rule: Rule) -> Delete:
    """Delete up to ``:count`` of the rows that break a rule."""
    key = tuple(rule.table.primary_key.columns)
    some = select(*key).where(rule.wrong).order_by(*key).limit(bindparam("count"))
    return delete(rule.table).where(tuple_(*key).in_(some))


def _absent(table: Table, value: ColumnElement[Any]) -> ColumnElement[bool]:
    mine = table.c.content_key
    return ~select(mine).where(mine == value).correlate_except(table).exists()


def _not_oversized() -> ColumnElement[bool]:
    """Return the condition that an oversized bucket has at most ``:cap`` contents, or is not of a current band."""
    mate = band_bucket.alias("mate")
    beyond = (
        select(mate.c.content_key)
        .where(
            in_use(mate),
            mate.c.band == oversized_bucket.c.band,
            mate.c.bucket_hash == oversized_bucket.c.bucket_hash,
        )
        .order_by(mate.c.content_key)
        .limit(1)
        .offset(bindparam("cap"))
        .correlate(oversized_bucket)
        .scalar_subquery()
    )
    return or_(beyond.is_(None), ~oversized_bucket.c.band.between(bindparam("first_band"), bindparam("last_band")))


def _decided_again() -> ColumnElement[bool]:
    """Return the condition that a later decision is about the same documents."""
    later = decision.alias("later")
    first = (later.c.doc_id == decision.c.doc_id, later.c.collection_key == decision.c.collection_key)
    # Without NULL, because decisions to keep have no other document.
    other = func.coalesce(later.c.other_id, "") == func.coalesce(decision.c.other_id, "")
    where = func.coalesce(later.c.other_collection_key, 0) == func.coalesce(decision.c.other_collection_key, 0)
    mine = select(later.c.decision_key).where(*first, other, where, later.c.decision_key > decision.c.decision_key)
    return mine.correlate(decision).exists()


# A repair must also delete everything that belongs to these contents.
OF_NO_DOCUMENT: Final = Rule(
    "content-of-no-document", content, _absent(document, content.c.content_key), "no document has it",
    "deleted with its text, buckets and pairs", deletes=False,
)  # fmt: skip
RULES: Final = (
    OF_NO_DOCUMENT,
    Rule("text-missing", content, _absent(content_text, content.c.content_key), "its text is not there", LOST,
         deletes=False, without_texts=False),
    Rule("bucket-of-no-band", band_bucket,
         ~or_(band_bucket.c.band.between(bindparam("lowest"), bindparam("highest")), band_bucket.c.band == DIGEST_BAND),
         "no bands of the index have number {band}"),
    Rule("bucket-of-no-generation", band_bucket, ~in_use(), "the index has no generation {generation}"),
    Rule("pair-out-of-range", pair, pair.c.similarity < bindparam("floor"),
         "the similarity {similarity} is below the floor", RELINKED, relinks=("left_key", "right_key")),
    Rule("params-row", index_params, index_params.c.params_key != 1, "an index has one row of parameters, with key 1"),
    Rule("decision-twice", decision, _decided_again(), "a later decision is about the same documents"),
    Rule("skipped-not-hot", oversized_bucket, _not_oversized(), "the bucket is not that large"),
)  # fmt: skip
DELETABLE: Final = tuple(rule for rule in RULES if rule.deletes)
