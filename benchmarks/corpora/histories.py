"""Create a corpus of uneven histories: every version of every text file of git repositories, as JSON lines.

    python -m benchmarks.corpora.histories REPOSITORY... --out FILE.jsonl [--max-bytes 100000]

A repository is a clone with its whole history, bare or not. A version is one document, ``NAME/PATH@HASH``. Most files
have a few versions and some have thousands, so the number of similar pairs grows with the square of the longest
histories. Files that are not UTF-8, contain a null character or are longer than `--max-bytes` are left out, and a text
that several paths share is written once. The same commits give the same file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

__all__ = ["versions"]

MAX_BYTES: Final = 100_000
REGULAR: Final = (b"100644", b"100755")


def versions(repository: Path, max_bytes: int = MAX_BYTES) -> Iterator[tuple[str, str]]:
    """Yield "path@hash" and the text of each version, from the newest commit to the oldest."""
    git = ("git", "-C", str(repository))
    log = subprocess.run(
        (*git, "log", "--raw", "--no-abbrev", "--no-renames", "--format=", "-z"), check=True, capture_output=True
    )
    fields = log.stdout.split(b"\0")
    paths: dict[bytes, bytes] = {}
    # ":old mode, new mode, old hash, new hash, status", then the path.
    for change, path in zip(fields[:-1:2], fields[1::2], strict=True):
        _, mode, _, blob, _ = change.split()
        if mode in REGULAR:
            paths.setdefault(blob, path)
    with tempfile.TemporaryFile() as asked:
        asked.write(b"".join(blob + b"\n" for blob in paths))
        asked.seek(0)
        command = (*git, "cat-file", "--batch", "--buffer")
        with subprocess.Popen(command, stdin=asked, stdout=subprocess.PIPE) as answers:
            assert answers.stdout is not None
            for blob, path in paths.items():
                _, _, size = answers.stdout.readline().split()
                raw = answers.stdout.read(int(size) + 1)[:-1]
                if len(raw) <= max_bytes and b"\0" not in raw:
                    with suppress(UnicodeDecodeError):
                        yield f"{path.decode(errors='replace')}@{blob.decode()[:12]}", raw.decode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the corpus and print its size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.histories", description=__doc__.split("\n")[0])
    parser.add_argument("repositories", type=Path, nargs="+", metavar="REPOSITORY")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--max-bytes", type=int, default=MAX_BYTES, metavar="N")
    asked = parser.parse_args(arguments)
    encoder, total = msgspec.json.Encoder(), 0
    with asked.out.open("wb") as out:
        for repository in asked.repositories:
            before = total
            for name, text in versions(repository, asked.max_bytes):
                out.write(encoder.encode({"id": f"{repository.absolute().name}/{name}", "text": text}) + b"\n")
                total += 1
            print(f"{repository}: {total - before:,} texts", flush=True)
    print(f"{asked.out}: {total:,} texts, {asked.out.stat().st_size / 1e6:,.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
