"""The audit of an index: every invariant, by SQL where SQL can tell, else by recomputing from texts and signatures.

`rows` holds what single rows and the schema must be, `contents` what follows from texts and signatures, `pairs` the
similarities; `audit` goes through them in one snapshot. Nothing here writes.
"""

from __future__ import annotations

from lshdb.audit.audit import Auditing, Thoroughness
from lshdb.audit.faults import Fault

__all__ = ["Auditing", "Fault", "Thoroughness"]
