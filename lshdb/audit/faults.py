"""What an audit finds, and the words for how it is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FROM_SIGNATURE", "FROM_TEXT", "LOST", "Fault"]

FROM_TEXT: Final = "made anew from the kept text"
FROM_SIGNATURE: Final = "made anew from the signature"
LOST: Final = "none: restore it from a backup"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that must not be.

    Args:
        fault: the stable name of its kind.
        table: where it is; empty where it is the whole index.
        key: the row's primary key, its columns separated by commas; or the name of an index.
        detail: what is wrong.
        repair: what a repair does; ``none: ...`` where nothing can be derived.
    """

    fault: str
    table: str
    key: str
    detail: str
    repair: str
