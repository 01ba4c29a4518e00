"""The work folder: a manifest, and the finished stages as folders of Parquet files.

Limitation: the folder is a path that every machine sees, such as a mounted file system.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from lshdb.errors import FolderUnusable
from lshdb.model.params import Params
from lshdb.model.values import Rejection
from lshdb.readers import ReadOptions, recorded
from lshdb.stages.source import Source

__all__ = ["Manifest", "WorkFolder", "current_versions"]

MANIFEST: Final = "manifest.json"
# Spark writes it when all files of a folder are complete.
DONE: Final = "_SUCCESS"
FORMAT: Final = 2
READ_ROWS: Final = 2_000
# Of a sorted list, a task reads one row group at a time.
ROWS_IN_GROUP: Final = 100_000


def current_versions() -> dict[str, str]:
    """Return the versions that a result depends on: those of lshdb and of Unicode."""
    return {"lshdb": version("lshdb"), "unicode": unicodedata.unidata_version}


class Manifest(Struct, frozen=True):
    """What a work folder is made from.

    Args:
        params: of the index; its seed may be a secret.
        options: how sources are read, as `readers.record` writes it.
        sources: all sources, in their order; those of `against` come first.
        unwalked, num_skipped: folders that could not be walked, and the number of files that lshdb does not read.
        against: the folder whose sketches and pairs are reused; empty if there is none.
        num_old: the number of its sources.
        versions: see `current_versions`.
        counts: the rows of each finished stage.
    """

    params: dict[str, Any]
    options: str
    sources: tuple[Source, ...]
    unwalked: tuple[Rejection, ...] = ()
    num_skipped: int = 0
    against: str = ""
    num_old: int = 0
    versions: dict[str, str] = field(default_factory=current_versions)
    counts: dict[str, int] = field(default_factory=dict)
    format: int = FORMAT


class WorkFolder:
    """A work folder. Raises: FolderUnusable: it has no manifest, or one of another version."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        try:
            self.manifest = msgspec.json.decode((self.path / MANIFEST).read_bytes(), type=Manifest)
        except FileNotFoundError:
            raise FolderUnusable(path=self.path, reason=f"it has no {MANIFEST}") from None
        except (OSError, msgspec.DecodeError) as error:
            raise FolderUnusable(path=self.path, reason=f"{MANIFEST} cannot be read ({error})") from None
        if self.manifest.format != FORMAT:
            reason = f"it has format {self.manifest.format}, and this lshdb reads format {FORMAT}"
            raise FolderUnusable(path=self.path, reason=reason)

    @classmethod
    def ensure(cls, path: str | Path, manifest: Manifest) -> WorkFolder:
        """Open a folder to continue it, or create it.

        Raises: FolderUnusable: it was created with other parameters, sources or versions, or holds other files.
        """
        place = Path(path).absolute()
        if not (place / MANIFEST).exists():
            if place.exists() and any(place.iterdir()):
                raise FolderUnusable(path=place, reason=f"it is not empty, and has no {MANIFEST}")
            place.mkdir(parents=True, exist_ok=True)
            _write(place, manifest)
        folder = cls(place)
        if (name := _difference(folder.manifest, manifest)) is not None:
            reason = f"it was created with other {name}; use a new work folder, or the same call as before"
            raise FolderUnusable(path=place, reason=reason)
        return folder

    @cached_property
    def params(self) -> Params:
        """The parameters of the index."""
        return Params(**self.manifest.params)

    @property
    def options(self) -> ReadOptions:
        """How sources are read."""
        return recorded(self.manifest.options, ReadOptions().suited(self.params))

    @cached_property
    def against(self) -> WorkFolder | None:
        """The folder that this one continues."""
        return WorkFolder(self.manifest.against) if self.manifest.against else None

    def stage(self, name: str) -> Path:
        """Return the folder of a stage."""
        return self.path / name

    def stages(self, name: str) -> list[Path]:
        """Return the folders of a stage here and in the folders that this one continues, the oldest first."""
        return [*(self.against.stages(name) if self.against else ()), self.stage(name)]

    def is_done(self, name: str) -> bool:
        """Return whether a stage is complete."""
        return (self.stage(name) / DONE).exists()

    def require(self, *names: str) -> None:
        """Check that stages are complete. Raises: FolderUnusable."""
        for name in names:
            if not self.is_done(name):
                reason = f"its stage {name} is not complete; lshdb spark with the same arguments continues it"
                raise FolderUnusable(path=self.path, reason=reason)

    def count(self, name: str) -> None:
        """Note the rows of a finished stage in the manifest."""
        num_rows = ds.dataset(self.stage(name), format="parquet").count_rows()
        self.manifest = replace(self.manifest, counts=self.manifest.counts | {name: num_rows})
        _write(self.path, self.manifest)

    def write(self, name: str, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> None:
        """Write a small stage from this process."""
        place = self.stage(name)
        place.mkdir(exist_ok=True)
        with pq.ParquetWriter(place / "part-00000.parquet", schema) as writer:
            for batch in batches:
                writer.write_batch(batch, row_group_size=ROWS_IN_GROUP)
        (place / DONE).touch()

    def batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a stage, also of the folders that this one continues, as their tasks wrote them."""
        for place in self.stages(name):
            yield from _batches(place, None, READ_ROWS)

    def latest(self, name: str, columns: Sequence[str], count: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a stage of this folder alone, up to `count` at a time."""
        return _batches(self.stage(name), columns, count)

    def oversized(self) -> Iterator[pa.RecordBatch]:
        """Yield the oversized buckets: band, bucket_hash and num_contents."""
        found = ds.dataset(self.stage("occurrences"), format="parquet")
        is_bucket = ds.field("band").is_valid()
        yield from found.to_batches(columns=["band", "bucket_hash", "num_contents"], filter=is_bucket)


def _batches(place: Path, columns: Sequence[str] | None, count: int) -> Iterator[pa.RecordBatch]:
    for file in sorted(place.glob("part-*"), key=_part_number):
        with pq.ParquetFile(file) as opened:
            yield from opened.iter_batches(count, columns=columns)


def _part_number(file: Path) -> tuple[int, str]:
    match = re.match(r"part-(\d+)", file.name)
    return (int(match[1]) if match else 0), file.name


def _difference(found: Manifest, wanted: Manifest) -> str | None:
    names = [name for name in asdict(wanted) if name not in ("counts", "unwalked", "num_skipped")]
    different = (name for name in names if getattr(found, name) != getattr(wanted, name))
    return next(different, None)


def _write(place: Path, manifest: Manifest) -> None:
    """Replace the manifest at once, so that it is never half written."""
    other = place / f"{MANIFEST}.new"
    other.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    other.replace(place / MANIFEST)
