"""The columns of the stages. docs/scale.md explains those that remain in the work folder."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

__all__ = [
    "BUCKETS",
    "COMPARED",
    "CONTENTS",
    "FAMILIES",
    "FOREST",
    "GROUPING",
    "GROUPS",
    "LISTED",
    "OCCURRENCES",
    "PAIRS",
    "PARTS",
    "PROMISING",
    "SIDES",
    "SIGNED",
    "SKETCHES",
    "TEXTS",
]

_KEY: Final = pa.int64()

# A part of a large file, as JSON.
PARTS: Final = pa.schema([("ordinal", pa.int64()), ("part", pa.string())])
# One row for each document, rejection and revisit; then, for each chunk, how far its sources were read.
SKETCHES: Final = pa.schema(
    [
        ("kind", pa.string()),
        ("place", _KEY),
        ("source", pa.string()),
        ("locator", pa.string()),
        ("doc_id", pa.string()),
        ("dated_at", pa.int64()),
        ("num_replaced", pa.int64()),
        ("digest", pa.binary()),
        ("num_shingles", pa.int64()),
        ("signature", pa.binary()),
        ("buckets", pa.binary()),
        ("fingerprints", pa.binary()),
        ("text", pa.binary()),
        ("detail", pa.string()),
    ]
)
CONTENTS: Final = pa.schema([("place", _KEY), ("content", _KEY), ("digest", pa.binary()), ("buckets", pa.binary())])
BUCKETS: Final = pa.schema([("band", pa.int16()), ("bucket_hash", pa.int64()), ("content", _KEY)])
# A candidate pair, or an oversized bucket, which has no left and no right content.
OCCURRENCES: Final = pa.schema(
    [("left", _KEY), ("right", _KEY), ("band", pa.int16()), ("bucket_hash", pa.int64()), ("num_contents", pa.int64())]
)
SIDES: Final = pa.schema([("content", _KEY), ("is_left", pa.bool_())])
# A sorted list of contents.
LISTED: Final = pa.schema([("content", _KEY)])
# Rows for one `key`: first its size and signature, then the pairs that ask for them.
SIGNED: Final = pa.schema(
    [("key", _KEY), ("asks", pa.bool_()), ("other", _KEY), ("size", pa.int64()), ("signature", pa.binary())]
)
PROMISING: Final = pa.schema(
    [("left", _KEY), ("right", _KEY), ("left_size", pa.int64()), ("right_size", pa.int64()), ("estimate", pa.float64())]
)
FOREST: Final = pa.schema([("content", _KEY), ("root", _KEY)])
FAMILIES: Final = pa.schema(
    [
        ("key", _KEY),
        ("asks", pa.bool_()),
        ("right", _KEY),
        ("left_size", pa.int64()),
        ("right_size", pa.int64()),
        ("family", _KEY),
    ]
)
GROUPING: Final = pa.schema(
    [("family", _KEY), ("left", _KEY), ("right", _KEY), ("left_size", pa.int64()), ("right_size", pa.int64())]
)
# A group is known by its first pair. Its rows are its pairs, and its contents as `left`.
GROUPS: Final = pa.schema(
    [("group_left", _KEY), ("group_right", _KEY), ("is_pair", pa.bool_()), ("left", _KEY), ("right", _KEY)]
)
TEXTS: Final = pa.schema(
    [("key", _KEY), ("asks", pa.bool_()), ("group_left", _KEY), ("group_right", _KEY), ("text", pa.binary())]
)
COMPARED: Final = GROUPS.append(pa.field("text", pa.binary()))
PAIRS: Final = pa.schema([("left", _KEY), ("right", _KEY), ("similarity", pa.float64()), ("exact", pa.bool_())])
