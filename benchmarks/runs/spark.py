"""Measure the stages on Spark on this machine. Needs Java.

    python -m benchmarks.runs.spark CRAWL --work DIR [--partitions 8] [--memory 2g]

DIR must not exist. Processor time is that of the driver, the JVM and the workers together. A worker that has ended
counts once its parent has waited for it. Memory is the largest sum of the resident memory of all of them, sampled each
second.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import msgspec
import psutil  # type: ignore[import-untyped]

from lshdb.model.params import Params
from lshdb.readers import ReadOptions
from lshdb.spark.engine import session
from lshdb.spark.run import run
from lshdb.stages.folder import WorkFolder
from lshdb.stages.work import work_folder

Mark = tuple[str, float, float]


def processes() -> list[psutil.Process]:
    """Return this process and everything below it."""
    mine = psutil.Process()
    return [mine, *mine.children(recursive=True)]


def cpu_seconds() -> float:
    """Return the processor time of all processes so far, with that of children that have ended."""
    total = 0.0
    for process in processes():
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.Error:
            continue
    return total


class Peak(threading.Thread):
    """Samples the resident memory of all processes. Attributes: most: in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0

    def run(self) -> None:
        while True:
            total = 0
            for process in processes():
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            self.most = max(self.most, total)
            time.sleep(1.0)


def shuffled(events: Path, marks: list[Mark]) -> Counter[str]:
    """Return the bytes that each stage wrote for its exchanges, from Spark's log of events."""
    found: Counter[str] = Counter()
    for file in sorted(path for path in events.rglob("*") if path.is_file() and not path.name.startswith(".")):
        for event in map(msgspec.json.decode, file.read_bytes().splitlines()):
            if event["Event"] == "SparkListenerTaskEnd":
                ended = event["Task Info"]["Finish Time"] / 1_000
                name = next((name for name, began, _ in reversed(marks) if began <= ended), "start")
                found[name] += event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    return found


def num_documents(work: WorkFolder) -> int:
    """Return the documents of a work folder."""
    kinds = (kind for batch in work.latest("sketches", ["kind"], 10_000) for kind in batch.column("kind").to_pylist())
    return sum(kind == "document" for kind in kinds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawl", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--memory", default="2g")
    asked = parser.parse_args()
    place: Path = asked.work
    events = place.with_name(f"{place.name}-events")
    events.mkdir(parents=True)
    peak = Peak()
    peak.start()
    marks: list[Mark] = [("start", time.time(), cpu_seconds())]
    settings = {
        "spark.sql.shuffle.partitions": str(asked.partitions),
        "spark.driver.memory": asked.memory,
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": events.absolute().as_uri(),
    }
    work = work_folder(place, [asked.crawl], Params(), ReadOptions())
    with session(f"local[{os.cpu_count()}]", settings) as spark:
        run(spark, work, began=lambda name: marks.append((name, time.time(), cpu_seconds())))
        marks.append(("", time.time(), cpu_seconds()))
    num_bytes = shuffled(events, marks)
    documents = num_documents(work)
    print(f"{documents:,} documents, {work.manifest.counts}")
    print(f"{'':12}{'wall s':>9}{'cpu s':>9}{'us/doc':>9}{'shuffle B/doc':>15}")
    for (name, began, cpu), (_, ended, later) in pairwise(marks):
        row = f"{ended - began:9.1f}{later - cpu:9.1f}{1e6 * (later - cpu) / documents:9.0f}"
        print(f"{name:12}{row}{num_bytes[name] / documents:15.0f}")
    print(f"peak memory {peak.most / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
