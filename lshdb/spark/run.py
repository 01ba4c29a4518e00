"""Complete a work folder on Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lshdb.errors import EngineFailed, LshdbError
from lshdb.spark.engine import SparkEngine
from lshdb.stages import pipeline
from lshdb.stages.folder import WorkFolder

__all__ = ["failures_named", "run"]

# An error of a task arrives as the text of its traceback.
_OURS = re.compile(r"^(?:lshdb\.errors\.)(\w+): (.+)$", re.MULTILINE)
_ANY = re.compile(r"^(?:[\w.]*(?:Error|Exception|Killed)\b): (.+)$", re.MULTILINE)


def run(
    spark: SparkSession,
    folder: WorkFolder,
    until: str = "clusters",
    *,
    began: Callable[[str], None] = lambda _stage: None,
) -> None:
    """Complete the stages of a work folder that are missing.

    Args:
        until: the last stage: ``sketches``, ``pairs`` or ``clusters``.
        began: is called with the name of each stage that is made.

    Raises: EngineFailed: a task failed in all its attempts, or Spark cannot be reached.
    """
    with failures_named():
        pipeline.run(SparkEngine(spark), folder, until, began=began)


@contextmanager
def failures_named() -> Iterator[None]:
    """Raise what failed in a task as one line."""
    try:
        yield
    except LshdbError:
        raise
    except Exception as error:
        if not isinstance(error, PySparkException) and not type(error).__module__.startswith("py4j"):
            raise
        raise EngineFailed(reason=_reason(str(error)).rstrip(".")) from None


def _reason(text: str) -> str:
    for pattern in (_OURS, _ANY):
        if found := pattern.findall(text):
            return found[-1] if isinstance(found[-1], str) else found[-1][-1]
    return (text.strip().splitlines() or ["no message"])[0]
