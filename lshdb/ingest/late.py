"""Revisits whose page comes later in the same run: in a later batch, or in a later file.

Such a revisit is stored as a rejection at first, so a run that is killed leaves a record of it. At its end, the run
tries again. If the page has come, the revisit becomes a document and its rejection is deleted.

Limitations: a run holds at most `Budgets.late_revisits` of them and rejects all others at once. If it is killed, they
stay rejected until their file is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from lshdb.ingest.make import SourceProgress
from lshdb.ingest.options import Budgets
from lshdb.ingest.rejected import condensed
from lshdb.ingest.revisits import put_revisits, rejection_of
from lshdb.model.params import Params
from lshdb.model.values import Conflicts, Counts, Rejection
from lshdb.readers import Revisit
from lshdb.store.tables import documents, runs, sources
from lshdb.store.transaction import Transaction

__all__ = ["LateRevisit", "LateRevisits", "Settled"]

# Returns the place of documents, by the keys of their sources and whether these may hold qualified ids, by URI.
PlaceOf = Callable[[Mapping[str, int], Mapping[str, bool]], documents.Place]


class LateRevisit(Struct, frozen=True):
    """A revisit whose page has not come yet. Args: rejected_key: of its rejection."""

    revisit: Revisit
    source_key: int
    rejected_key: int


class Settled(Struct, frozen=True):
    """What became of the late revisits of a run.

    Args:
        progress: how far their sources were read, with the number of revisits that are documents now, by URI.
        num_rejected: by URI, how many items of these sources the run has rejected.
    """

    progress: Mapping[str, SourceProgress]
    rejections: Sequence[Rejection]
    counts: Counts
    conflicts: Conflicts
    num_rejected: Mapping[str, int]


class LateRevisits:
    """The late revisits of one run."""

    def __init__(self, run_key: int, budgets: Budgets, place_of: PlaceOf, params: Params) -> None:
        self._run_key = run_key
        self._budgets = budgets
        self._place_of = place_of
        self._params = params
        self._held: list[LateRevisit] = []
        self._progress: dict[str, SourceProgress] = {}

    def __len__(self) -> int:
        return len(self._held)

    @property
    def sources(self) -> frozenset[str]:
        """The URIs of their sources."""
        return frozenset(self._progress)

    def put(
        self, transaction: Transaction, lost: Sequence[Revisit], source_keys: Mapping[str, int]
    ) -> tuple[tuple[LateRevisit, ...], list[Rejection]]:
        """Store revisits without a page as rejections. Changes only the database.

        Returns: those to `hold`, and the rejections of the others, which are not stored yet.
        """
        room = self._budgets.late_revisits - len(self._held)
        late, others = lost[:room], lost[room:]
        rejected_keys = runs.reject(transaction, self._run_key, [rejection_of(one) for one in late]) if late else []
        held = (
            LateRevisit(revisit, source_keys[revisit.source], key)
            for revisit, key in zip(late, rejected_keys, strict=True)
        )
        runs.record(transaction, self._run_key, Counts(num_rejected=len(late)))
        return tuple(held), [rejection_of(one) for one in others]

    def hold(self, late: Sequence[LateRevisit], progress: Mapping[str, SourceProgress]) -> None:
        """Remember the late revisits of a batch, and how far their sources have been read."""
        self._held += late
        uris = {one.revisit.source for one in late}
        self._progress |= {
            uri: replace(step, num_documents=0)
            for uri, step in progress.items()
            if uri in uris or uri in self._progress
        }

    def settle(self, transaction: Transaction, num_before: Mapping[str, int]) -> Settled:
        """Make documents of the revisits whose page has come, and reject the others. Changes only the database.

        Args: num_before: by URI, how many other items of a source the run has rejected.
        """
        keys = {one.revisit.source: one.source_key for one in self._held}
        qualified = sources.may_hold_qualified(transaction, list(keys.values()))
        place = self._place_of(keys, {uri: key in qualified for uri, key in keys.items()})
        resolved = put_revisits(transaction, [one.revisit for one in self._held], place, self._params)
        sources.add_documents(transaction, {keys[uri]: number for uri, number in resolved.num_documents.items()})
        rejections = [rejection_of(one) for one in resolved.lost]
        stored, num_rejected = condensed(rejections, num_before, self._budgets.stored_rejections)
        # If this transaction is repeated although it was committed, it must not reject them twice.
        if runs.take_back(transaction, [one.rejected_key for one in self._held]) and stored:
            runs.reject(transaction, self._run_key, stored)
        counts = resolved.counts + Counts(num_rejected=len(rejections))
        runs.record(transaction, self._run_key, counts + Counts(num_rejected=-len(self._held)))
        progress = {
            uri: replace(step, num_documents=resolved.num_documents.get(uri, 0)) for uri, step in self._progress.items()
        }
        return Settled(progress, rejections, counts, resolved.conflicts, num_rejected)
