"""Damage files at random and read them: each family of mutants in turn, all in one process.

    python -m tests.readers.fuzzing FIRST_SEED COUNT FAMILY...

prints ``mutant SEED FAMILY`` before it reads each one, so that a crash or a hang of compiled code can be attributed,
``problem SEED FAMILY: TEXT`` for each broken rule, and at the end ``longest SECONDS SEED FAMILY``, the mutant that took
the most processor time. The time of the process that parses pages is not counted, because it is limited.

The rules: every missing item left a Rejection; no item violates the contract of a Document; and the neighbours of a
damaged record are intact if the format can be read after damage: JSON lines, WARC plain or compressed by record, ARC
compressed by record, coded bodies in a WARC. It cannot in a gzip, bzip2, xz or zstd stream as a whole, in a CSV with an
open quote, or if the footer of Parquet is damaged.
"""

from __future__ import annotations

import bz2
import faulthandler
import gzip
import io
import json
import lzma
import random
import resource
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lshdb.model.values import Document
from lshdb.readers import Item, ReadOptions, Rejection, SourceFile, read_stream
from tests.readers.crawls import arc_crawl, crawl, page, response
from tests.readers.reading_files import zstd

# A mutant that takes this long hangs, even on a busy machine.
LIMIT_SECONDS = 60
LIMIT_BYTES = 8_000_000_000
NUM_RECORDS = 7
DAMAGED = 3
TOKENS = (
    b"\r\n\r\n", b"\n", b"\0", b'"', b"{", b"}", b"<", b">", b"<!--", b"<table>", b"&#0;", b"\xff\xfe", b"\xed\xa0\x80",
    b"WARC/1.0\r\n", b"Content-Length: 99999999999\r\n", b"HTTP/1.1 ", b"7fffffff\r\n", b"\x1f\x8b\x08\0",
    b"\x28\xb5\x2f\xfd", b"PAR1", b"99999999999999999999", b"-1", b"\\ud800", b"[" * 200,
)  # fmt: skip


def mutate(raw: bytes, draw: random.Random) -> bytes:
    """Return the bytes with one to four random changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        start = draw.randrange(len(raw) + 1)
        end = min(len(raw), start + draw.choice((1, 1, 4, 30, 300)))
        raw = raw[:start] + _in_place_of(raw[start:end], draw) + raw[end:]
    return raw


def _in_place_of(part: bytes, draw: random.Random) -> bytes:
    return draw.choice(
        (
            lambda: bytes(byte ^ (1 << draw.randrange(8)) for byte in part),
            lambda: draw.randbytes(len(part)),
            lambda: b"",
            lambda: part + part,
            lambda: draw.randbytes(draw.randrange(20)) + part,
            lambda: draw.choice(TOKENS) + part,
            lambda: bytes(len(part)),
        )
    )()


def lines(draw: random.Random) -> bytes:
    """Return JSON lines, one of them damaged."""
    records = [
        json.dumps({"id": f"http://a.org/{n}", "text": f"text {n}", "n": [n, None]}).encode()
        for n in range(NUM_RECORDS)
    ]
    records[DAMAGED] = mutate(records[DAMAGED], draw) or b"?"
    return b"\n".join(records) + b"\n"


def records(compress: Callable[[bytes], bytes]) -> Callable[[random.Random], bytes]:
    """Return a WARC compressed by record, with one damaged record."""
    sound = [compress(each) for each in crawl(NUM_RECORDS, gzip=False)]

    def damaged(draw: random.Random) -> bytes:
        made = list(sound)
        made[DAMAGED] = mutate(made[DAMAGED], draw) or b"?"  # A missing record leaves no trace.
        return b"".join(made)

    return damaged


def arc_records(compress: Callable[[bytes], bytes]) -> Callable[[random.Random], bytes]:
    """Return an ARC compressed by record, with one damaged record."""
    head, *sound = [compress(each) for each in arc_crawl(NUM_RECORDS, gzip=False)]

    def damaged(draw: random.Random) -> bytes:
        made = list(sound)
        made[DAMAGED] = mutate(made[DAMAGED], draw) or b"?"  # A missing record leaves no trace.
        return head + b"".join(made)

    return damaged


def bodies(draw: random.Random) -> bytes:
    """Return a WARC with a body that cannot be decoded."""
    coding, encode = draw.choice(
        (
            ("gzip", gzip.compress),
            ("deflate", zlib.compress),
            ("br", lambda _: draw.randbytes(40)),
            ("zstd", zstd),
            ("gzip, gzip", lambda raw: gzip.compress(gzip.compress(raw))),
        )
    )
    coded = encode(page(DAMAGED))
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (coded[:50], coded[50:])) + b"0\r\n\r\n"
    made = crawl(NUM_RECORDS)
    headers = (("Content-Encoding", coding), ("Transfer-Encoding", "chunked"))
    made[DAMAGED] = response(f"http://a.org/{DAMAGED}", mutate(chunked, draw), *headers)
    return b"".join(made)


def whole(raw: bytes, compress: Callable[[bytes], bytes] = bytes) -> Callable[[random.Random], bytes]:
    """Return a file damaged anywhere."""
    compressed = compress(raw)
    return lambda draw: mutate(compressed, draw)


def parquet() -> bytes:
    """Return a small table in row groups of three."""
    numbers = range(NUM_RECORDS)
    columns = {
        "id": [f"http://a.org/{n}" for n in numbers],
        "text": [f"text {n} " * 9 for n in numbers],
        "n": list(numbers),
    }
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, row_group_size=3)
    return out.getvalue()


def families() -> dict[str, tuple[str, Callable[[random.Random], bytes], bool]]:
    """Return (file name, maker, whether the neighbours of a damaged record must be read) by family."""
    jsonl = b"".join(b'{"id": "http://a.org/%d", "text": "text %d"}\n' % (n, n) for n in range(NUM_RECORDS))
    table = b"id,text\n" + b"".join(b'http://a.org/%d,"text ""%d"", word"\n' % (n, n) for n in range(NUM_RECORDS))
    tabs = b"id\ttext\n" + b"".join(b"http://a.org/%d\ttext %d\n" % (n, n) for n in range(NUM_RECORDS))
    sets = b"".join(b"set-%d one two feature-%d\n" % (n, n) for n in range(NUM_RECORDS))
    prose = "Ein Text über Wörter, 中文 und \u0939\u093f\u0928\u094d\u0926\u0940.\n".encode() * NUM_RECORDS
    html = b"<!doctype html><table><tr><td a=1 b='2'>one<td>two</table><!-- c --><script>x</script>" + page(1)
    return {
        "jsonl": ("a.jsonl", lines, True),
        "warc": ("a.warc", records(bytes), True),
        "warc.gz": ("a.warc.gz", records(gzip.compress), True),
        "warc.zst": ("a.warc.zst", records(zstd), True),
        "arc": ("a.arc", arc_records(bytes), False),
        "arc.gz": ("a.arc.gz", arc_records(gzip.compress), True),
        "bodies": ("a.warc.gz", bodies, True),
        "warc.gz as a whole": ("a.warc.gz", whole(b"".join(crawl(NUM_RECORDS, gzip=False)), gzip.compress), False),
        "jsonl.gz": ("a.jsonl.gz", whole(jsonl, gzip.compress), False),
        "jsonl.zst": ("a.jsonl.zst", whole(jsonl, zstd), False),
        "jsonl.bz2": ("a.jsonl.bz2", whole(jsonl, bz2.compress), False),
        "jsonl.xz": ("a.jsonl.xz", whole(jsonl, lzma.compress), False),
        "csv": ("a.csv", whole(table), False),
        "parquet": ("a.parquet", whole(parquet()), False),
        "csv.zst": ("a.csv.zst", whole(table, zstd), False),
        "tsv": ("a.tsv", whole(tabs), False),
        "sets": ("a.sets", whole(sets), False),
        "sets.gz": ("a.sets.gz", whole(sets, gzip.compress), False),
        "text": ("a.txt", whole(prose), False),
        "text.xz": ("a.txt.xz", whole(prose, lzma.compress), False),
        "html": ("a.html", whole(html * 3), False),
        # Parsed in another process.
        "long html": ("a.html", whole(html * 40), False),
        "html.bz2": ("a.html.bz2", whole(html * 3, bz2.compress), False),
        "unnamed": ("a", whole(gzip.compress(b"".join(crawl(3, gzip=False)))), False),
    }


def mistakes(items: list[Item], sound: list[Item], is_framed: bool, *, may_merge: bool) -> Iterator[str]:
    """Yield the rules that the items of a mutant break, given those of the sound file."""
    documents = [item for item in items if isinstance(item, Document)]
    rejections = [item for item in items if isinstance(item, Rejection)]
    if any(not item.reason or "Error" in item.reason for item in rejections):
        yield f"a reason that says nothing: {rejections}"
    if len(items) < len(sound) and not rejections and not may_merge:
        yield "items are missing without a Rejection"
    for document in documents:
        if not document.doc_id or "\0" in document.doc_id:
            yield f"a bad doc_id {document.doc_id!r}"
        (document.doc_id + document.text).encode()
    came = {(document.doc_id, document.text) for document in documents}
    for number, item in enumerate(sound):
        if is_framed and number != DAMAGED and isinstance(item, Document) and (item.doc_id, item.text) not in came:
            yield f"neighbour {number} is lost: {rejections}"


def read(name: str, raw: bytes) -> list[Item]:
    """Return the items of a file with that name."""
    source = SourceFile(f"file:///{name}", Path(f"/{name}"), len(raw), 0, f"file:///{name}")
    return list(read_stream(source, io.BytesIO(raw), ReadOptions()))


class Unchanged(random.Random):
    """A source of chance that changes nothing."""

    def randrange(self, *bounds: int) -> int:  # type: ignore[override]
        """Return the end of the range."""
        return bounds[-1] - 1

    def choice(self, options: object) -> object:  # type: ignore[override]
        """Return the first."""
        return options[0]  # type: ignore[index]


def main(first_seed: int, count: int, *names: str) -> None:
    """Read `count` mutants of each family."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    longest = max(read_mutants(name, range(first_seed, first_seed + count)) for name in names)
    print("longest", *longest)


def read_mutants(family: str, seeds: range) -> tuple[float, int, str]:
    """Read mutants of a family. Return the longest processor time, its seed and the family."""
    name, make, is_framed = families()[family]
    sound = read(name, make(Unchanged()))
    longest = (0.0, seeds.start, family)
    for seed in seeds:
        print("mutant", seed, family, flush=True)
        faulthandler.dump_traceback_later(LIMIT_SECONDS, exit=True)
        raw = make(random.Random(seed))
        started = time.process_time()
        items = read(name, raw)
        longest = max(longest, (time.process_time() - started, seed, family))
        # Two rows become one if the line end between them is deleted, and an empty file lacks no record.
        may_merge = name.endswith((".csv", ".tsv", ".sets")) or not raw
        for mistake in mistakes(items, sound, is_framed, may_merge=may_merge):
            print(f"problem {seed} {family}: {mistake}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return longest


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
