"""How long work reports to whoever watches it. The library never prints: it calls one of these methods."""

from __future__ import annotations

from typing import Literal

from lshdb.model.values import Counts, Rejection

__all__ = ["Progress", "Stage"]

# Work whose share that is done is known. "index": the primary key of the buckets, built after a first ingest.
Stage = Literal["index", "link", "verify", "cluster", "check", "reband", "measure", "copy"]


class Progress:
    """Ignores all reports; a subclass shows them."""

    def walked(self, num_files: int, num_bytes: int, *, ended: bool) -> None:
        """An ingest has found so many files, and reads so many bytes of them; `ended`: there are no more."""

    def read(self, num_documents: int, num_bytes: int) -> None:
        """An ingest has read and sketched so much; not all of it is committed."""

    def ingested(self, counts: Counts) -> None:
        """An ingest has committed; this is what it did so far."""

    def rejected(self, item: Rejection) -> None:
        """An item could not be ingested."""

    def advanced(self, stage: Stage, share: float) -> None:
        """A share of some work is done, in [0, 1]; may be called from another thread."""

    def noticed(self, message: str) -> None:
        """There is something that the user should know and that is no error."""

    def done(self) -> None:
        """There is nothing more to report for now."""
