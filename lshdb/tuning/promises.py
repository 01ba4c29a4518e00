"""State what an index promises to find, what to expect below its promise, and which bands would find more."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from lshdb.errors import PromiseUnreachable
from lshdb.model.banding import DEFAULT_RECALL, Similarities, typical
from lshdb.model.choices import MINIMUM_BYTES
from lshdb.model.params import Params
from lshdb.model.reports import Measurement
from lshdb.store.store import Store
from lshdb.store.tables import identities, measurements
from lshdb.store.transaction import Transaction
from lshdb.tuning.choice import choose

if TYPE_CHECKING:
    from lshdb.model.upkeep import Outlook

__all__ = ["outlook_of", "rebanded", "shortfall"]


def outlook_of(store: Store) -> Outlook:
    """Return the figures about the texts of an index that tuning needs."""
    from lshdb.model.upkeep import Outlook

    similarities, measured = store.read(_measured)
    sizes = replace(store.dialect.sizes, minimum=MINIMUM_BYTES[store.params.scheme])
    return Outlook(store.params, similarities, measured, sizes)


def _measured(transaction: Transaction) -> tuple[Similarities, Measurement | None]:
    """Return how similar the contents are to each other, and the last measurement; without one, typical values."""
    num_contents, measured = identities.num_contents(transaction), measurements.last(transaction)
    if measured is None or not measured.num_probes:
        return typical(max(1, num_contents)), measured
    shares = Similarities(tuple(number / measured.num_probes for number in measured.neighbours))
    # The index may have grown since the measurement.
    return shares.of_contents(num_contents), measured


def rebanded(params: Params, min_sim: float, recall: float, similarities: Similarities) -> Params:
    """Return the parameters with the bands that find a pair at `min_sim` with probability `recall`.

    The floor is lowered to `min_sim` if necessary. If the bands do not change, they stay where they are.
    Raises: PromiseUnreachable: the signatures have too few minima.
    """
    chosen = choose(min_sim, recall, num_perm=params.num_perm, similarities=similarities)
    floor = min(params.floor, min_sim)
    wanted = replace(params, bands=chosen.bands, rows=chosen.rows, min_sim=min_sim, floor=floor)
    if (wanted.bands, wanted.rows, wanted.floor) == (params.bands, params.rows, params.floor):
        return wanted
    return replace(wanted, first_band=0 if params.first_band else -wanted.bands)


def shortfall(params: Params, min_sim: float, url: str) -> str | None:
    """Return the note for a query below the promised similarity; None for other queries."""
    if min_sim >= params.min_sim:
        return None
    expected = params.banding.candidate_probability(min_sim)
    said = f"a pair at {min_sim} is found with probability {expected:.4f}; this index promises {params.recall:.4f} "
    return f"{said}at {params.min_sim} and above. {_remedy(params, min_sim, url)}"


def _remedy(params: Params, min_sim: float, url: str) -> str:
    if params.banding.candidate_probability(min_sim) >= DEFAULT_RECALL:
        return f"To promise it: lshdb --db {shlex.quote(url)} reband --min-sim {min_sim}"
    try:
        choose(min_sim, DEFAULT_RECALL, num_perm=params.num_perm)
    except PromiseUnreachable as error:
        reached = f"Its {params.num_perm} minima reach at most {error.reachable} there."
        return f"{reached} Create an index with a larger --num-perm"
    return f"To find more: lshdb --db {shlex.quote(url)} reband --min-sim {min_sim}"
