"""The index: the one door for programs and for the command line, and where the pure half meets the store."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lshdb.errors import IndexExists, ParamsMismatch
from lshdb.index.changes import Changes
from lshdb.index.questions import Questions
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.reports import Upgrade
from lshdb.store import Store, whole
from lshdb.store.whole import BackupReport, CopyReport, VacuumReport
from lshdb.tuning.choice import params_of

__all__ = ["Index"]


class Index(Changes, Questions):
    """A near-duplicate index in a SQLite file or a Postgres database.

    ::

        with Index.open("crawl.db") as index:
            index.ingest(["./crawl"])
            for pair in index.pairs(min_sim=0.8):
                print(pair.left, pair.right, pair.similarity)

    Args: url: a SQLAlchemy URL or a plain path. progress: hears of long work.
    """

    @classmethod
    def open(cls, url: str, progress: Progress | None = None) -> Index:
        """An index that is there already.

        Raises: IndexMissing, NotAnIndex, IndexOutdated, IndexTooNew, StoreUnreachable, AccessDenied.
        """
        return cls(Store.open(url), progress)

    @classmethod
    def create(cls, url: str, params: Params | None = None, progress: Progress | None = None) -> Index:
        """A new, empty index. Raises: IndexExists: there is one already; and as `open`."""
        with Store.at(url) as place:
            if place.is_born():
                raise IndexExists(url=place.url)
        return cls(Store.create(url, params or Params(), version("lshdb")), progress)

    @classmethod
    def ensure(cls, url: str, chosen: Mapping[str, Any], progress: Progress | None = None) -> Index:
        """The index at `url`, made with the chosen parameters (and defaults for the others) where there is none.

        Raises: ParamsMismatch: there is one, and it was made with others; InvalidParams; and as `open`.
        """
        store = Store.create(url, params_of(chosen), version("lshdb"))
        for name, given in chosen.items():
            stored = getattr(store.params, name)
            # Bands are whole: an index promises more than was asked for.
            if stored < given if name == "recall" else stored != given:
                store.close()
                raise ParamsMismatch(url=store.url, name=f"--{name.replace('_', '-')}", stored=stored, given=given)
        return cls(store, progress)

    @staticmethod
    def upgrade(url: str, *, dry_run: bool = False) -> Upgrade:
        """Brings an index to the schema of this version; a SQLite file is copied before.

        Args: dry_run: roll it back, and return its SQL.
        """
        with Store.at(url) as store:
            return whole.rehearse(store) if dry_run else whole.perform(store)

    @staticmethod
    def backup(url: str, path: str | Path, *, force: bool = False, progress: Progress | None = None) -> BackupReport:
        """Copies a SQLite index, of whatever revision, to a file, while others use and write it.

        Args: force: write over a file that is there.
        Raises: OutputExists, OutputFailed; IndexDamaged; UsageError: the index is in Postgres.
        """
        with Store.at(url) as store:
            return whole.back_up(store, Path(path), progress or Progress(), force=force)

    def copy(self, url: str) -> CopyReport:
        """Copies the index, as it is at this moment, to a place without one, and compares both.

        Raises: IndexExists, NotAnIndex: something is there; CopyDiffers; OutputFailed.
        """
        return whole.copy_to(self._store, url, self._progress)

    def vacuum(self, *, full: bool = False) -> VacuumReport:
        """Gives up the space that nothing takes any more.

        Args: full: on Postgres, give it back to the system too, while nobody can use the index.
        Raises: IndexBusy: an ingest runs.
        """
        return whole.vacuum(self._store, full=full)
