"""Compare looking up many documents with adding as many, in one process and on the index of one corpus.

    python -m benchmarks.runs.bulk [DOCUMENTS] [URL]

Half of the documents are in the index. The other half are looked up and then added, in alternating turns of equal size,
so that both see the same index and the same machine. The added documents are not linked, although a lookup finds all
near-duplicates at once: the comparison is with the least that an ingest does.
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.corpora import synthetic
from lshdb import Index

__all__ = ["measure"]

TURNS: Final = 5
DOCUMENTS: Final = 50_000


def measure(documents: int, url: str | None = None) -> tuple[float, float]:
    """Return the documents per second of questions and of an ingest that leaves linking for later."""
    with TemporaryDirectory(prefix="lshdb-bulk-") as folder:
        work = Path(folder)
        synthetic.write_jsonl(work / "corpus.jsonl", documents)
        parts = _split(work / "corpus.jsonl", documents)
        asked_seconds = added_seconds = 0.0
        with Index.ensure(url or work / "index.db") as index:
            index.ingest(parts[0])
            for part in parts[1:]:
                started = time.perf_counter()
                num_answers = sum(1 for _ in index.query_files(part))
                asked_seconds += time.perf_counter() - started
                started = time.perf_counter()
                num_added = index.ingest(part, link=False).counts.num_added
                added_seconds += time.perf_counter() - started
                print(f"{num_answers:,} answers, {num_added:,} added; {asked_seconds:.2f} s, {added_seconds:.2f} s")
    return documents / 2 / asked_seconds, documents / 2 / added_seconds


def _split(corpus: Path, documents: int) -> list[Path]:
    """Return a file with the first half of the documents, and one for each turn."""
    sizes = [documents // 2, *([documents // 2 // TURNS] * TURNS)]
    parts = []
    with corpus.open("rb") as lines:
        for number, size in enumerate(sizes):
            parts.append(corpus.with_name(f"part-{number}.jsonl"))
            with parts[-1].open("wb") as out:
                out.writelines(islice(lines, size))
    return parts


if __name__ == "__main__":
    asked, added = measure(int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS, *sys.argv[2:3])
    print(f"{asked:,.0f} questions/s, {added:,.0f} documents/s ingested: {asked / added:.0%}")
