"""Audit an index: check every invariant, by SQL if possible, otherwise by recomputing from texts and signatures.

`rows` checks single rows and the schema, `contents` what follows from texts and signatures, `passages` the
fingerprints, `pairs` and `missing` the pairs, and `sources` what files contain. `audit` runs them in one snapshot and
writes nothing. `repair` repairs everything that can be derived from the texts, and `verify` recomputes pairs.
"""

from __future__ import annotations

from lshdb.audit.audit import Auditing, Thoroughness
from lshdb.audit.faults import Fault

__all__ = ["Auditing", "Fault", "Thoroughness"]
