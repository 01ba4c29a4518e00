"""How long-running work reports its progress. The library never prints: it calls one of these methods."""

from __future__ import annotations

from typing import Literal

from lshdb.model.values import Counts, Rejection

__all__ = ["Progress", "Stage"]

# Work that knows which share of it is done. "index" builds what a first load has left out.
Stage = Literal[
    "index",
    "link",
    "verify",
    "contain",
    "count",
    "cluster",
    "check",
    "reband",
    "measure",
    "copy",
    "filter",
    "passages",
    "search",
    "upgrade",
]


class Progress:
    """Ignores all reports; a subclass shows them."""

    def walked(self, num_files: int, num_bytes: int, *, ended: bool) -> None:
        """An ingest has found `num_files` files, and will read `num_bytes` of them; `ended`: there are no more."""

    def read(self, num_documents: int, num_bytes: int) -> None:
        """An ingest has read and sketched this much; not all of it is committed."""

    def ingested(self, counts: Counts) -> None:
        """An ingest has committed a batch; `counts` is the total so far."""

    def rejected(self, item: Rejection) -> None:
        """An item could not be ingested."""

    def advanced(self, stage: Stage, share: float) -> None:
        """A share of some work is done, in [0, 1]; may be called from another thread."""

    def busy(self, message: str) -> None:
        """Something other than the work itself takes seconds, such as compiling; the next report replaces this one."""

    def noticed(self, message: str) -> None:
        """The user should know about something that is not an error."""

    def warned(self, message: str) -> None:
        """Data was lost or displaced, or an answer is not complete."""

    def done(self) -> None:
        """There is nothing more to report for now."""
