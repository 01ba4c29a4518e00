"""The errors lshdb raises, each with the exit code the command line ends with.

The class docstring is the message; its ``{fields}`` are keyword arguments and become attributes::

    LshdbError
    ├── UsageError                  2   the call cannot mean what it says
    │   ├── InvalidParams           2
    │   ├── PromiseUnreachable      2
    │   └── BelowFloor              2
    ├── StoreError                 10   the index itself
    │   ├── IndexMissing           11
    │   ├── NotAnIndex             12
    │   ├── IndexOutdated          13
    │   ├── IndexTooNew            14
    │   ├── ParamsMismatch         15
    │   ├── StoreUnreachable       16
    │   ├── AccessDenied           17
    │   │   └── IndexReadOnly      20
    │   ├── IndexBusy              18
    │   ├── StoreFailed            19
    │   ├── FileUnusable           21
    │   ├── CopyDiffers            22
    │   ├── IndexExists            23
    │   ├── IndexDamaged           24
    │   ├── IndexRebanded          25
    │   └── IndexFaulty            26
    ├── SourceError                30   what was to be read
    │   ├── PathMissing            31
    │   ├── NothingToRead          32
    │   ├── PruneRefused           33
    │   └── SourceUnreadable       34
    ├── BadDocument                40   one document; counted, recorded and skipped by ingest
    ├── DocumentUnknown            41
    ├── CollectionUnknown          42
    ├── WorkerLost                 50
    ├── TextsNotKept               51
    ├── SpillFailed                52   no room for the candidate pairs
    └── OutputError                60   what was to be written
        ├── OutputExists           61
        └── OutputFailed           62

A bad document never stops a run; a bad store does. Messages never hold a password: URLs are masked
before they reach an error.
"""

from __future__ import annotations

import inspect
from typing import ClassVar

__all__ = [
    "AccessDenied",
    "BadDocument",
    "BelowFloor",
    "CollectionUnknown",
    "CopyDiffers",
    "DocumentUnknown",
    "FileUnusable",
    "IndexBusy",
    "IndexDamaged",
    "IndexExists",
    "IndexFaulty",
    "IndexMissing",
    "IndexOutdated",
    "IndexReadOnly",
    "IndexRebanded",
    "IndexTooNew",
    "InvalidParams",
    "LshdbError",
    "NotAnIndex",
    "NothingToRead",
    "OutputError",
    "OutputExists",
    "OutputFailed",
    "ParamsMismatch",
    "PathMissing",
    "PromiseUnreachable",
    "PruneRefused",
    "SourceError",
    "SourceUnreadable",
    "SpillFailed",
    "StoreError",
    "StoreFailed",
    "StoreUnreachable",
    "TextsNotKept",
    "UsageError",
    "WorkerLost",
]


class LshdbError(Exception):
    """{reason}"""

    exit_code: ClassVar[int] = 3

    def __init__(self, **fields: object) -> None:
        self.fields = fields
        super().__init__(self._message())

    def __getattr__(self, name: str) -> object:
        """The field ``name``. Raises: AttributeError: there is no such field."""
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles by its fields, so that an error crosses from a worker process."""
        return _rebuild, (type(self), self.fields)

    def _message(self) -> str:
        # python -OO strips docstrings; the name and the fields still say what happened.
        template = type(self).__doc__
        if template is None:
            return f"{type(self).__name__}: {self.fields}"
        return inspect.cleandoc(template).replace("\n", " ").format(**self.fields)


def _rebuild(kind: type[LshdbError], fields: dict[str, object]) -> LshdbError:
    return kind(**fields)


class UsageError(LshdbError):
    """{reason}"""

    exit_code = 2


class InvalidParams(UsageError):
    """{name} is {value}: {reason}"""


class PromiseUnreachable(UsageError):
    """{minima} cannot find pairs at {min_sim} with recall {recall}. The nearest: recall {reachable} at {min_sim}, or
    recall {recall} from {least} on. More takes an index made with a larger --num-perm."""


class BelowFloor(UsageError):
    """--min-sim {min_sim} is below this index's floor {floor}: pairs less similar than the floor
    are not kept. Ask for {floor} or more, or make an index with a lower --floor."""


class StoreError(LshdbError):
    """{reason}"""

    exit_code = 10
    # Whether the same transaction may succeed a moment later.
    is_passing = False


class IndexMissing(StoreError):
    """There is no index at {url}. Make one with: lshdb --db {url} ingest PATH"""

    exit_code = 11


class NotAnIndex(StoreError):
    """{url} is not an lshdb index: {reason}. Name another with --db."""

    exit_code = 12


class IndexOutdated(StoreError):
    """Index {url} is at revision {current}; this version needs {head}. Run: lshdb --db {url} upgrade"""

    exit_code = 13


class IndexTooNew(StoreError):
    """Index {url} is at revision {current}, which this lshdb {version} does not know: {writer} wrote to it.
    Run: pip install --upgrade lshdb"""

    exit_code = 14


class ParamsMismatch(StoreError):
    """Index {url} was made with {name} {stored}, not {given}. Leave the option out, or make another index with --db."""

    exit_code = 15


class StoreUnreachable(StoreError):
    """The database {url} does not answer: {reason}. Check that the server runs and that host, port
    and name are right."""

    exit_code = 16


class AccessDenied(StoreError):
    """The database {url} refused the login or a permission: {reason}. Check user, password and rights."""

    exit_code = 17


class IndexReadOnly(AccessDenied):
    """Index {url} can be asked, but not changed: {reason}. To change it, make its file and folder writable, or name
    the server that takes writes."""

    exit_code = 20


class IndexBusy(StoreError):
    """Index {url} is being written by another process: {reason}. Run it again when that one has ended."""

    exit_code = 18


class StoreFailed(StoreError):
    """The database {url} failed: {reason}. The last batch was rolled back; what was committed before it is kept."""

    exit_code = 19


class FileUnusable(StoreError):
    """The file {url} cannot be opened: {reason}. Check that its folder is there, and that you may read both."""

    exit_code = 21


class CopyDiffers(StoreError):
    """The table {table} arrived at {url} as {copied}, but is {original}. Nothing was kept there; run the same command
    again."""

    exit_code = 22


class IndexExists(StoreError):
    """There is an index at {url} already. Add to it with: lshdb --db {url} ingest PATH"""

    exit_code = 23


class IndexDamaged(StoreError):
    """Index {url} contradicts itself: {reason}. Restore it from a backup, or make it anew."""

    exit_code = 24


class IndexRebanded(StoreError):
    """Index {url} was given other bands meanwhile, by lshdb reband. What was committed before is kept; run the same
    command again."""

    exit_code = 25


class IndexFaulty(StoreError):
    """Index {url} has faults: {faults}. {advice}"""

    exit_code = 26


class SourceError(LshdbError):
    """{reason}"""

    exit_code = 30


class PathMissing(SourceError):
    """{path}: no such file or folder."""

    exit_code = 31


class NothingToRead(SourceError):
    """{path}: nothing here that lshdb reads ({reason})."""

    exit_code = 32


class PruneRefused(SourceError):
    """{path} holds no files now, but the index has {num_sources} sources from it; is a disk not mounted?
    Nothing was removed."""

    exit_code = 33


class SourceUnreadable(SourceError):
    """{path}: {reason}"""

    exit_code = 34


class BadDocument(LshdbError):
    """{source}{locator}: {reason}"""

    exit_code = 40


class DocumentUnknown(LshdbError):
    """No document {doc_id!r} in collection {collection!r} of index {url}."""

    exit_code = 41


class CollectionUnknown(LshdbError):
    """There is no collection {collection!r} in index {url}; it has: {known}."""

    exit_code = 42


class WorkerLost(LshdbError):
    """A worker process {reason}. What was committed is kept; run the same command again to go on,
    with --workers 1 if it happens again."""

    exit_code = 50


class TextsNotKept(LshdbError):
    """Index {url} was made with --no-keep-text and has no texts to export. Export the ids of what is kept with
    --what kept, and take the texts from where they came from; or make an index that keeps texts."""

    exit_code = 51


class OutputError(LshdbError):
    """{reason}"""

    exit_code = 60


class OutputExists(OutputError):
    """{path} is there already. Name another file, or write over it with --force."""

    exit_code = 61


class OutputFailed(OutputError):
    """{path} cannot be written: {reason}. Nothing was changed."""

    exit_code = 62


class SpillFailed(LshdbError):
    """There is no room in {folder} for the candidate pairs: {reason}. Free some, or name another folder
    with TMPDIR=FOLDER, and run: lshdb link"""

    exit_code = 52
