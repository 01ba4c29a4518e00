"""Compare layouts and settings of Postgres.

    python -m benchmarks.runs.postgres postgresql://... [--documents 200000] [--variants shipped key-in-place ...]

For each variant, it ingests synthetic texts (`benchmarks.corpora.synthetic`) into a new schema with one worker, links
them, and prints the size of band_bucket. Variants that change settings of the server need a superuser. The settings are
reset and the schema is dropped at the end.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, LiteralString

import psycopg
from psycopg import sql

from benchmarks.corpora import synthetic
from benchmarks.runs.ingest import machine
from lshdb import Index
from lshdb.ingest.options import IngestOptions

SCHEMA: Final = "lshdb_benchmark"


@dataclass(frozen=True, slots=True)
class Variant:
    """SQL to run before the ingest, settings of the session, and settings of the server."""

    before: tuple[LiteralString, ...] = ()
    session: str = ""
    server: tuple[tuple[LiteralString, LiteralString], ...] = ()


# With a content in it, the index is not empty, so that its key stays in place.
NOT_EMPTY: Final[LiteralString] = "INSERT INTO content VALUES (0, '', 0, '')"
PARTITIONED: Final[LiteralString] = """
    DROP TABLE band_bucket;
    CREATE TABLE band_bucket (generation smallint NOT NULL, band smallint NOT NULL, bucket_hash bigint NOT NULL,
        content_key bigint NOT NULL, CONSTRAINT pk_band_bucket PRIMARY KEY (generation, band, bucket_hash, content_key))
        PARTITION BY LIST (band);
    DO $$ BEGIN FOR number IN 0..19 LOOP
        EXECUTE format('CREATE TABLE band_bucket_%s PARTITION OF band_bucket FOR VALUES IN (%s)', number, number);
    END LOOP; END $$"""

VARIANTS: Final[dict[str, Variant]] = {
    "shipped": Variant(),
    "key-in-place": Variant(before=(NOT_EMPTY,)),
    "key-by-1GB": Variant(session="-cmaintenance_work_mem%3D1GB"),
    "partitioned": Variant(before=(PARTITIONED, NOT_EMPTY)),
    "fillfactor-70": Variant(before=("ALTER INDEX pk_band_bucket SET (fillfactor = 70)", NOT_EMPTY)),
    "autovacuum-off": Variant(before=("ALTER TABLE band_bucket SET (autovacuum_enabled = off)",)),
    "work-mem-64MB": Variant(session="-cwork_mem%3D64MB"),
    "work-mem-256MB": Variant(session="-cwork_mem%3D256MB"),
    "synchronous-commit-off": Variant(session="-csynchronous_commit%3Doff"),
    "max-wal-8GB": Variant(server=(("max_wal_size", "8GB"),)),
    "wal-compression": Variant(server=(("wal_compression", "lz4"),)),
}


def measured(url: str, variant: Variant, file: Path) -> tuple[float, float, int]:
    """Return (seconds of the ingest, seconds of the link, bytes of band_bucket)."""
    place = f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{SCHEMA}%20{variant.session}"
    with psycopg.connect(url, autocommit=True) as admin, configured(admin, variant), Index.ensure(place, {}) as index:
        execute(admin, *variant.before)
        admin.execute("CHECKPOINT")
        started = time.perf_counter()
        index.ingest([file], IngestOptions(workers=1), link=False)
        ingested = time.perf_counter()
        index.link()
        return ingested - started, time.perf_counter() - ingested, size(admin)


@contextmanager
def configured(admin: psycopg.Connection[tuple[object, ...]], variant: Variant) -> Iterator[None]:
    """Create an empty schema and change the settings. Drop and reset them at the end."""
    execute(admin, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}", f"SET search_path = {SCHEMA}")
    for name, value in variant.server:
        admin.execute(sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
    admin.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        for name, _ in variant.server:
            admin.execute(sql.SQL("ALTER SYSTEM RESET {}").format(sql.Identifier(name)))
        admin.execute("SELECT pg_reload_conf()")
        execute(admin, f"DROP SCHEMA {SCHEMA} CASCADE")


def execute(admin: psycopg.Connection[tuple[object, ...]], *statements: LiteralString) -> None:
    """Execute some statements."""
    for statement in statements:
        admin.execute(statement)


def size(admin: psycopg.Connection[tuple[object, ...]]) -> int:
    """Return the bytes of band_bucket with its partitions and indexes."""
    row = admin.execute(
        "SELECT sum(pg_total_relation_size(part)) FROM (SELECT 'band_bucket'::regclass::oid AS part"
        " UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = 'band_bucket'::regclass) AS parts"
    ).fetchone()
    return int(str(row[0])) if row else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all variants, round by round, and print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.postgres", description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--documents", type=int, default=200_000, metavar="N")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    asked = parser.parse_args(arguments)
    print(f"{machine()}\n{asked.documents:,} documents\n")
    print(f"{'':24}{'ingest s':>10}{'link s':>8}{'docs/s':>9}{'band_bucket MB':>16}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.jsonl"
        synthetic.write_jsonl(file, asked.documents)
        for name in asked.variants * asked.rounds:
            ingest, link, num_bytes = measured(asked.url, VARIANTS[name], file)
            rate = asked.documents / ingest
            print(f"{name:24}{ingest:>10.1f}{link:>8.1f}{rate:>9.0f}{num_bytes / 1e6:>16.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
