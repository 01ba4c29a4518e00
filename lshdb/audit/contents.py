"""Check contents against their texts, and bucket rows against the signatures of their contents.

A text is trusted if the content has its digest, or has both its signature and its number of shingles. If a trusted text
and its content differ, the text is right. So buckets are compared with the correct signature, not the stored one.
Limitation: in an index without texts the stored signature decides, so a wrong signature makes its buckets look wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from zstandard import ZstdError

from lshdb.audit.faults import FROM_TEXT, LOST, Fault
from lshdb.linking.comparison import Contents
from lshdb.model.arrays import distinct
from lshdb.model.batches import in_batches
from lshdb.model.choices import MINIMUM_BYTES, FaultKind
from lshdb.model.params import Params
from lshdb.model.values import Signatures
from lshdb.sketch.banding import band_keys
from lshdb.sketch.sketch import sketch_encoded
from lshdb.sketch.texts import unpack_utf8
from lshdb.store.schema import DIGEST_BAND
from lshdb.store.tables import audit, graph, identities
from lshdb.store.tables.audit import AuditedContents
from lshdb.store.transaction import Transaction

__all__ = ["Change", "Examined", "examine", "extra_rows", "readable", "stored_contents", "stored_minima", "trusted"]

# Bytes of text that are sketched at a time.
SKETCHED_BYTES: Final = 16_000_000

# Bucket rows whose contents are checked together.
PAGE_ROWS: Final = 20_000

# A broken frame may also claim a size larger than the memory, hence MemoryError.
UNREADABLE: Final = (ZstdError, UnicodeDecodeError, MemoryError, TypeError)


class Change(Struct, frozen=True):
    """The correct values of a content, recomputed from its text.

    Args: digest: 16 bytes. signature: as the index stores it.
    """

    key: int
    digest: bytes
    num_shingles: int
    signature: bytes


class Examined(Struct, frozen=True):
    """The result of checking some contents.

    Args:
        faults: all faults.
        changes: the correct values of contents that differ from their texts.
        num_known: the number of contents whose correct signature is known.
        num_read: the number of texts that were sketched again.
        missing: the bucket rows that are missing: (band, bucket_hash, content_key), int64, shape (m, 3).
    """

    faults: tuple[Fault, ...]
    changes: tuple[Change, ...]
    num_known: int
    num_read: int
    missing: NDArray[np.int64]


class _Compared(Struct, frozen=True):
    """Contents compared with their texts: the faults, the correct values, and the keys whose text is not trusted."""

    faults: tuple[Fault, ...]
    changes: tuple[Change, ...]
    untrusted: frozenset[int]
    num_read: int


def examine(transaction: Transaction, stored: AuditedContents, chosen: NDArray[np.bool_], params: Params) -> Examined:
    """Check contents against their buckets. Those that are chosen or look wrong are also checked against their texts.

    Args: chosen: bool, aligned with the contents.
    """
    minima, known = stored_minima(stored, params)
    missing = _missing(transaction, stored, minima, known, params)
    impossible = ~known
    doubtful = chosen | impossible | np.isin(stored.keys, missing[:, 2])
    compared = _compare(transaction, _chosen(stored, doubtful), params)
    if compared.changes:
        _correct(stored, minima, known, compared.changes, params)
        missing = _missing(transaction, _renamed(stored, compared.changes), minima, known, params)
    changed = {change.key for change in compared.changes}
    lost = [row for row in np.flatnonzero(impossible).tolist() if int(stored.keys[row]) not in changed]
    faults = [*compared.faults, *(_wrong_length(stored, row, params) for row in lost)]
    faults += [_missing_row(*row) for row in missing.tolist()]
    return Examined(tuple(faults), compared.changes, int(known.sum()), compared.num_read, missing)


def extra_rows(transaction: Transaction, band: int, params: Params) -> Iterator[tuple[Fault, tuple[int, int, int]]]:
    """Yield the faults of a band's rows that should not exist, each with (band, bucket_hash, content_key)."""
    last = np.empty((0, 2), dtype=np.int64)
    for rows in audit.band_rows(transaction, band, PAGE_ROWS):
        for bucket_hash, key in _repeated(np.concatenate([last, rows])).tolist():
            detail = "another generation has this row, too"
            yield Fault("bucket-twice", "band_bucket", _key(band, bucket_hash, key), detail, "deleted from one"), (
                band, bucket_hash, key
            )  # fmt: skip
        last = rows[-1:]
        stored = audit.contents(transaction, distinct(rows[:, 1]))
        there = np.isin(rows[:, 1], stored.keys)
        for bucket_hash, key in rows[~there].tolist():
            detail = f"there is no content {key}"
            yield Fault("bucket-of-no-content", "band_bucket", _key(band, bucket_hash, key), detail, "deleted"), (
                band, bucket_hash, key
            )  # fmt: skip
        for bucket_hash, key in _wrong(transaction, band, rows[there], stored, params).tolist():
            detail = f"its {_origin(band)} has another bucket in this band"
            yield Fault("bucket-wrong", "band_bucket", _key(band, bucket_hash, key), detail, "deleted"), (
                band, bucket_hash, key
            )  # fmt: skip


def stored_minima(stored: AuditedContents, params: Params) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Return the minima, shape (n, num_perm), and whether each signature has the right length, bool, shape (n,).

    The row of a signature with a wrong length is 0.
    """
    size = _signature_bytes(params)
    known = np.fromiter((len(signature) == size for signature in stored.signatures), np.bool_, len(stored))
    whole = (one if len(one) == size else bytes(size) for one in stored.signatures)
    return Signatures.read(b"".join(whole), params.permutations).minima, known


def _signature_bytes(params: Params) -> int:
    return MINIMUM_BYTES[params.scheme] * params.num_perm


def stored_contents(transaction: Transaction, content_keys: NDArray[np.int64], params: Params) -> Contents:
    """Return those of the contents that exist and whose signature has the right length."""
    stored = audit.contents(transaction, content_keys)
    minima, known = stored_minima(stored, params)
    return Contents(stored.keys[known], stored.num_shingles[known], Signatures(minima[known], params.scheme))


def trusted(transaction: Transaction, content_keys: NDArray[np.int64], params: Params) -> NDArray[np.int64]:
    """Return the contents whose text can be read and is trusted, int64, ascending."""
    stored = audit.contents(transaction, content_keys)
    untrusted = _compare(transaction, stored, params).untrusted
    return stored.keys[~np.isin(stored.keys, list(untrusted))]


def _wrong(
    transaction: Transaction, band: int, rows: NDArray[np.int64], stored: AuditedContents, params: Params
) -> NDArray[np.int64]:
    """Return the rows (bucket_hash, content_key) that do not follow from the signatures of their contents."""
    minima, known = stored_minima(stored, params)
    wrong = _unlike(band, rows, stored, minima, known, params)
    doubtful = np.isin(stored.keys, wrong[:, 1])
    if not doubtful.any():
        return wrong
    changes = _compare(transaction, _chosen(stored, doubtful), params).changes
    _correct(stored, minima, known, changes, params)
    stored = _renamed(stored, changes)
    return _unlike(band, rows, stored, minima, known, params)


def _unlike(
    band: int,
    rows: NDArray[np.int64],
    stored: AuditedContents,
    minima: NDArray[np.uint32],
    known: NDArray[np.bool_],
    params: Params,
) -> NDArray[np.int64]:
    if band == DIGEST_BAND:
        buckets, known = identities.buckets_of(identities.as_digests(stored.digests)), np.ones_like(known)
    else:
        buckets = band_keys(Signatures(minima, params.scheme), params.banding)
    hashes = buckets.keys[:, band - buckets.first_band].view(np.int64)
    places = np.searchsorted(stored.keys, rows[:, 1])
    wrong: NDArray[np.int64] = rows[known[places] & (hashes[places] != rows[:, 0])]
    return wrong


def _correct(
    stored: AuditedContents,
    minima: NDArray[np.uint32],
    known: NDArray[np.bool_],
    changes: tuple[Change, ...],
    params: Params,
) -> None:
    for change in changes:
        row = int(np.searchsorted(stored.keys, change.key))
        minima[row], known[row] = Signatures.read(change.signature, params.permutations).minima[0], True


def _repeated(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that equal the row before them. Args: rows: int64, shape (n, 2), sorted."""
    repeated: NDArray[np.int64] = rows[1:][(rows[1:] == rows[:-1]).all(axis=1)]
    return repeated


def _missing(
    transaction: Transaction,
    stored: AuditedContents,
    minima: NDArray[np.uint32],
    known: NDArray[np.bool_],
    params: Params,
) -> NDArray[np.int64]:
    buckets = band_keys(Signatures(minima[known], params.scheme), params.banding)
    digests = identities.buckets_of(identities.as_digests(stored.digests))
    asked = ((stored.keys[known], buckets), (stored.keys, digests))
    return np.concatenate([audit.missing_buckets(transaction, keys, mine) for keys, mine in asked])


def _renamed(stored: AuditedContents, changes: tuple[Change, ...]) -> AuditedContents:
    """Return the contents with their correct digests."""
    correct = {change.key: change.digest for change in changes}
    digests = zip(stored.keys.tolist(), stored.digests, strict=True)
    return replace(stored, digests=tuple(correct.get(key, digest) for key, digest in digests))


def _missing_row(band: int, bucket_hash: int, key: int) -> Fault:
    detail, repair = f"its {_origin(band)} has this bucket, too", f"recomputed from the {_origin(band)}"
    return Fault("bucket-missing", "band_bucket", _key(band, bucket_hash, key), detail, repair)


def _origin(band: int) -> str:
    return "digest" if band == DIGEST_BAND else "signature"


def _compare(transaction: Transaction, stored: AuditedContents, params: Params) -> _Compared:
    """Compare contents with their texts, if the index keeps texts."""
    faults: list[Fault] = []
    changes: list[Change] = []
    untrusted: set[int] = set()
    num_read = 0
    if params.keep_text and len(stored):
        for key, fresh in _sketched(transaction, stored.keys, params):
            num_read += fresh is not None
            row = int(np.searchsorted(stored.keys, key))
            found = [_unreadable(key)] if fresh is None else list(_differing(transaction, stored, row, fresh))
            faults += found
            if any(fault.fault.startswith("text-") for fault in found):
                untrusted.add(key)
            elif fresh is not None and any(fault.repair == FROM_TEXT for fault in found):
                changes.append(fresh)
    return _Compared(tuple(faults), tuple(changes), frozenset(untrusted), num_read)


def _differing(transaction: Transaction, stored: AuditedContents, row: int, fresh: Change) -> Iterator[Fault]:
    """Yield the faults of a content that differs from its text."""
    is_signed = stored.signatures[row] == fresh.signature
    is_counted = int(stored.num_shingles[row]) == fresh.num_shingles
    is_named = stored.digests[row] == fresh.digest
    key = _key(fresh.key)
    if not is_named and not (is_signed and is_counted):
        yield Fault("text-differs", "content_text", key, "it is the text of another content", LOST)
        return
    if not is_signed:
        kind: FaultKind = (
            "signature-differs" if len(stored.signatures[row]) == len(fresh.signature) else "signature-length"
        )
        yield Fault(kind, "content", key, "the text has another signature", FROM_TEXT)
    if not is_counted:
        detail = f"the text has {fresh.num_shingles} shingles, not {stored.num_shingles[row]}"
        yield Fault("num-shingles-differs", "content", key, detail, FROM_TEXT)
    if not is_named:
        twin = identities.content_with(transaction, fresh.digest)
        repair = FROM_TEXT if twin is None else f"none: content {twin} has the same text; restore a backup"
        yield Fault("digest-differs", "content", key, "the text has another digest", repair)


def _wrong_length(stored: AuditedContents, row: int, params: Params) -> Fault:
    detail = f"{len(stored.signatures[row])} bytes instead of {_signature_bytes(params)}"
    return Fault("signature-length", "content", _key(int(stored.keys[row])), detail, LOST)


def _unreadable(key: int) -> Fault:
    return Fault("text-unreadable", "content_text", _key(key), "it cannot be unpacked", LOST)


def _sketched(transaction: Transaction, keys: NDArray[np.int64], params: Params) -> Iterator[tuple[int, Change | None]]:
    """Yield each content key with the values recomputed from its text, or None if the text cannot be read."""
    texts = ((key, readable(frame)) for key, frame in graph.texts(transaction, keys))
    for some in in_batches(texts, lambda one: len(one[1] or b""), SKETCHED_BYTES):
        yield from ((key, None) for key, text in some if text is None)
        yield from _changes([(key, text) for key, text in some if text is not None], params)


def readable(frame: bytes) -> bytes | None:
    """Return the encoded text of a frame; None if it cannot be read."""
    try:
        return unpack_utf8(frame)
    except UNREADABLE:
        return None


def _changes(held: list[tuple[int, bytes]], params: Params) -> Iterator[tuple[int, Change]]:
    sketches = sketch_encoded([utf8 for _, utf8 in held], params)
    signatures = sketches.signatures.stored
    for row, (key, _) in enumerate(held):
        digest, count = sketches.digests[row].tobytes(), int(sketches.num_shingles[row])
        yield key, Change(key, digest, count, signatures[row].tobytes())


def _chosen(stored: AuditedContents, which: NDArray[np.bool_]) -> AuditedContents:
    rows = np.flatnonzero(which).tolist()
    return AuditedContents(
        stored.keys[which],
        tuple(stored.digests[row] for row in rows),
        stored.num_shingles[which],
        tuple(stored.signatures[row] for row in rows),
    )


def _key(*values: int) -> str:
    return ",".join(map(str, values))
