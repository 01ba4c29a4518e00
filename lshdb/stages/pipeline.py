"""Connects the stages, for any engine that can bring rows together by a key, sort them, and call a function on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from msgspec import Struct

from lshdb.errors import VersionsDiffer
from lshdb.ingest.options import Budgets
from lshdb.model.expansion import EXPANSION, Expansion
from lshdb.stages import buckets, estimates, forests, groups, schemas, similarities, sketching
from lshdb.stages.columns import POSITION_BITS, batch_of
from lshdb.stages.folder import WorkFolder, current_versions

__all__ = ["UNTIL", "Engine", "Rows", "Step", "run"]

Step: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

# Bytes of small files, or of a part of a large one, that a task reads.
TASK_BYTES: Final = 64_000_000
# The stages that a user may stop after.
UNTIL: Final = ("sketches", "pairs", "clusters")


class Rows(Protocol):
    """Rows that are spread over the tasks of an engine."""

    def through(self, function: Step, schema: pa.Schema) -> Self:
        """Return what a function makes of the batches of each task. Args: schema: of its results."""

    def together(self, keys: Sequence[str], order: Sequence[str]) -> Self:
        """Return the same rows, those with equal keys in the same task, and those of a task in order."""

    def also(self, others: Self) -> Self:
        """Return these rows and others with the same columns."""

    def write(self, folder: Path) -> None:
        """Write the rows as Parquet, and complete the folder with an empty file ``_SUCCESS``. Replaces the folder."""


class Engine(Protocol):
    """Runs functions on rows."""

    def tasks(self, tasks: Sequence[str]) -> Rows:
        """Return rows with one column, ``task``, in as many tasks, in this order."""

    def read(self, folders: Sequence[Path], columns: Sequence[str]) -> Rows:
        """Return the rows of Parquet folders."""


class _Job(Struct, frozen=True):
    """A run over a work folder."""

    engine: Engine
    folder: WorkFolder
    expansion: Expansion
    budgets: Budgets
    min_sim: float
    task_bytes: int

    def through(self, rows: Rows, function: Step, schema: pa.Schema) -> Rows:
        return rows.through(partial(_checked, function, self.folder.manifest.versions), schema)

    def read(self, name: str, *columns: str, everything: bool = False) -> Rows:
        """Return a stage. Args: everything: also the rows of the folder that this one continues."""
        folders = self.folder.stages(name) if everything else [self.folder.stage(name)]
        return self.engine.read(folders, columns or getattr(schemas, name.upper()).names)


def run(
    engine: Engine,
    folder: WorkFolder,
    until: str = "clusters",
    *,
    expansion: Expansion = EXPANSION,
    budgets: Budgets | None = None,
    min_sim: float | None = None,
    task_bytes: int = TASK_BYTES,
    began: Callable[[str], None] = lambda _stage: None,
) -> None:
    """Complete the stages of a folder that are missing.

    Args:
        until: the last stage; one of `UNTIL`.
        min_sim: the similarity of the pairs that connect clusters; None for that of the index.
        task_bytes: bytes of small files that a task reads; larger files are split into parts of this size, if possible.
        began: is called with the name of each stage that is made.

    Raises: SourceUnreadable, VersionsDiffer, and what the engine raises.
    """
    least = folder.params.min_sim if min_sim is None else min_sim
    job = _Job(engine, folder, expansion, budgets or Budgets(), least, task_bytes)
    for name, make in _STAGES.items():
        if not folder.is_done(name):
            began(name)
            make(job)
            folder.count(name)
        if name == until:
            return


def _checked(function: Step, versions: dict[str, str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Call a function in a task. Raises: VersionsDiffer: this machine would compute something else."""
    if (found := current_versions()) != versions:
        raise VersionsDiffer(found=str(found), expected=str(versions))
    return function(batch for batch in batches if len(batch))


def _parts(job: _Job) -> None:
    folder, num_old = job.folder, job.folder.manifest.num_old
    tasks = sketching.large_files(folder.manifest.sources[num_old:], num_old, job.task_bytes)
    if not tasks:
        folder.write("parts", schemas.PARTS, [])
        return
    split = partial(sketching.split, options=folder.options, most=job.task_bytes)
    job.through(job.engine.tasks(tasks), split, schemas.PARTS).write(folder.stage("parts"))


def _sketches(job: _Job) -> None:
    folder, num_old = job.folder, job.folder.manifest.num_old
    parts = sketching.parts_of(ds.dataset(folder.stage("parts"), format="parquet").to_batches())
    tasks = job.engine.tasks(sketching.tasks(folder.manifest.sources[num_old:], num_old, parts, job.task_bytes))
    sketch = partial(sketching.sketches, params=folder.params, options=folder.options, budgets=job.budgets)
    job.through(tasks, sketch, schemas.SKETCHES).write(folder.stage("sketches"))


def _contents(job: _Job) -> None:
    rows = job.read("sketches", "place", "digest", "num_shingles", "buckets", everything=True)
    rows = job.through(rows, buckets.filled, schemas.CONTENTS).together(["digest"], ["digest", "place"])
    job.through(rows, buckets.contents, schemas.CONTENTS).write(job.folder.stage("contents"))


def _occurrences(job: _Job) -> None:
    banded = partial(buckets.bucket_rows, num_bands=job.folder.params.bands)
    rows = job.through(job.read("contents", "content", "buckets"), banded, schemas.BUCKETS)
    rows = rows.together(["bucket_hash"], ["band", "bucket_hash", "content"])
    first_new = job.folder.manifest.num_old << POSITION_BITS
    expand = partial(buckets.occurrences, expansion=job.expansion, first_new=first_new)
    job.through(rows, expand, schemas.OCCURRENCES).write(job.folder.stage("occurrences"))


def _sides(job: _Job) -> None:
    rows = job.through(job.read("occurrences", "left", "right"), estimates.sides, schemas.SIDES)
    rows = rows.together(["content"], ["content", "is_left"])
    job.through(rows, estimates.distinct_sides, schemas.SIDES).write(job.folder.stage("sides"))


def _list(job: _Job, name: str, *, is_left: bool) -> None:
    """Write the sorted contents of one side. This process takes 24 bytes for each."""
    sides = ds.dataset(job.folder.stage("sides"), format="parquet")
    found = sides.to_table(columns=["content"], filter=ds.field("is_left") == is_left).column("content")
    content = np.sort(found.to_numpy())
    job.folder.write(name, schemas.LISTED, [batch_of(schemas.LISTED, len(content), content=content)])


def _promising(job: _Job) -> None:
    asking = job.through(job.read("occurrences", "left", "right"), estimates.asking_for_signatures, schemas.SIGNED)
    rows = _asked(job, "lefts", asking)
    rows = _asked(job, "rights", job.through(rows, estimates.with_left_signature, schemas.SIGNED))
    estimate = partial(estimates.promising, params=job.folder.params)
    job.through(rows, estimate, schemas.PROMISING).write(job.folder.stage("promising"))


def _asked(job: _Job, name: str, asking: Rows) -> Rows:
    """Return rows that ask for a signature, after the signatures. Args: name: of the list of the contents."""
    tell = partial(estimates.signatures, contents=job.folder.stage(name))
    known = job.read("sketches", "place", "num_shingles", "signature", everything=True)
    known = job.through(known, tell, schemas.SIGNED)
    return known.also(asking).together(["key"], ["key", "asks", "other"])


def _families(job: _Job) -> None:
    _write_components(job, job.read("promising", "left", "right"), "families", "family")


def _groups(job: _Job) -> None:
    families = job.read("families", "content", "family")
    known = job.through(families, groups.telling_families, schemas.FAMILIES)
    asking = job.through(job.read("promising"), groups.asking_for_families, schemas.FAMILIES)
    rows = known.also(asking).together(["key"], ["key", "asks", "right"])
    rows = job.through(rows, groups.with_family, schemas.GROUPING)
    rows = rows.together(["family"], ["family", "right", "left"])
    job.through(rows, groups.grouped, schemas.GROUPS).write(job.folder.stage("groups"))


def _pairs(job: _Job) -> None:
    params, folder = job.folder.params, job.folder
    if not params.keep_text:
        estimate = partial(similarities.estimated, floor=params.floor)
        job.through(job.read("promising"), estimate, schemas.PAIRS).write(folder.stage("pairs"))
        return
    tell = partial(similarities.texts, contents=folder.stage("families"))
    known = job.through(job.read("sketches", "place", "text", everything=True), tell, schemas.TEXTS)
    asking = job.through(job.read("groups"), similarities.asking_for_texts, schemas.TEXTS)
    rows = known.also(asking).together(["key"], ["key", "asks"])
    rows = job.through(rows, similarities.with_text, schemas.COMPARED)
    rows = rows.also(job.through(job.read("groups"), similarities.pairs_of_groups, schemas.COMPARED))
    group = ["group_left", "group_right"]
    rows = rows.together(group, [*group, "is_pair", "left", "right"])
    compare = partial(similarities.verified, params=params)
    job.through(rows, compare, schemas.PAIRS).write(folder.stage("pairs"))


def _clusters(job: _Job) -> None:
    near = partial(forests.at_least, similarity=job.min_sim)
    pairs = job.through(job.read("pairs", everything=True), near, schemas.PAIRS)
    _write_components(job, pairs, "clusters", "cluster")


def _write_components(job: _Job, pairs: Rows, name: str, column: str) -> None:
    """Write the component of each content of pairs: its first content. The contents are sorted."""
    place = job.folder.stage(f"forest_of_{name}")
    job.through(pairs, forests.forest, schemas.FOREST).write(place)
    keys, first = forests.merged(ds.dataset(place, format="parquet").to_batches())
    schema = pa.schema([("content", pa.int64()), (column, pa.int64())])
    job.folder.write(name, schema, [batch_of(schema, len(keys), content=keys, **{column: first})])


_STAGES: Final[dict[str, Callable[[_Job], None]]] = {
    "parts": _parts,
    "sketches": _sketches,
    "contents": _contents,
    "occurrences": _occurrences,
    "sides": _sides,
    "lefts": partial(_list, name="lefts", is_left=True),
    "rights": partial(_list, name="rights", is_left=False),
    "promising": _promising,
    "families": _families,
    "groups": _groups,
    "pairs": _pairs,
    "clusters": _clusters,
}
