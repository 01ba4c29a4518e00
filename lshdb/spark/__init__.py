"""Sketch and link on Apache Spark, with the result of an ingest to the last bit. Needs the extra ``spark`` and Java.

`run` completes a work folder for files; `Index.load` puts it into an index. `pairs`, `clusters` and `deduplicated`
take a DataFrame.

Limitation: the work folder, and the files, have to be paths that every machine of the cluster sees.
"""

from __future__ import annotations

from lshdb.spark.frames import clusters, deduplicated, pairs
from lshdb.spark.run import run

__all__ = ["clusters", "deduplicated", "pairs", "run"]
