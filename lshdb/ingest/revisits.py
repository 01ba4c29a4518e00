"""Write the revisits of a batch: captures whose page is stored in another record.

A revisit becomes a document with the content of the capture that it names, if the index has that capture. If the named
capture is the document itself, as with ``captures="newest"``, the document only becomes newer. Revisits are written
after the pages of their batch, so their order within a batch does not matter.

With ``captures="newest"`` the index no longer has the older texts of an address. If a revisit names its own address, it
therefore stands for the text in the index, unless that is older than the named capture. If it names another address, it
stands for the text in the index only if that is the text of the named capture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from lshdb.ingest.removal import retire
from lshdb.model.params import Params
from lshdb.model.values import Conflicts, Counts, Rejection
from lshdb.readers import Revisit
from lshdb.readers.warc.capture_ids import timestamp
from lshdb.store.tables import captures, documents
from lshdb.store.tables.captures import Named, Range
from lshdb.store.transaction import Transaction

__all__ = ["Resolved", "put_revisits", "rejection_of"]

SECOND = 1_000_000


class Resolved(Struct, frozen=True):
    """What became of the revisits of a batch.

    Args:
        lost: the pages whose capture the index does not have.
        num_skipped: the other revisits without a capture, such as those of images, which are never indexed.
        num_documents: the number of revisits that are documents now, by the URI of their source.
        conflicts: revisits whose id belonged to a different text.
    """

    counts: Counts
    lost: tuple[Revisit, ...]
    num_skipped: int
    num_documents: Mapping[str, int]
    conflicts: Conflicts


def put_revisits(
    transaction: Transaction, revisits: Sequence[Revisit], place: documents.Place, params: Params
) -> Resolved:
    """Write revisits as documents with the contents of the captures that they name."""
    if not revisits:
        return Resolved(Counts(), (), 0, {}, Conflicts())
    ranges = [Range(one.first_id, one.end_id) for one in revisits]
    found = captures.last_in(transaction, ranges, place.collection)
    named = {at: one for at, one in found.items() if _is_named(revisits[at], one)}
    confirmed = [revisits[at].capture for at, one in named.items() if one.doc_id == revisits[at].capture.doc_id]
    others = {at: one for at, one in named.items() if one.doc_id != revisits[at].capture.doc_id}
    if confirmed:
        documents.confirm(transaction, confirmed, place)
    outcome = documents.put_known(
        transaction, [revisits[at].capture for at in others], [one.content_key for one in others.values()], place
    )
    retire(transaction, outcome.released, params)
    lost = [one for at, one in enumerate(revisits) if at not in named]
    return Resolved(
        counts=outcome.counts + Counts(num_unchanged=len(confirmed)),
        lost=tuple(one for one in lost if one.is_page),
        num_skipped=sum(not one.is_page for one in lost),
        num_documents=Counter(revisits[at].source for at in named),
        conflicts=outcome.conflicts,
    )


def rejection_of(revisit: Revisit) -> Rejection:
    """Return the rejection of a revisit whose capture the index does not have."""
    date = "" if revisit.named_at is None else f" of {timestamp(revisit.named_at)}"
    reason = f"revisit of a capture that the index does not have: {revisit.named}{date}"
    return Rejection(revisit.source, revisit.capture.locator, reason)


def _is_named(revisit: Revisit, found: Named) -> bool:
    """Return whether the document found still has the text that the revisit stands for."""
    if revisit.named_at is None or found.dated_at is None:
        return True
    if found.doc_id == revisit.capture.doc_id:
        return found.dated_at >= revisit.named_at
    # The named date may lack the fraction of a second.
    return found.dated_at // SECOND == revisit.named_at // SECOND
