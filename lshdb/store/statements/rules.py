"""What must hold of single rows, each rule as the condition of the rows that break it, and as what mends them.

Owns the rules that SQL alone can tell; what takes recomputing is `lshdb.audit`'s. Nothing here is executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Delete,
    Table,
    Update,
    and_,
    bindparam,
    case,
    delete,
    func,
    null,
    or_,
    select,
    tuple_,
    update,
)

from lshdb.store.schema import (
    band_bucket,
    content,
    content_text,
    document,
    measurement,
    pair,
    rejected,
    run,
    skipped_bucket,
    source,
    unlinked,
)
from lshdb.store.statements.statements import Rows
from lshdb.store.tables.sources import DONE, READING

__all__ = ["BY_RETIRING", "MENDABLE", "RULES", "Rule", "breaches", "correction"]

# Who wants a repair of these must look beyond the row.
BY_RETIRING: Final = "content-of-no-document"

LOST: Final = "none: restore it from a backup"
DELETED: Final = "deleted"
RELINKED: Final = "deleted; its contents are linked again"
READ_AGAIN: Final = "its source is read again by the next ingest"


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows that must not be.

    Args:
        kind: the stable name of the fault.
        wrong: the condition of such rows.
        detail: what is wrong, with the names of columns in braces.
        repair: what mends it.
        values: what the row gets; None deletes it.
        mends: whether `values` (or deleting) is what is to be done.
        relinks: columns whose contents are linked again.
        without_texts: whether it holds of an index that keeps no texts, too.
    """

    kind: str
    table: Table
    wrong: ColumnElement[bool]
    detail: str
    repair: str = DELETED
    values: Mapping[str, Any] | None = None
    mends: bool = True
    relinks: tuple[str, ...] = ()
    without_texts: bool = True
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(column.name for column in self.table.primary_key.columns))


def breaches(rule: Rule) -> Rows:
    """All columns of the rows that break a rule, in the order of their keys; binary columns are of no interest."""
    shown = [column for column in rule.table.columns if column.name not in ("signature", "text", "digest")]
    return select(*shown).where(rule.wrong).order_by(*rule.table.primary_key.columns)


def correction(rule: Rule) -> Delete | Update:
    """Mends ``:count`` of the rows that break a rule."""
    key = tuple(rule.table.primary_key.columns)
    some = select(*key).where(rule.wrong).order_by(*key).limit(bindparam("count"))
    mine = tuple_(*key).in_(some) if len(key) > 1 else key[0].in_(some)
    if rule.values is None:
        return delete(rule.table).where(mine)
    return update(rule.table).values(rule.values).where(mine)


def _absent(table: Table, column: str, value: ColumnElement[Any]) -> ColumnElement[bool]:
    return ~select(table.c[column]).where(table.c[column] == value).correlate_except(table).exists()


def _no_content(value: ColumnElement[Any]) -> ColumnElement[bool]:
    return _absent(content, "content_key", value)


def _not_hot() -> ColumnElement[bool]:
    """Whether a bucket that should be hot has not more contents than ``:cap``."""
    mate = band_bucket.alias("mate")
    beyond = (
        select(mate.c.content_key)
        .where(mate.c.band == skipped_bucket.c.band, mate.c.bucket_hash == skipped_bucket.c.bucket_hash)
        .order_by(mate.c.content_key)
        .limit(1)
        .offset(bindparam("cap"))
        .correlate(skipped_bucket)
        .scalar_subquery()
    )
    return or_(beyond.is_(None), ~skipped_bucket.c.band.between(bindparam("first_band"), bindparam("last_band")))


_ENDED = run.c.state.in_(["finished", "interrupted", "failed"])
_COUNTS = [column for column in run.columns if column.name.startswith("num_")]
_UNREAD = {
    "state": READING,
    "position": 0,
    "digest": null(),
    "num_documents": 0,
    "size": case((source.c.size < 0, 0), else_=source.c.size),
}
_BOTH = ("left_key", "right_key")

# In the order in which they are mended.
RULES: Final = (
    Rule("run-state", run, ~or_(_ENDED, run.c.state == "running"), "the state is {state}", "set to failed",
         {"state": "failed"}),
    Rule("run-never-ended", run, and_(_ENDED, run.c.finished_at.is_(None)), "{state}, and no time when it ended",
         "set to when it began", {"finished_at": run.c.started_at}),
    Rule("run-still-running", run, and_(run.c.state == "running", run.c.finished_at.is_not(None)),
         "running, and ended {finished_at}", "set to failed", {"state": "failed"}),
    Rule("run-count", run, or_(*(column < 0 for column in _COUNTS)), "a count is negative", "set to 0",
         {column.name: case((column < 0, 0), else_=column) for column in _COUNTS}),
    Rule("source-state", source, source.c.state.not_in([DONE, READING]), "{uri}: the state is {state}", READ_AGAIN,
         _UNREAD),
    Rule("source-position", source, source.c.position < 0, "{uri}: the position is {position}", READ_AGAIN, _UNREAD),
    Rule("source-digest", source, func.length(source.c.digest) != 16, "{uri}: the digest has not 16 bytes", READ_AGAIN,
         _UNREAD),
    Rule("source-count", source, or_(source.c.num_documents < 0, source.c.size < 0),
         "{uri}: {num_documents} documents, {size} bytes", READ_AGAIN, _UNREAD),
    Rule("rejected-of-no-run", rejected, _absent(run, "run_key", rejected.c.run_key), "there is no run {run_key}"),
    Rule("measurement-of-no-run", measurement, _absent(run, "run_key", measurement.c.run_key),
         "there is no run {run_key}"),
    Rule("document-of-no-source", document,
         and_(document.c.source_key.is_not(None), _absent(source, "source_key", document.c.source_key)),
         "{doc_id}: there is no source {source_key}", "kept without a source, which the next ingest of its file sets",
         {"source_key": null()}),
    Rule("document-of-no-content", document,
         and_(document.c.content_key.is_not(None), _no_content(document.c.content_key)),
         "{doc_id}: there is no content {content_key}", f"{READ_AGAIN}; without a source, none: add it again",
         mends=False),
    Rule(BY_RETIRING, content, _absent(document, "content_key", content.c.content_key), "no document has it",
         "deleted with its text, buckets and pairs", mends=False),
    Rule("text-missing", content, _absent(content_text, "content_key", content.c.content_key),
         "its text is not there", LOST, mends=False, without_texts=False),
    Rule("text-of-no-content", content_text, _no_content(content_text.c.content_key), "there is no such content"),
    Rule("unlinked-of-no-content", unlinked, _no_content(unlinked.c.content_key), "there is no such content"),
    Rule("bucket-of-no-band", band_bucket,
         or_(band_bucket.c.band < bindparam("lowest"), band_bucket.c.band > bindparam("highest")),
         "no bands of the index have number {band}"),
    Rule("pair-of-itself", pair, pair.c.left_key == pair.c.right_key, "both contents are {left_key}"),
    Rule("pair-swapped", pair, pair.c.left_key > pair.c.right_key, "the left key is the greater one", RELINKED,
         relinks=_BOTH),
    Rule("pair-of-no-content", pair, or_(_no_content(pair.c.left_key), _no_content(pair.c.right_key)),
         "there is no such content", relinks=_BOTH),
    # Not a similarity < ...: NaN is none of both.
    Rule("pair-out-of-range", pair, ~pair.c.similarity.between(bindparam("floor"), 1.0),
         "the similarity {similarity} is not from the floor to 1", RELINKED, relinks=_BOTH),
    Rule("pair-of-no-run", pair, and_(pair.c.run_key.is_not(None), _absent(run, "run_key", pair.c.run_key)),
         "there is no run {run_key}", "as linked outside of a run", {"run_key": null()}),
    Rule("skipped-not-hot", skipped_bucket, _not_hot(), "the bucket is not that large", DELETED),
)  # fmt: skip
MENDABLE: Final = tuple(rule for rule in RULES if rule.mends)
