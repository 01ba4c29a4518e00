"""What long work tells whoever watches it. The library never prints: it calls one of these."""

from __future__ import annotations

from lshdb.model.values import Counts, Rejection

__all__ = ["Progress"]


class Progress:
    """Hears of progress and ignores it; a subclass shows it."""

    def read(self, num_documents: int, num_bytes: int) -> None:
        """How much the run has read and sketched so far; not all of it is committed."""

    def walked(self, num_files: int, num_bytes: int, *, ended: bool) -> None:
        """How many files the run has met so far, and the bytes of those it reads; whether there are no more."""

    def ingested(self, counts: Counts) -> None:
        """What the run did so far, behind each commit."""

    def rejected(self, item: Rejection) -> None:
        """One item could not be ingested."""

    def keyed(self, share: float) -> None:
        """The share of the buckets' key that is built behind a first load, in [0, 1]; called from another thread."""

    def linked(self, share: float) -> None:
        """The share of the linking that is done, in [0, 1]."""

    def verified(self, share: float) -> None:
        """The share of the verification that is done, in [0, 1]."""

    def clustered(self, share: float) -> None:
        """The share of the pairs that are clustered, in [0, 1]."""

    def checked(self, share: float) -> None:
        """The share of the check that is done, in [0, 1]."""

    def rebanded(self, share: float) -> None:
        """The share of the contents whose new buckets are written, in [0, 1]."""

    def measured(self, share: float) -> None:
        """The share of the measuring that is done, in [0, 1]."""

    def copied(self, share: float) -> None:
        """The share of the index that is copied, in [0, 1]."""

    def done(self) -> None:
        """There is no more to come."""

    def noticed(self, message: str) -> None:
        """Something that the user should know and that is no error."""
