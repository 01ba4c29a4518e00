"""Check that Spark gives the index of an ingest. Needs Java.

    python -m benchmarks.runs.identity PAGES --work DIR

PAGES is a folder of HTML pages, such as the manuals of Debian's packages for documentation. DIR must not exist. From
the pages, a crawl is made of HTML, JSON lines, WARC and Parquet, with exact copies, near-duplicates, template pages,
rejections, and ids that displace each other. `lshdb ingest` reads it, and so does Spark: with 1, 3 and 7 partitions,
and after it was killed. The results are loaded, checked and compared, and then continued with new documents. The first
difference is an error.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.corpora import template
from benchmarks.runs.servers import server
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.readers import Reading, ReadOptions, source_file
from lshdb.spark.engine import SparkEngine, session
from lshdb.stages import pipeline
from lshdb.stages.folder import WorkFolder
from lshdb.stages.work import work_folder

LSHDB: Final = [sys.executable, "-m", "lshdb"]
NUM_TEMPLATE_PAGES: Final = 1_500
# Small, so that large files are read by several tasks.
TASK_BYTES: Final = 4_000_000
STAGES: Final = ("contents", "pairs", "clusters")
TABLES: Final = ("content", "document", "source", "pair", "oversized_bucket", "rejected")


def make_crawl(pages: Sequence[Path], crawl: Path, night: Path) -> None:
    """Write the files that are made from the pages, and the new documents of a night."""
    crawl.mkdir()
    night.mkdir()
    texts = list(read(pages))
    numbered = list(enumerate(texts))
    copies = [{"id": f"copy-{n}", "text": text} for n, text in numbered[::3]]
    near = [{"id": f"near-{n}", "text": f"{text} {n} changed"} for n, text in numbered[::6]]
    made = [{"id": f"page-{n}", "text": text} for n, text in enumerate(template.pages(NUM_TEMPLATE_PAGES))]
    lines = [msgspec.json.encode(record) for record in copies + near + made]
    write_lines(crawl / "texts.jsonl", [*lines, b"{", b'{"text": 1}'])
    # The same ids with other texts, from a later file.
    write_lines(
        crawl / "texts-2.jsonl", [msgspec.json.encode(one | {"text": f"{one['text']} later"}) for one in near[::2]]
    )
    rows = [{"id": f"row-{n}", "text": text if n % 40 else None} for n, text in numbered[::4]]
    pq.write_table(pa.Table.from_pylist(rows), crawl / "rows.parquet", row_group_size=200)
    write_warc(crawl / "pages.warc.gz", pages[::5])
    new = [{"id": f"copy-{n}", "text": f"{text} of the night"} for n, text in numbered[1::7]]
    write_lines(night / "new.jsonl", list(map(msgspec.json.encode, new + made[::10])))


def read(pages: Sequence[Path]) -> Iterator[str]:
    for page in pages:
        yield from (item.text for item in Reading(source_file(page), ReadOptions()) if isinstance(item, Document))


def write_lines(file: Path, lines: Sequence[bytes]) -> None:
    file.write_bytes(b"\n".join(lines) + b"\n")


def write_warc(file: Path, pages: Sequence[Path]) -> None:
    with file.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for number, page in enumerate(pages):
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            address, body = f"http://manuals.org/{number}", io.BytesIO(page.read_bytes())
            writer.write_record(writer.create_warc_record(address, "response", payload=body, http_headers=headers))


def called(*arguments: str | Path) -> bytes:
    """Return what a command prints. Raises: CalledProcessError."""
    return subprocess.run([*LSHDB, "--quiet", *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout


def killed(work: Path, paths: Sequence[Path]) -> None:
    """Run Spark on the command line, and kill it in the middle."""
    call = [*LSHDB, "spark", "--work", work, "--master", "local[2]", "--conf", "spark.ui.enabled=false", *paths]
    with subprocess.Popen(list(map(str, call)), stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if line.strip() == "stage promising")
        time.sleep(2)
        os.killpg(process.pid, signal.SIGKILL)


def linked(spark: SparkSession, work: Path, paths: Sequence[Path], partitions: int, task_bytes: int) -> WorkFolder:
    folder = work_folder(work, paths, Params(), ReadOptions())
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    pipeline.run(SparkEngine(spark), folder, task_bytes=task_bytes)
    return folder


def result(folder: WorkFolder) -> dict[str, pa.Table]:
    """Return the result of a folder, in an order that does not depend on the tasks."""
    found = {name: ds.dataset(folder.stage(name), format="parquet").to_table() for name in STAGES}
    found["oversized"] = pa.Table.from_batches(folder.oversized())
    return {
        name: table.sort_by([(column, "ascending") for column in table.column_names]) for name, table in found.items()
    }


def tables(file: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(file) as database:
        return {name: sorted(database.execute(f"SELECT * FROM {name}"), key=repr) for name in TABLES}  # noqa: S608


def answers(db: str | Path) -> tuple[bytes, bytes]:
    """Return the pairs and the clusters, after a complete check. Raises: CalledProcessError: it found faults."""
    called("--db", db, "check", "--all")
    return called("--db", db, "dupes", "--min-sim", "0.5"), called("--db", db, "clusters")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    asked = parser.parse_args()
    place: Path = asked.work.absolute()
    place.mkdir(parents=True)
    ingested, paths = place / "ingested.db", [asked.pages, place / "crawl"]
    make_crawl(sorted(asked.pages.rglob("*.html")), place / "crawl", place / "night")
    called("--db", ingested, "ingest", *paths)
    print({name: len(rows) for name, rows in tables(ingested).items()}, flush=True)
    compare_results(place, paths)
    with server() as postgres:
        compare_indexes(place, paths, ingested, [place / "loaded.db", postgres.url])


def compare_results(place: Path, paths: Sequence[Path]) -> None:
    """Run Spark in four ways, with one result."""
    killed(place / "killed", paths)
    found = []
    with session("local[2]", {"spark.ui.enabled": "false", "spark.driver.memory": "2g"}) as spark:
        runs = [("killed", 5, pipeline.TASK_BYTES), *((str(number), number, TASK_BYTES) for number in (1, 3, 7))]
        for name, partitions, task_bytes in runs:
            folder = linked(spark, place / name, paths, partitions, task_bytes)
            found.append(result(folder))
            print(name, folder.manifest.counts, flush=True)
    assert all(one == found[0] for one in found), "the results differ"


def compare_indexes(place: Path, paths: Sequence[Path], ingested: Path, loaded: Sequence[str | Path]) -> None:
    """Load a result into both databases, and compare them with an ingest, also after a night."""
    listed = answers(ingested)
    for db in loaded:
        called("--db", db, "load", place / "7")
        assert not isinstance(db, Path) or tables(db) == tables(ingested), "the tables differ"
        assert answers(db) == listed, "the answers differ"
        print(called("--db", db, "ingest", "--json", *paths).decode(), flush=True)
    nights = []
    for db in (ingested, *loaded):
        called("--db", db, "ingest", place / "night")
        nights.append(answers(db))
    assert all(one == nights[0] for one in nights), "the nights differ"
    print(f"equal: {len(listed[0].splitlines()):,} lines of dupes, after a night {len(nights[0][0].splitlines()):,}")


if __name__ == "__main__":
    main()
