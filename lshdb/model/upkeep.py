"""The results of the verbs that treat an index as a whole: upgrade, backup, copy and vacuum."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["BackupReport", "CopiedTable", "CopyReport", "Upgrade", "VacuumReport"]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An upgrade `before` -> `after`.

    Args:
        copy: the copy of the old file; None if there was no need for one.
        statements: the SQL of a dry run, with values as comments.
    """

    before: str
    after: str
    copy: str | None = None
    statements: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        """Whether there is nothing to do."""
        return self.before == self.after


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was written and checked."""

    path: str
    revision: str
    num_bytes: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``backup --json`` prints."""
        seconds = round(self.seconds, 3)
        return {"path": self.path, "revision": self.revision, "bytes": self.num_bytes, "seconds": seconds}


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table of the copy, and the number of its rows."""

    name: str
    num_rows: int


@dataclass(frozen=True, slots=True)
class CopyReport:
    """A copy whose tables were found equal to the original's."""

    source: str
    destination: str
    tables: tuple[CopiedTable, ...]
    seconds: float

    @property
    def num_rows(self) -> int:
        """The rows of all tables."""
        return sum(table.num_rows for table in self.tables)

    def as_json(self) -> dict[str, object]:
        """The object that ``copy --json`` prints."""
        tables = {table.name: {"rows": table.num_rows} for table in self.tables}
        return {**asdict(self), "tables": tables, "rows": self.num_rows, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """The size of an index before and after."""

    bytes_before: int
    bytes_after: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``vacuum --json`` prints."""
        return asdict(self) | {"seconds": round(self.seconds, 3)}
