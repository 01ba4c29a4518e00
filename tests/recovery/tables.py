"""What is in an index: without the keys, which only number things; with them, byte for byte; and what contradicts."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import zstandard
from sqlalchemy import Table, select

from lshdb.store.schema import (
    DIGEST_BAND,
    band_bucket,
    content,
    content_text,
    document,
    metadata,
    oversized_bucket,
    pair,
    rejected,
    run,
    source,
    unlinked,
)
from lshdb.store.store import Store
from lshdb.store.tables import audit
from lshdb.store.transaction import Transaction

__all__ = ["Facts", "contradictions", "differences", "facts_of", "missing", "rows_of", "run_states"]

Row = tuple[Any, ...]
SHOWN: Final = 3

# Table name -> its facts, sorted.
Facts = dict[str, list[Row]]


def facts_of(url: str) -> Facts:
    """Return the facts in an index, independent of keys and runs."""
    with Store.open(url) as store, store.reading() as transaction:
        return {name: sorted(rows) for name, rows in _facts(transaction, store.params.first_band).items()}


def rows_of(url: str, *, generations: bool = True) -> Facts:
    """Return every row of every table by primary key, without times.

    Args: generations: False leaves out the generations of buckets, which depend on time.
    """
    without = ("started_at", "finished_at", *(() if generations else ("generation",)))
    with Store.open(url) as store, store.reading() as transaction:
        rows = {name: _rows(transaction, table, *without) for name, table in metadata.tables.items()}
    return (
        rows
        if generations
        else {name: found for name, found in rows.items() if name not in {"bucket_generation", "bucket_filter"}}
    )


def differences(url: str, expected: Facts) -> Facts:
    """Return a few facts that differ from the expected ones."""
    found = facts_of(url)
    differing = {name: Counter(rows) - Counter(expected[name]) for name, rows in found.items()}
    differing |= {f"missing {name}": Counter(rows) - Counter(found[name]) for name, rows in expected.items()}
    return {name: sorted(rows)[:SHOWN] for name, rows in differing.items() if rows}


def run_states(url: str) -> list[str]:
    """Return the state of each run, in order."""
    with Store.open(url) as store, store.reading() as transaction:
        return list(transaction.execute(select(run.c.state).order_by(run.c.run_key)).scalars())


def missing(url: str) -> list[str]:
    """Return the kinds of objects that the schema lacks."""
    with Store.open(url) as store, store.reading() as transaction:
        return [one.kind for one in audit.schema_faults(transaction)]


def contradictions(url: str) -> Facts:
    """Return the contradictions in an index. A consistent index never has any."""
    with Store.open(url) as store, store.reading() as transaction:
        found = _contradictions(transaction, store.params.banding.numbers)
        return {what: rows for what, rows in found.items() if rows}


def _facts(transaction: Transaction, first_band: int) -> Facts:
    digests: dict[int, bytes] = dict(_columns(transaction, content, "content_key", "digest"))
    uris: dict[int, str] = dict(_columns(transaction, source, "source_key", "uri"))
    decompress = zstandard.ZstdDecompressor().decompress
    return {
        "document": [
            (doc_id, uris[source_key], locator, digests.get(key, b""))
            for doc_id, source_key, locator, key in _columns(
                transaction, document, "doc_id", "source_key", "locator", "content_key"
            )
        ],
        "content": _columns(transaction, content, "digest", "num_shingles", "signature"),
        "content_text": [
            (digests[key], decompress(text)) for key, text in _columns(transaction, content_text, "content_key", "text")
        ],
        "band_bucket": [
            (band if band == DIGEST_BAND else band - first_band, hashed, digests[key])
            for band, hashed, key in _columns(transaction, band_bucket, "band", "bucket_hash", "content_key")
        ],
        "pair": [
            (*sorted((digests[left], digests[right])), similarity, exact)
            for left, right, similarity, exact in _columns(
                transaction, pair, "left_key", "right_key", "similarity", "exact"
            )
        ],
        "unlinked": _rows(transaction, unlinked),
        "oversized_bucket": _rows(transaction, oversized_bucket),
        "source": _rows(transaction, source, "source_key", "reading_run", "last_seen_run"),
        "rejected": _rows(transaction, rejected, "rejected_key", "run_key"),
    }


def _contradictions(transaction: Transaction, bands: range) -> Facts:
    contents = set(_columns(transaction, content, "content_key"))
    used = {key for key in _columns(transaction, document, "content_key") if key != (None,)}
    texts = set(_columns(transaction, content_text, "content_key"))
    rows = _columns(transaction, band_bucket, "band", "content_key")
    buckets = Counter((key,) for band, key in rows if band in bands)
    pairs = _columns(transaction, pair, "left_key", "right_key")
    known = _columns(transaction, source, "source_key", "num_documents", "state")
    seen = Counter(key for (key,) in _columns(transaction, document, "source_key"))
    # A run that is killed before it prunes leaves the documents that its readings no longer found.
    begun = dict(_columns(transaction, source, "source_key", "reading_run"))
    last_seen = _columns(transaction, document, "source_key", "last_seen_run")
    found = Counter(key for key, seen_in in last_seen if seen_in >= begun.get(key, 0))
    added = sum(number for (number,) in _columns(transaction, run, "num_added"))
    removed = sum(number for (number,) in _columns(transaction, run, "num_removed"))
    return {
        "documents of no content": sorted(used - contents),
        "contents of no document": sorted(contents - used),
        "contents without their text": sorted(contents - texts),
        "texts of no content": sorted(texts - contents),
        "contents without all their buckets": sorted(key for key in contents if buckets[key] != len(bands)),
        "buckets of no content": sorted({(key,) for _, key in rows} - contents),
        "pairs of no content": [ends for ends in pairs if not {(key,) for key in ends} <= contents],
        "unlinked and no content": sorted(set(_rows(transaction, unlinked)) - contents),
        "documents of no source": sorted((key,) for key in seen.keys() - {key for key, *_ in known}),
        "sources that count otherwise": [
            (key, number, found[key]) for key, number, state in known if state == "done" and number != found[key]
        ],
        "runs that count otherwise": [(added, removed, seen.total())] if added - removed != seen.total() else [],
    }


def _rows(transaction: Transaction, table: Table, *without: str) -> list[Row]:
    return _columns(transaction, table, *(column.key for column in table.columns if column.key not in without))


def _columns(transaction: Transaction, table: Table, *names: str) -> list[Row]:
    """Return columns of a table, ordered by those of them that are in its primary key, or else by all of the key."""
    keys = [column for column in table.primary_key.columns if column.key in names] or table.primary_key.columns
    statement = select(*(table.c[name] for name in names)).order_by(*keys)
    return [tuple(row) for row in transaction.execute(statement)]
