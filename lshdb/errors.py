"""The errors that lshdb raises, each with the exit status of the command line::

    LshdbError
    ├── UsageError                  2   the call makes no sense
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
    │   ├── IndexFaulty            26
    │   ├── SessionsPooled         27
    │   └── IndexNotEmpty          28
    ├── SourceError                30   what should be read
    │   ├── PathMissing            31
    │   ├── NothingToRead          32
    │   ├── PruneRefused           33
    │   ├── SourceUnreadable       34
    │   ├── TooManyRejected        35
    │   ├── SourceRejected         36
    │   ├── ReaderMissing          37
    │   ├── NotIngested            38
    │   └── SourceGivenUp          39
    ├── BadDocument                40   one document; counted, recorded and skipped by ingest
    ├── DocumentUnknown            41
    ├── CollectionUnknown          42
    ├── RecordsUnknown             43
    ├── IdConflict                 44   two sources bring one id with different texts
    ├── CaptureUnknown             45
    ├── TextTooShort               46   a question about passages, with a text shorter than one
    ├── SameText                   47   two documents that nobody can decide to be different
    ├── DecisionUnknown            48
    ├── WorkerLost                 50
    ├── TextsNotKept               51
    ├── SpillFailed                52   a temporary file that cannot be written or read
    ├── SearchIncomplete           53   texts that the index does not keep, and whose sources are gone
    ├── PassagesMissing            54
    ├── FolderUnusable             55   a work folder
    ├── VersionsDiffer             56
    ├── EngineFailed               57
    └── OutputError                60   what should be written
        ├── OutputExists           61
        ├── OutputFailed           62
        └── OutputStopped          63

The docstring of a class is its message. The ``{fields}`` in it are declared as attributes of the class and passed as
keyword arguments, so a type checker finds a field that is misspelt or missing. ``{field!q}`` is quoted for a shell.

A bad document never stops a run; a bad store does. Messages never contain a password: URLs are masked before they
reach an error.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Collection
from os import PathLike
from string import Formatter
from typing import Any, ClassVar, dataclass_transform

__all__ = [
    "AccessDenied",
    "BadDocument",
    "BelowFloor",
    "CaptureUnknown",
    "CollectionUnknown",
    "CopyDiffers",
    "DecisionUnknown",
    "DocumentUnknown",
    "EngineFailed",
    "FileUnusable",
    "FolderUnusable",
    "IdConflict",
    "IndexBusy",
    "IndexDamaged",
    "IndexExists",
    "IndexFaulty",
    "IndexMissing",
    "IndexNotEmpty",
    "IndexOutdated",
    "IndexReadOnly",
    "IndexRebanded",
    "IndexTooNew",
    "InvalidParams",
    "LshdbError",
    "NotAnIndex",
    "NotIngested",
    "NothingToRead",
    "OutputError",
    "OutputExists",
    "OutputFailed",
    "OutputStopped",
    "ParamsMismatch",
    "PassagesMissing",
    "PathMissing",
    "PromiseUnreachable",
    "PruneRefused",
    "ReaderMissing",
    "RecordsUnknown",
    "SameText",
    "SearchIncomplete",
    "SessionsPooled",
    "SourceError",
    "SourceGivenUp",
    "SourceRejected",
    "SourceUnreadable",
    "SpillFailed",
    "StoreError",
    "StoreFailed",
    "StoreUnreachable",
    "TextTooShort",
    "TextsNotKept",
    "TooManyRejected",
    "UsageError",
    "VersionsDiffer",
    "WorkerLost",
]

# A file or folder, as the caller named it.
_Path = str | PathLike[str]


class _Formatter(Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return shlex.quote(str(value)) if conversion == "q" else super().convert_field(value, conversion)


@dataclass_transform(kw_only_default=True)
class LshdbError(Exception):
    """lshdb failed."""

    exit_code: ClassVar[int] = 3

    def __init__(self, **fields: object) -> None:
        self._check(fields.keys())
        self.fields = fields
        self.__dict__.update(fields)
        super().__init__(self._message())

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by class and fields, so that an error can cross from a worker process."""
        return _rebuild, (type(self), self.fields)

    @classmethod
    def field_names(cls) -> frozenset[str]:
        """Return the names of the fields that the class and its parents declare."""
        declared = {name: kind for parent in cls.__mro__ for name, kind in inspect.get_annotations(parent).items()}
        return frozenset(name for name, kind in declared.items() if not str(kind).startswith("ClassVar"))

    @classmethod
    def _check(cls, given: Collection[str]) -> None:
        names = cls.field_names()
        required = {name for name in names if not hasattr(cls, name)}
        if wrong := (required - set(given)) | (set(given) - names):
            raise TypeError(f"{cls.__name__} takes the fields {sorted(names)}; wrong or missing: {sorted(wrong)}")

    def _message(self) -> str:
        fields = {name: getattr(self, name) for name in self.field_names()}
        shown = {name: brief(value) if isinstance(value, str) else value for name, value in fields.items()}
        # python -OO strips docstrings; the name and the fields still say what happened.
        template = type(self).__doc__
        if template is None:
            return f"{type(self).__name__}: {shown}"
        return _Formatter().format(inspect.cleandoc(template).replace("\n", " "), **shown)


def brief(text: str, most: int = 1_000) -> str:
    """Return a text for a message: one of more than `most` characters loses its middle. An id may have a megabyte."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} ... ({len(text):,} characters) ... {text[-most // 4 :]}"


def reason_of(error: OSError) -> str:
    """Return the error message of the system, without the path."""
    return error.strerror or str(error) or type(error).__name__


def _rebuild(kind: type[LshdbError], fields: dict[str, object]) -> LshdbError:
    return kind(**fields)


class UsageError(LshdbError):
    """{reason}"""

    exit_code = 2
    reason: str = ""


class InvalidParams(UsageError):
    """{name} is {value!r}: {reason}"""

    name: str
    value: object
    reason: str


class PromiseUnreachable(UsageError):
    """{minima} cannot find pairs at {min_sim} with recall {recall}. They reach recall {reachable} at {min_sim}, or
    recall {recall} from {least} on. For more, create an index with a larger --num-perm."""

    minima: str
    min_sim: float
    recall: float
    reachable: float
    least: float


class BelowFloor(UsageError):
    """--min-sim {min_sim} is below this index's floor {floor}: less similar pairs are not stored. Ask for {floor} or
    more, or create an index with a lower --floor."""

    min_sim: float
    floor: float


class StoreError(LshdbError):
    """The index at {url} failed: {reason}"""

    exit_code = 10
    # Whether the same transaction may succeed a moment later.
    is_passing = False
    url: str
    reason: str = ""


class IndexMissing(StoreError):
    """There is no index at {url}. Create one with: lshdb --db {url!q} ingest PATH"""

    exit_code = 11


class NotAnIndex(StoreError):
    """{url} is not an lshdb index: {reason}. Choose another path or URL with --db."""

    exit_code = 12
    reason: str


class IndexOutdated(StoreError):
    """Index {url} is at revision {current}; this version needs {head}. Run: lshdb --db {url!q} upgrade"""

    exit_code = 13
    current: str | None
    head: str


class IndexTooNew(StoreError):
    """Index {url} is at revision {current}, which this lshdb {version} does not know: {writer} wrote to it.
    Install a newer lshdb."""

    exit_code = 14
    current: str
    version: str
    writer: str


class ParamsMismatch(StoreError):
    """Index {url} was created with {name} {stored}, not {given}. Omit the option, or create another index with
    --db.{advice}"""

    exit_code = 15
    advice: str = ""
    name: str
    stored: object
    given: object


class StoreUnreachable(StoreError):
    """The database {url} does not answer: {reason}. Check that the server is running, and that host, port and name are
    right."""

    exit_code = 16
    reason: str


class AccessDenied(StoreError):
    """The database {url} refused the login or a permission: {reason}. Check user, password and privileges."""

    exit_code = 17
    reason: str


class IndexReadOnly(AccessDenied):
    """Index {url} can be read, but not changed: {reason}. To change it, make its file and folder writable, or name
    the server that accepts writes."""

    exit_code = 20


class IndexBusy(StoreError):
    """Another process is writing to index {url}: {reason}. Run the same command again when it has finished."""

    exit_code = 18
    reason: str


class StoreFailed(StoreError):
    """The database {url} failed: {reason}.{outcome}"""

    exit_code = 19
    reason: str
    # What became of the data, if it was being changed.
    outcome: str = ""


class SessionsPooled(StoreError):
    """{url} is a connection pooler in transaction mode, where locks and settings do not stay with a connection. Connect
    to the server itself, or to a pool in session mode."""

    exit_code = 27


class IndexNotEmpty(StoreError):
    """The index {url} has documents already. load needs an empty one. To complete a load that was killed, delete the
    index and load again, or ingest the same files."""

    exit_code = 28


class FileUnusable(StoreError):
    """Cannot open the file {url}: {reason}. Check that it is a file in a folder that exists, and that you may
    read both."""

    exit_code = 21
    reason: str


class CopyDiffers(StoreError):
    """The row {key} of the table {table} arrived at {url} as something else, or not at all. The copy was discarded; run
    the same command again."""

    exit_code = 22
    table: str
    key: str


class IndexExists(StoreError):
    """There is already an index at {url}. Add to it with: lshdb --db {url!q} ingest PATH"""

    exit_code = 23


class IndexDamaged(StoreError):
    """Index {url} is damaged: {reason}. Restore it from a backup, or create it again."""

    exit_code = 24
    reason: str


class IndexRebanded(StoreError):
    """Another process changed the parameters of index {url}, as lshdb reband does. Everything committed before is kept;
    run the same command again."""

    exit_code = 25


class IndexFaulty(StoreError):
    """Index {url} has faults: {faults}. {advice}"""

    exit_code = 26
    faults: str
    advice: str


class SourceError(LshdbError):
    """{reason}"""

    exit_code = 30
    reason: str = ""


class PathMissing(SourceError):
    """{path}: no such file or folder."""

    exit_code = 31
    path: _Path


class NothingToRead(SourceError):
    """{path}: nothing to read here ({reason})."""

    exit_code = 32
    path: _Path
    reason: str


class PruneRefused(SourceError):
    """{path} contains no files now, but the index has {num_sources} sources from it. Is a disk not mounted? Nothing
    was removed."""

    exit_code = 33
    path: _Path
    num_sources: int


class SourceUnreadable(SourceError):
    """{path}: {reason}"""

    exit_code = 34
    path: _Path
    reason: str


class TooManyRejected(SourceError):
    """{num_rejected} of {num_documents} documents were rejected, more than {allowed}. The others are kept. To list the
    rejected ones: lshdb --db {url!q} stats --rejected {run}"""

    exit_code = 35
    num_rejected: int
    num_documents: int
    allowed: str
    url: str
    run: int


class SourceRejected(SourceError):
    """Nothing in {path} was accepted ({num_rejected} rejected: {reason}). The documents of other sources are kept."""

    exit_code = 36
    path: _Path
    num_rejected: int
    reason: str


class ReaderMissing(SourceError):
    """{path}: {reason}. Then run the same command again. The documents of other sources are kept."""

    exit_code = 37
    path: _Path
    reason: str


class NotIngested(SourceError):
    """{path} {reason}. Run first: lshdb ingest {path!q}"""

    exit_code = 38
    path: _Path
    reason: str


class SourceGivenUp(SourceError):
    """{path} was given up after {num_rejected} rejections; the first: {reason}. Repair it and run the same command
    again, or read it to its end with --max-rejected 100%. Everything accepted before is kept, and so are the documents
    of other sources."""

    exit_code = 39
    path: _Path
    num_rejected: int
    reason: str


class BadDocument(LshdbError):
    """{source}{locator}: {reason}"""

    exit_code = 40
    source: str
    locator: str
    reason: str


class DocumentUnknown(LshdbError):
    """There is no document {doc_id!r} in collection {collection!r} of index {url}."""

    exit_code = 41
    doc_id: str
    collection: str
    url: str


class CollectionUnknown(LshdbError):
    """There is no collection {collection!r} in index {url}. It has: {known}."""

    exit_code = 42
    collection: str
    url: str
    known: str


class RecordsUnknown(LshdbError):
    """{path} has {number} records that the index rejected, or whose id another record took. Choose what happens to them
    with --unknown keep or --unknown drop."""

    exit_code = 43
    path: _Path
    number: int


class IdConflict(LshdbError):
    """The id {doc_id!r} in collection {collection!r} belongs to different texts in {one} and {other}. Choose another
    --on-conflict, or keep the ids apart with --id-prefix. Everything committed before is kept."""

    exit_code = 44
    doc_id: str
    collection: str
    one: str
    other: str


class CaptureUnknown(LshdbError):
    """There is no capture{of_address} in collection {collection!r} of index {url}. Captures are dated records of WARC
    and ARC files; `lshdb ingest --captures all` keeps them all."""

    exit_code = 45
    of_address: str
    collection: str
    url: str


class SameText(LshdbError):
    """{left!r} and {right!r} have the same text, but for case, punctuation and white space, so lshdb cannot tell them
    apart."""

    exit_code = 47
    left: str
    right: str


class DecisionUnknown(LshdbError):
    """There is no decision {decision} in index {url}."""

    exit_code = 48
    decision: int
    url: str


class WorkerLost(LshdbError):
    """A worker process {reason}. Everything committed is kept; run the same command again to continue, with
    --workers 1 if it happens again."""

    exit_code = 50
    reason: str


class TextsNotKept(LshdbError):
    """Index {url} was created with --no-keep-text and has no texts. Take them from their sources (lshdb export
    --what kept lists the ids of the documents to keep), or create an index that keeps texts."""

    exit_code = 51
    url: str


class SearchIncomplete(LshdbError):
    """{num_unread} texts of index {url} were not searched: it was created with --no-keep-text, and their sources are
    gone or have changed. What was found is correct, but there may be more. Ingest the sources again."""

    exit_code = 53
    num_unread: str
    url: str


class SpillFailed(LshdbError):
    """Cannot use a temporary file in {folder}: {reason}. Free some space or name another folder with TMPDIR=FOLDER,
    then run the command again."""

    exit_code = 52
    folder: _Path
    reason: str


class PassagesMissing(LshdbError):
    """Index {url} has no passages. Add them with: lshdb passages --build"""

    exit_code = 54
    url: str


class FolderUnusable(LshdbError):
    """The work folder {path} cannot be used: {reason}."""

    exit_code = 55
    path: _Path
    reason: str


class EngineFailed(LshdbError):
    """Spark failed: {reason}. The stages before are complete; the same call continues."""

    exit_code = 57
    reason: str


class VersionsDiffer(LshdbError):
    """A machine has other versions than the work folder: {found} instead of {expected}. Install the same lshdb and the
    same Python on every machine."""

    exit_code = 56
    found: str
    expected: str


class TextTooShort(LshdbError):
    """Document {doc_id!r} has fewer than {passages} words, so it contains no passage that the index can find."""

    exit_code = 46
    doc_id: str
    passages: int


class OutputError(LshdbError):
    """Cannot write {path}."""

    exit_code = 60
    path: _Path


class OutputExists(OutputError):
    """{path} already exists. Choose another file, or overwrite it with --force."""

    exit_code = 61


class OutputFailed(OutputError):
    """Cannot write {path}: {reason}.{outcome}"""

    exit_code = 62
    reason: str
    outcome: str = " Nothing was changed."


class OutputStopped(OutputError):
    """Cannot write {path}: {reason}. Complete files are kept; run the same command again to continue."""

    exit_code = 63
    reason: str
