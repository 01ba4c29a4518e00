"""Near-duplicates of a DataFrame.

The documents count in the order of their ids, so the result does not depend on how the DataFrame is partitioned.
Exact copies form a pair with the first document that has their text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import coalesce, col, lit

from lshdb.errors import BadDocument
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.readers import ReadOptions, record
from lshdb.sketch.sketch import sketch
from lshdb.spark.engine import SparkRows
from lshdb.spark.run import failures_named, run
from lshdb.stages.columns import places
from lshdb.stages.folder import Manifest, WorkFolder
from lshdb.stages.schemas import SKETCHES
from lshdb.stages.sketching import document_rows

__all__ = ["clusters", "deduplicated", "pairs"]


def pairs(
    frame: DataFrame, work: str | Path, params: Params | None = None, *, id: str = "id", text: str = "text"
) -> DataFrame:
    """Return the near-duplicates of a DataFrame: ``left`` and ``right`` (ids), ``similarity``, ``exact``.

    Args:
        frame: one document per row; ids are unique, and are compared as strings.
        work: an empty folder that every machine sees. It keeps the result; the same call continues it.
        params: as of an index.
        id, text: the columns of the id and the text.

    Raises: BadDocument: an id is missing, or occurs twice; EngineFailed.
    """
    folder = _linked(frame, work, params, id, text, "pairs")
    ids = _ids(frame.sparkSession, folder)
    found = _read(frame.sparkSession, folder, "pairs")
    copies = _read(frame.sparkSession, folder, "contents").where("place != content")
    exact = copies.select(col("content").alias("left"), col("place").alias("right"), lit(1.0), lit(True))
    left, right = (ids.withColumnsRenamed({"place": side, "doc_id": f"{side}_id"}) for side in ("left", "right"))
    named = found.union(exact).join(left, "left").join(right, "right")
    return named.select(col("left_id").alias("left"), col("right_id").alias("right"), "similarity", "exact")


def clusters(
    frame: DataFrame, work: str | Path, params: Params | None = None, *, id: str = "id", text: str = "text"
) -> DataFrame:
    """Return the documents in clusters of two or more: ``id`` and ``cluster``, the id of the cluster's first document.

    Pairs with a similarity of at least ``params.min_sim`` connect clusters. Args and Raises: as `pairs`.
    """
    folder = _linked(frame, work, params, id, text, "clusters")
    ids = _ids(frame.sparkSession, folder)
    content = _read(frame.sparkSession, folder, "contents").select("place", "content")
    placed = content.join(_read(frame.sparkSession, folder, "clusters"), "content", "left")
    placed = placed.select("place", coalesce("cluster", "content").alias("cluster"))
    several = placed.groupBy("cluster").count().where("count > 1").select("cluster")
    first = ids.withColumnsRenamed({"place": "cluster", "doc_id": "first_id"})
    named = placed.join(several, "cluster").join(ids, "place").join(first, "cluster")
    return named.select(col("doc_id").alias("id"), col("first_id").alias("cluster"))


def deduplicated(
    frame: DataFrame, work: str | Path, params: Params | None = None, *, id: str = "id", text: str = "text"
) -> DataFrame:
    """Return the rows without those whose document is in a cluster and not its first. Args and Raises: as `pairs`."""
    found = clusters(frame, work, params, id=id, text=text)
    dropped = found.where("id != cluster").select(col("id").alias("_dropped_id"))
    return frame.join(dropped, frame[id].cast("string") == col("_dropped_id"), "left_anti")


def _linked(frame: DataFrame, work: str | Path, params: Params | None, id: str, text: str, until: str) -> WorkFolder:
    chosen = params or Params()
    folder = WorkFolder.ensure(work, Manifest(asdict(chosen), record(ReadOptions()), ()))
    if not folder.is_done("sketches"):
        _sketch(frame, folder, id, text)
    run(frame.sparkSession, folder, until)
    return folder


def _sketch(frame: DataFrame, folder: WorkFolder, id: str, text: str) -> None:
    named = frame.select(col(id).cast("string").alias("doc_id"), col(text).cast("string").alias("text"))
    # In the order of the ids, for any number of partitions. Equal ids are in one partition.
    ordered = named.repartitionByRange("doc_id").sortWithinPartitions("doc_id")
    with failures_named():
        SparkRows(ordered).through(partial(_sketched, params=folder.params), SKETCHES).write(folder.stage("sketches"))


def _sketched(batches: Iterator[pa.RecordBatch], params: Params) -> Iterator[pa.RecordBatch]:
    context = TaskContext.get()
    assert context is not None
    position, last = 0, None
    for batch in batches:
        rows = zip(batch.column("doc_id").to_pylist(), batch.column("text").to_pylist(), strict=True)
        found = [Document(doc_id, text or "") for doc_id, text in rows]
        for one in found:
            if one.doc_id is None or one.doc_id == last:
                reason = "its id is missing" if one.doc_id is None else "its id occurs twice"
                raise BadDocument(source=f"document {one.doc_id!r:.100}", locator="", reason=reason)
            last = one.doc_id
        yield document_rows(found, sketch(found, params), places(context.partitionId(), position, len(found)))
        position += len(found)


def _ids(spark: SparkSession, folder: WorkFolder) -> DataFrame:
    return _read(spark, folder, "sketches").where("kind = 'document'").select("place", "doc_id")


def _read(spark: SparkSession, folder: WorkFolder, stage: str) -> DataFrame:
    return spark.read.parquet(folder.stage(stage).as_uri())
