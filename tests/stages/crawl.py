"""A small crawl with everything that makes linking hard, and the rows of an index of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import select

from lshdb import Index
from lshdb.model.expansion import Expansion
from lshdb.stages.folder import WorkFolder
from lshdb.store.schema import (
    band_bucket,
    content,
    content_text,
    document,
    fingerprint_block,
    oversized_bucket,
    pair,
    rejected,
    source,
    unlinked,
)
from tests.readers.crawls import crawl as captures
from tests.readers.crawls import response, revisit, write

__all__ = ["SMALL", "Tables", "ingested", "loaded", "rows_of", "write_crawl"]

Tables = dict[str, list[tuple[object, ...]]]

SMALL = Expansion(cap=4, hubs=2)
WORDS = [f"{word}{length}" for word in ("alpha", "beta", "gamma", "delta", "eta", "theta") for length in range(3)]
TABLES = (
    content,
    content_text,
    document,
    source,
    band_bucket,
    fingerprint_block,
    pair,
    oversized_bucket,
    rejected,
    unlinked,
)


def text(number: int, changed: int = 0) -> str:
    words = [f"{word}{number % 7}" for word in WORDS * 3]
    words[changed % len(words)] = f"other{number}"
    return " ".join(words)


def write_crawl(folder: Path, num_files: int = 4) -> None:
    """Write files of four formats.

    They have families of near-duplicates, exact copies, ids that displace each other, several captures of an address,
    revisits before and after their page, rejections, and empty documents.
    """
    folder.mkdir()
    for file in range(num_files):
        lines = [json.dumps({"id": f"{file}-{n}", "text": text(n, file * n)}) for n in range(30)]
        lines += [json.dumps({"id": f"same-{n}", "text": text(n, file)}) for n in range(5)]
        lines += [json.dumps({"id": f"copy-{file}", "text": text(3)}), "{", json.dumps({"id": "e", "text": ""})]
        (folder / f"{file}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "page.html").write_text(f"<p>{text(1)}</p>")
    table = pa.table({"id": [f"row-{n}" for n in range(9)], "text": [text(n, 40) for n in range(8)] + [None]})
    pq.write_table(table, folder / "rows.parquet", row_group_size=2)
    newer = "2025-01-01T00:00:00Z"
    again = [response(f"http://a.org/{n}", f"<p>{text(n, 9)}</p>".encode(), date=newer) for n in range(3)]
    late = revisit("http://b.org/9", refers_to=("http://a.org/9", "2024-05-06T07:08:09Z"))
    write(folder / "crawl.warc.gz", [late, *captures(12), *again, revisit("http://a.org/11", date=newer)])
    for age, file in enumerate(sorted(folder.iterdir())):
        os.utime(file, (1_700_000_000 + age, 1_700_000_000 + age))


def rows_of(index: Index) -> Tables:
    """Return every row of an index, except its parameters and runs."""
    with index._store.reading() as snapshot:
        return {table.name: sorted(map(tuple, snapshot.execute(select(table))), key=repr) for table in TABLES}


def ingested(
    url: str, paths: Sequence[Path], chosen: dict[str, Any] | None = None, expansion: Expansion = SMALL
) -> Index:
    index = Index.ensure(url, chosen)
    index._store.expansion = expansion
    index.ingest(paths)
    return index


def loaded(url: str, work: WorkFolder) -> Index:
    index = Index.ensure(url)
    index._store.expansion = SMALL
    index.load(work.path)
    return index
