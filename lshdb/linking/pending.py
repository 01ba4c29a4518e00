"""Link the contents that are not linked yet, so that an answer is complete."""

from __future__ import annotations

from lshdb.errors import AccessDenied, IndexBusy
from lshdb.model.progress import Progress
from lshdb.store.store import Store
from lshdb.store.tables import graph

__all__ = ["link_pending"]


def link_pending(store: Store, progress: Progress) -> None:
    """Link the contents that are not linked yet, unless the index is read-only or another process is writing.

    In that case the answer lacks those documents, and `progress` receives their number.
    """
    num_unlinked = store.read(graph.num_unlinked)
    if not num_unlinked:
        return
    # Most questions need no more than the tables.
    from lshdb.linking.link import Linking

    try:
        if not store.is_locked():
            Linking(store, None, progress).link(wait=False)
            return
    except (IndexBusy, AccessDenied):
        pass  # This role may only read, or another writer came first.
    progress.warned(f"{num_unlinked} contents are not linked yet and are missing from this answer")
