"""Plant faults at random places of a sound index. Every planter returns what an audit must find.

The section of this module in which a planter is defined says what a repair does about its faults.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sqlalchemy import Table, delete, func, insert, select, text, update

from lshdb.model.params import Params
from lshdb.sketch.sketch import sketch_encoded
from lshdb.sketch.texts import pack, unpack
from lshdb.store.schema import (
    band_bucket,
    bucket_filter,
    bucket_generation,
    collection,
    content,
    content_text,
    decision,
    document,
    index_params,
    key_counter,
    oversized_bucket,
    pair,
    rejected,
    run,
    source,
)
from lshdb.store.tables import filter_merges, identities
from lshdb.store.tables.buckets import bucket_rows, joined, put_rows
from lshdb.store.transaction import Transaction
from lshdb.store.views import VIEWS

__all__ = ["BEYOND_KNOWING", "DERIVABLE", "PLANTERS", "READ_AGAIN", "Found", "Place"]

# (fault, key) of each fault.
Found = set[tuple[str, str]]
Planter = Callable[["Place"], Found]

NOBODY: Final = 999_999
_KEYS: Final = {"band", "bucket_hash", "content_key", "left_key", "right_key"}


@dataclass(frozen=True)
class Place:
    """The place for a fault: an index in a transaction, and a source of chance."""

    transaction: Transaction
    chance: random.Random
    params: Params

    def row(self, table: Table, *conditions: Any) -> Any:
        """Return a random row."""
        rows = self.transaction.execute(select(table).where(*conditions).order_by(*table.primary_key.columns)).all()
        return self.chance.choice(rows)

    def change(self, table: Table, row: Any, **values: Any) -> None:
        """Update a row."""
        self.transaction.execute(update(table).where(*_same(table, row)).values(**values))

    def drop(self, table: Table, row: Any) -> None:
        """Delete a row."""
        self.transaction.execute(delete(table).where(*_same(table, row)))

    def put(self, table: Table, **values: Any) -> None:
        """Insert a row."""
        self.transaction.execute(insert(table).values(**values))


def _same(table: Table, row: Any) -> list[Any]:
    return [column == getattr(row, column.name) for column in table.primary_key.columns]


def _key(row: Any) -> str:
    """Return the key of a row whose key is its first column."""
    return ",".join(str(getattr(row, name)) for name in row._fields if name in _KEYS)


def _hash(place: Place) -> int:
    return place.chance.randrange(-(2**63), 2**63)


def _flipped(place: Place, value: bytes, first: int, last: int) -> bytes:
    """Flip one bit of the bytes from `first` to `last`."""
    changed = bytearray(value)
    changed[place.chance.randrange(first, last)] ^= 1 << place.chance.randrange(8)
    return bytes(changed)


def _planters() -> dict[str, Planter]:
    """Return the planters that are defined so far, by name."""
    return {
        name: value
        for name, value in globals().items()
        if callable(value) and getattr(value, "__annotations__", {}).get("place") == "Place" and name[0] != "_"
    }


# A repair removes them completely.


def flipped_signature_bit(place: Place) -> Found:
    row = place.row(content)
    place.change(content, row, signature=_flipped(place, row.signature, 0, len(row.signature)))
    return {("signature-differs", str(row.content_key))}


def short_signature(place: Place) -> Found:
    row = place.row(content)
    place.change(content, row, signature=row.signature[: place.chance.randrange(len(row.signature))])
    return {("signature-length", str(row.content_key))}


def flipped_digest_bit(place: Place) -> Found:
    row = place.row(content)
    place.change(content, row, digest=_flipped(place, row.digest, 0, 16))
    return {("digest-differs", str(row.content_key))}


def other_number_of_shingles(place: Place) -> Found:
    row = place.row(content)
    place.change(content, row, num_shingles=place.chance.choice([1, row.num_shingles - 1, row.num_shingles + 1]))
    return {("num-shingles-differs", str(row.content_key))}


def missing_bucket(place: Place) -> Found:
    row = place.row(band_bucket)
    place.drop(band_bucket, row)
    return {("bucket-missing", _key(row))}


def extra_bucket(place: Place) -> Found:
    row, hashed = place.row(band_bucket), _hash(place)
    place.put(band_bucket, **{**row._mapping, "bucket_hash": hashed})
    return {("bucket-wrong", f"{row.band},{hashed},{row.content_key}")}


def bucket_with_a_wrong_hash(place: Place) -> Found:
    row, hashed = place.row(band_bucket), _hash(place)
    place.change(band_bucket, row, bucket_hash=hashed)
    return {("bucket-missing", _key(row)), ("bucket-wrong", f"{row.band},{hashed},{row.content_key}")}


def bucket_of_another_content(place: Place) -> Found:
    # The first family has a single member, which is alone in its buckets.
    row, other = place.row(band_bucket, band_bucket.c.content_key == 1), place.row(content, content.c.content_key > 1)
    place.put(band_bucket, **{**row._mapping, "content_key": other.content_key})
    return {("bucket-wrong", f"{row.band},{row.bucket_hash},{other.content_key}")}


def bucket_of_no_content(place: Place) -> Found:
    row = place.row(band_bucket)
    place.put(band_bucket, **{**row._mapping, "content_key": NOBODY})
    return {("bucket-of-no-content", f"{row.band},{row.bucket_hash},{NOBODY}")}


def bucket_of_no_band(place: Place) -> Found:
    row, band = place.row(band_bucket), place.chance.choice([-7, 90])
    place.put(band_bucket, **{**row._mapping, "band": band})
    return {("bucket-of-no-band", f"{row.generation},{band},{row.bucket_hash},{row.content_key}")}


def bucket_of_no_generation(place: Place) -> Found:
    row = place.row(band_bucket)
    place.change(band_bucket, row, generation=99)
    rest = f"{row.band},{row.bucket_hash},{row.content_key}"
    return {("bucket-of-no-generation", f"99,{rest}"), ("bucket-missing", rest)}


def bucket_in_two_generations(place: Place) -> Found:
    row = place.row(band_bucket)
    place.put(bucket_generation, generation=row.generation + 50, num_rows=1)
    place.put(band_bucket, **{**row._mapping, "generation": row.generation + 50})
    return {("bucket-twice", f"{row.band},{row.bucket_hash},{row.content_key}")}


def filter_without_a_bit(place: Place) -> Found:
    number = place.row(band_bucket).generation
    while filter_merges.advance(place.transaction, full=1):
        pass
    place.change(bucket_filter, place.row(bucket_filter), entries=b"")
    return {("filter-wrong", str(number))}


def content_of_no_document(place: Place) -> Found:
    """Insert a complete content without a document."""
    utf8 = " ".join(place.chance.choices(["one", "two", "three", "four"], k=30)).encode()
    sketches = sketch_encoded([utf8], place.params)
    keys = set(place.transaction.execute(select(content.c.content_key)).scalars())
    key = next(key for key in range(1, NOBODY) if key not in keys)
    place.put(
        content,
        content_key=key,
        digest=sketches.digests[0].tobytes(),
        num_shingles=int(sketches.num_shingles[0]),
        signature=sketches.signatures.stored[0].tobytes(),
    )
    digests = identities.rows_by_key({key: sketches.digests[0].tobytes()})
    put_rows(place.transaction, joined(bucket_rows(np.array([key]), sketches.band_keys), digests))
    if place.params.keep_text:
        place.put(content_text, content_key=key, text=pack(utf8))
    return {("content-of-no-document", str(key))}


def wrong_similarity(place: Place) -> Found:
    row = place.row(pair)
    place.change(pair, row, similarity=place.chance.uniform(place.params.floor, 1.0))
    return {("similarity-differs" if row.exact else "estimate-differs", _key(row))}


def missing_pair(place: Place) -> Found:
    row = place.row(pair)
    place.drop(pair, row)
    return {("pair-missing", _key(row))} if row.exact else set()


def pair_out_of_range(place: Place) -> Found:
    row = place.row(pair)
    place.change(pair, row, similarity=place.chance.choice([place.params.floor - 0.001, 0.0]))
    return {("pair-out-of-range", _key(row))}


def pair_of_texts_that_are_not_similar(place: Place) -> Found:
    # The first family has a single member. In a larger one, the pairs that oversized buckets left out are similar.
    other = place.row(content, content.c.content_key > 1)
    place.put(pair, left_key=1, right_key=other.content_key, similarity=0.9, exact=True, run_key=None)
    return {("similarity-differs", f"1,{other.content_key}")}


def exact_pair_that_counts_as_estimated(place: Place) -> Found:
    row = place.row(pair, pair.c.similarity * 20 != func.round(pair.c.similarity * 20))
    place.change(pair, row, exact=False)
    return {("estimate-differs", _key(row))}


def skipped_bucket_that_is_not_hot(place: Place) -> Found:
    band, bucket_hash = place.chance.choice(list(place.params.banding.numbers)), _hash(place)
    # With a cap of 6 and 2 hubs, this leaves 6 pairs.
    place.put(oversized_bucket, band=band, bucket_hash=bucket_hash, num_contents=8, num_pairs=9)
    return {("skipped-not-hot", f"{band},{bucket_hash}")}


def skipped_bucket_of_few(place: Place) -> Found:
    row = place.row(oversized_bucket)
    place.change(oversized_bucket, row, num_contents=place.chance.randint(0, 6))
    return {("skipped-count", f"{row.band},{row.bucket_hash}")}


def skipped_bucket_that_counts_otherwise(place: Place) -> Found:
    row = place.row(oversized_bucket)
    place.change(oversized_bucket, row, num_pairs=row.num_pairs + place.chance.choice([-1, 1, 1000]))
    return {("skipped-count", f"{row.band},{row.bucket_hash}")}


def counter_behind(place: Place) -> Found:
    row = place.row(key_counter)
    place.change(key_counter, row, last_key=0)
    return {("counter-behind", row.name)}


def missing_counter(place: Place) -> Found:
    row = place.row(key_counter)
    place.drop(key_counter, row)
    return {("counter-behind", row.name)}


def other_recall(place: Place) -> Found:
    place.transaction.execute(update(index_params).values(recall=index_params.c.recall - 0.01))
    return {("params-recall", "1")}


def decision_made_twice(place: Place) -> Found:
    row = place.row(decision)
    place.put(decision, **{**row._mapping, "decision_key": 0})
    return {("decision-twice", "0")}


def missing_index(place: Place) -> Found:
    index = place.chance.choice(sorted((*pair.indexes, *document.indexes, *rejected.indexes), key=lambda one: one.name))
    index.drop(place.transaction.connection)
    return {("index-missing", index.name)}


def missing_view(place: Place) -> Found:
    name = place.chance.choice(sorted(VIEWS))
    place.transaction.execute(text(f"DROP VIEW {name}"))
    return {("view-missing", name)}


DERIVABLE: Final = tuple(_planters())


def _sourced(place: Place, *conditions: Any) -> Any:
    """Return a random document with a text that was read from a file."""
    return place.row(document, document.c.source_key.is_not(None), document.c.content_key.is_not(None), *conditions)


# A repair has their sources read again, and the next ingest restores them.


def document_that_is_empty(place: Place) -> Found:
    row = _sourced(place)
    place.change(document, row, content_key=None)
    return {("document-differs", str(row.doc_key))}


def empty_document_with_a_text(place: Place) -> Found:
    row = place.row(document, document.c.content_key.is_(None))
    place.change(document, row, content_key=_sourced(place).content_key)
    return {("document-differs", str(row.doc_key))}


def documents_with_swapped_texts(place: Place) -> Found:
    row = _sourced(place)
    other = _sourced(place, document.c.content_key != row.content_key)
    place.change(document, row, content_key=other.content_key)
    place.change(document, other, content_key=row.content_key)
    return {("document-differs", str(row.doc_key)), ("document-differs", str(other.doc_key))}


def document_with_another_id(place: Place) -> Found:
    row = _sourced(place)
    place.change(document, row, doc_id=f"not {row.doc_id}")
    return {("document-unknown", str(row.doc_key)), ("document-missing", str(row.source_key))}


def document_at_another_place(place: Place) -> Found:
    row = _sourced(place)
    place.change(document, row, locator="line 999")
    return {("locator-differs", str(row.doc_key))}


def document_with_another_date(place: Place) -> Found:
    row = _sourced(place)
    place.change(document, row, dated_at=place.chance.randrange(10**15))
    return {("date-differs", str(row.doc_key))}


def document_of_another_source(place: Place) -> Found:
    row = _sourced(place)
    other = place.row(source, source.c.source_key != row.source_key)
    place.change(document, row, source_key=other.source_key)
    return {("document-unknown", str(row.doc_key)), ("source-excess", str(other.source_key))}


def document_of_another_collection(place: Place) -> Found:
    row = _sourced(place)
    key = place.transaction.allocate(collection, 1).tolist()[0]
    place.put(collection, collection_key=key, name="another")
    place.change(document, row, collection_key=key)
    return {("document-unknown", str(row.doc_key)), ("document-missing", str(row.source_key))}


def document_that_its_reading_did_not_see(place: Place) -> Found:
    row = _sourced(place)
    place.change(document, row, last_seen_run=1)
    return {("document-unseen", str(row.doc_key))}


def deleted_document(place: Place) -> Found:
    row = _sourced(place)
    place.drop(document, row)
    return {("document-missing", str(row.source_key))}


def source_that_counts_more_documents(place: Place) -> Found:
    row = place.row(source)
    place.change(source, row, num_documents=row.num_documents + place.chance.randint(1, 9))
    return {("source-count", str(row.source_key))}


def source_that_counts_fewer_documents(place: Place) -> Found:
    row = place.row(source)
    place.change(source, row, num_documents=row.num_documents - 1)
    return {("source-count", str(row.source_key))}


def source_that_counts_other_items(place: Place) -> Found:
    row = place.row(source)
    place.transaction.execute(update(source).where(*_same(source, row)).values(position=row.num_items + 1))
    return {("source-count", str(row.source_key))}


def source_with_another_digest(place: Place) -> Found:
    row = place.row(source)
    place.change(source, row, digest=_flipped(place, row.digest, 0, 16))
    return {("source-digest", str(row.source_key))}


READ_AGAIN: Final = tuple(_planters())[len(DERIVABLE) :]


# No repair removes them.


def broken_text(place: Place) -> Found:
    row = place.row(content_text)
    place.change(content_text, row, text=place.chance.choice([b"", b"no frame", row.text[:-3]]))
    return {("text-unreadable", str(row.content_key))}


def text_of_another_content(place: Place) -> Found:
    row = place.row(content_text)
    other = place.row(content_text, content_text.c.content_key != row.content_key)
    place.change(content_text, row, text=other.text)
    return {("text-differs", str(row.content_key))}


def missing_text(place: Place) -> Found:
    row = place.row(content_text)
    place.drop(content_text, row)
    return {("text-missing", str(row.content_key))}


PLANTERS: Final = _planters()


# Nothing else in the index or in the sources contradicts them.


def removed_document_of_a_program(place: Place) -> Found:
    place.drop(document, place.row(document, document.c.source_key.is_(None)))
    return set()


def document_of_a_program_with_another_text(place: Place) -> Found:
    row = place.row(document, document.c.source_key.is_(None))
    place.change(document, row, content_key=_sourced(place).content_key)
    return set()


def collection_with_another_name(place: Place) -> Found:
    place.change(collection, place.row(collection), name="another")
    return set()


def run_with_other_counts(place: Place) -> Found:
    row = place.row(run)
    place.change(run, row, num_added=row.num_added + 1, num_rejected=row.num_rejected + 1)
    return set()


def deleted_rejection(place: Place) -> Found:
    place.drop(rejected, place.row(rejected))
    return set()


def pair_of_another_run(place: Place) -> Found:
    place.change(pair, place.row(pair), run_key=place.row(run).run_key)
    return set()


def text_with_other_punctuation(place: Place) -> Found:
    row = place.row(content_text)
    place.change(content_text, row, text=pack(unpack(row.text).upper().replace(" ", ", ").encode()))
    return set()


def document_first_seen_by_another_run(place: Place) -> Found:
    row = place.row(document)
    place.change(document, row, first_seen_run=place.row(run).run_key)
    return set()


def source_with_another_time(place: Place) -> Found:
    row = place.row(source)
    place.change(source, row, mtime_ns=row.mtime_ns + 1)
    return set()


def other_version_of_lshdb(place: Place) -> Found:
    place.transaction.execute(update(index_params).values(lshdb_version="0.0.1"))
    return set()


BEYOND_KNOWING: Final[dict[str, Planter]] = {
    name: planter for name, planter in _planters().items() if name not in PLANTERS
}
