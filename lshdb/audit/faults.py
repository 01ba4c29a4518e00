"""The faults that an audit finds, and the descriptions of their repairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lshdb.model.choices import FaultKind
from lshdb.store.statements.rules import LOST

__all__ = ["FROM_TEXT", "LOST", "Fault"]

FROM_TEXT: Final = "recomputed from the kept text"


@dataclass(frozen=True, slots=True)
class Fault:
    """One violated invariant.

    Args:
        fault: the stable name of its kind.
        table: where it is; empty if it concerns the whole index.
        key: the row's primary key, its columns separated by commas; or the name of an index.
        detail: a description of the fault.
        repair: what a repair does; ``none: ...`` if the right value cannot be derived.
    """

    fault: FaultKind
    table: str
    key: str
    detail: str
    repair: str
