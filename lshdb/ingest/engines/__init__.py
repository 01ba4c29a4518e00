"""How the work that needs no database is run: in a thread of this process, or in several processes.

An engine knows nothing of documents. It is given tasks, and a function from tasks and a share to results.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

from lshdb.ingest.engines.processes import Stretched, in_processes
from lshdb.ingest.engines.share import Share
from lshdb.ingest.engines.threaded import work_ahead

__all__ = ["Share", "run"]

_Task = TypeVar("_Task")
_Made = TypeVar("_Made", bound=Stretched)


def run(
    tasks: Iterable[_Task], work: Callable[[Iterable[_Task], Share], Iterable[_Made]], workers: int
) -> Generator[_Made, None, None]:
    """The results of ``work(tasks, share)``, in an order that does not depend on the number of workers.

    A generator to be closed: that ends the workers.
    """
    if workers > 1:
        return in_processes(tasks, work, workers)
    return work_ahead(tasks, lambda taken: work(taken, Share()))
