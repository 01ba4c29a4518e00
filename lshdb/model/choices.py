"""The words that options choose from, each stated once for Python and for the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

__all__ = [
    "BUCKET_BITS",
    "MINIMUM_BYTES",
    "MIN_CONTAINMENT",
    "Captures",
    "Comparing",
    "ExportFormat",
    "FaultKind",
    "HtmlText",
    "Keep",
    "Linkage",
    "Measure",
    "OnConflict",
    "Outcome",
    "PairOrder",
    "Scheme",
    "ShingleKind",
    "TableVersion",
    "TextFormat",
    "Unknown",
    "What",
]

# How the minima of a signature are made.
Scheme = Literal["fss2", "fss1", "universal"]

# The bytes of a minimum of each, as an index stores it.
MINIMUM_BYTES: Final[Mapping[Scheme, int]] = {"fss2": 2, "fss1": 4, "universal": 4}
# The bits of a bucket hash of each. SQLite stores 47 bits in 6 bytes.
BUCKET_BITS: Final[Mapping[Scheme, int]] = {"fss2": 47, "fss1": 64, "universal": 64}

ShingleKind = Literal["word", "char", "set"]

# The code-point table, the shingle hash and the content digest of an index.
TableVersion = Literal["unicode14-1", "unicode14-1-sha256", "unicode14-2"]

# Which part of a page is its text.
HtmlText = Literal["main", "all"]

# What a field or column of a record holds; with ``auto``, a value that begins with an HTML element is HTML.
TextFormat = Literal["text", "html", "auto"]

# Which captures of an address in WARC files are documents: the newest one, or all of them.
Captures = Literal["newest", "all"]

# How to treat a document whose id belongs to a different text from another source: replace that document, leave out the
# new one, stop the ingest, or give the new one a qualified id.
OnConflict = Literal["replace", "keep", "error", "qualify"]

# What became of a document that arrived; it is refused if it was to be added only if it was new.
Outcome = Literal["added", "updated", "unchanged", "refused"]

# Which document of a cluster is kept: the first that came, the one with the most shingles, the one dated last, or the
# one with the shortest id.
Keep = Literal["first", "longest", "newest", "shortest-id"]

# What makes documents a cluster: a chain of pairs, or that each is itself similar to the one kept.
Linkage = Literal["single", "complete-to-keep"]

# The order of pairs: the most similar first, or by the ids of the left and the right document.
PairOrder = Literal["similarity", "id"]

# How two documents are compared: by the shingles that they share of all, or by the share of one that the other has.
Comparing = Literal["jaccard", "containment"]
# The least containment, if none is given.
MIN_CONTAINMENT: Final = 0.9

# What is exported.
What = Literal["kept", "dropped", "records"]
ExportFormat = Literal["lines", "jsonl", "csv", "tsv", "parquet"]

# The names of the faults that an audit finds.
FaultKind = Literal[
    "bucket-missing", "bucket-of-no-band", "bucket-of-no-content", "bucket-of-no-generation", "bucket-twice",
    "bucket-wrong", "column-missing", "constraint-missing", "content-of-no-document", "counter-behind",
    "database-damaged", "date-differs", "decision-twice", "digest-differs", "digest-twice", "document-differs",
    "document-missing", "document-unknown", "document-unseen", "estimate-differs", "filter-wrong",
    "fingerprints-differ", "index-invalid", "index-missing", "key-missing", "locator-differs", "num-shingles-differs",
    "pair-missing", "pair-out-of-range", "pair-unverifiable", "params-recall", "params-row", "signature-differs",
    "signature-length", "similarity-differs", "skipped-count", "skipped-not-hot", "source-count", "source-digest",
    "source-excess", "table-missing", "text-differs", "text-missing", "text-unreadable", "view-missing",
]  # fmt: skip

# What a filter does with records that the index does not hold.
Unknown = Literal["keep", "drop", "error"]

# What makes a test document contaminated: a run of words that a training document has too, or similarity as a whole.
Measure = Literal["overlap", "jaccard"]
