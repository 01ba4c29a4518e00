"""Near-duplicates of a DataFrame.

The documents are ordered by their ids, so the result does not depend on how the DataFrame is partitioned.
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

from lshdb.errors import BadDocument, BelowFloor
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
    frame: DataFrame,
    work: str | Path,
    params: Params | None = None,
    *,
    id: str = "id",
    text: str = "text",
    min_sim: float | None = None,
    expand: bool = False,
) -> DataFrame:
    """Return the near-duplicates of a DataFrame: ``left`` and ``right`` (ids), ``similarity``, ``exact``.

    The pairs are those that an index of the same documents lists.

    Args:
        frame: one document per row; ids are unique, and are compared as strings.
        work: an empty folder that every machine sees. It keeps the result; the same call continues it.
        params: as of an index.
        id, text: the columns of the id and the text.
        min_sim: the least similarity; ``params.min_sim`` by default.
        expand: every pair of documents. Otherwise a text that many documents share is named by the first of them, and
            the others are pairs (first, other, 1.0).

    Raises: BelowFloor: such pairs are not computed; BadDocument: an id is missing, or occurs twice; EngineFailed.
    """
    chosen = params or Params()
    least = chosen.min_sim if min_sim is None else min_sim
    if least < chosen.floor:
        raise BelowFloor(min_sim=least, floor=chosen.floor)
    folder = _linked(frame, work, chosen, id, text, "pairs")
    documents = _documents(frame.sparkSession, folder)
    named = documents if expand else documents.where("place = content")
    left, right = _side(named, "left"), _side(named, "right")
    similar = _read(frame.sparkSession, folder, "pairs").where(col("similarity") >= least)
    similar = similar.join(left, "left").join(right, "right")
    later = (col("left") == col("right")) & (col("left_place") < col("right_place"))
    copies = left.join(_side(documents, "right"), later).withColumns({"similarity": lit(1.0), "exact": lit(True)})
    columns = (col("left_id").alias("left"), col("right_id").alias("right"), "similarity", "exact")
    return similar.select(*columns).union(copies.select(*columns))


def clusters(
    frame: DataFrame, work: str | Path, params: Params | None = None, *, id: str = "id", text: str = "text"
) -> DataFrame:
    """Return the documents in clusters of two or more: ``id`` and ``cluster``, the id of the cluster's first document.

    Pairs with a similarity of at least ``params.min_sim`` connect clusters. Args and Raises: as `pairs`.
    """
    folder = _linked(frame, work, params or Params(), id, text, "clusters")
    documents = _documents(frame.sparkSession, folder)
    found = documents.join(_read(frame.sparkSession, folder, "clusters"), "content", "left")
    found = found.withColumn("cluster", coalesce("cluster", "content"))
    several = found.groupBy("cluster").count().where("count > 1").select("cluster")
    first = documents.select(col("place").alias("cluster"), col("doc_id").alias("first_id"))
    named = found.join(several, "cluster").join(first, "cluster")
    return named.select(col("doc_id").alias("id"), col("first_id").alias("cluster"))


def deduplicated(
    frame: DataFrame, work: str | Path, params: Params | None = None, *, id: str = "id", text: str = "text"
) -> DataFrame:
    """Return the rows without those whose document is in a cluster and not its first. Args and Raises: as `pairs`."""
    found = clusters(frame, work, params, id=id, text=text)
    dropped = found.where("id != cluster").select(col("id").alias("_dropped_id"))
    return frame.join(dropped, frame[id].cast("string") == col("_dropped_id"), "left_anti")


def _linked(frame: DataFrame, work: str | Path, params: Params, id: str, text: str, until: str) -> WorkFolder:
    folder = WorkFolder.ensure(work, Manifest(asdict(params), record(ReadOptions()), ()))
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


def _documents(spark: SparkSession, folder: WorkFolder) -> DataFrame:
    """Return the documents that have shingles: ``place``, ``content``, ``doc_id``."""
    ids = _read(spark, folder, "sketches").where("kind = 'document'").select("place", "doc_id")
    return _read(spark, folder, "contents").select("place", "content").join(ids, "place")


def _side(documents: DataFrame, side: str) -> DataFrame:
    """Return documents as one side of pairs of contents: ``left``, ``left_place``, ``left_id``."""
    names = {"content": side, "place": f"{side}_place", "doc_id": f"{side}_id"}
    return documents.withColumnsRenamed(names)


def _read(spark: SparkSession, folder: WorkFolder, stage: str) -> DataFrame:
    return spark.read.parquet(folder.stage(stage).as_uri())
