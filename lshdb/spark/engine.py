"""The engine of `stages.pipeline` on Apache Spark: repartition, sortWithinPartitions, mapInArrow, and nothing else."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession

from lshdb.stages.pipeline import Step

__all__ = ["SparkEngine", "SparkRows", "session"]

_TYPES: Final[dict[pa.DataType, str]] = {
    pa.int16(): "smallint",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.binary(): "binary",
}

# Rows in a batch of Spark 3; Spark 4 also bounds the bytes. A text is compressed, so few are larger than 100 kB.
BATCH_ROWS: Final = 2_000
BATCH_BYTES: Final = 64_000_000

DEFAULTS: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
    "spark.sql.parquet.compression.codec": "zstd",
    # A killed driver must leave a stage either complete or without its _SUCCESS file.
    "spark.sql.sources.commitProtocolClass": "org.apache.spark.sql.execution.datasources"
    ".SQLHadoopMapReduceCommitProtocol",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
# On one machine, a missing heartbeat only means that the machine slept. Spark would then wait forever.
LOCAL: Final = {"spark.network.timeout": "24h"}


def session(master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Return a session with the settings that lshdb needs. Args: conf: settings that take precedence."""
    # Workers have to run the Python that has lshdb; a cluster has it under the same path, or says otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("lshdb")
    if master is not None:
        builder = builder.master(master)
    within = LOCAL if (master or "").startswith("local") else {}
    for name, value in {**DEFAULTS, **within, **(conf or {})}.items():
        builder = builder.config(name, value)
    with _quiet():
        return builder.getOrCreate()


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide that Spark does not support a newer pandas fully: it is imported, but never used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
        yield


class SparkRows(Struct, frozen=True):
    """Rows as a DataFrame."""

    frame: DataFrame

    def through(self, function: Step, schema: pa.Schema) -> SparkRows:
        """Return what a function makes of the batches of each task."""
        columns = ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in schema)
        with _quiet():
            return SparkRows(self.frame.mapInArrow(function, columns))

    def together(self, keys: Sequence[str], order: Sequence[str]) -> SparkRows:
        """Return the same rows, those with equal keys in the same task, and those of a task in order."""
        return SparkRows(self.frame.repartition(*keys).sortWithinPartitions(*order))

    def also(self, others: SparkRows) -> SparkRows:
        """Return these rows and others with the same columns."""
        return SparkRows(self.frame.unionByName(others.frame))

    def write(self, folder: Path) -> None:
        """Write the rows as Parquet. Replaces the folder."""
        self.frame.write.mode("overwrite").parquet(_uri(folder))


class SparkEngine(Struct, frozen=True):
    """Runs the stages in a session."""

    session: SparkSession

    def tasks(self, tasks: Sequence[str]) -> SparkRows:
        """Return rows with one column, ``task``, in as many tasks, in this order."""
        spread = self.session.sparkContext.parallelize([(task,) for task in tasks], max(1, len(tasks)))
        return SparkRows(self.session.createDataFrame(spread, "task string"))

    def read(self, folders: Sequence[Path], columns: Sequence[str]) -> SparkRows:
        """Return the rows of Parquet folders."""
        return SparkRows(self.session.read.parquet(*map(_uri, folders)).select(*columns))


def _uri(folder: Path) -> Any:
    return folder.absolute().as_uri()
