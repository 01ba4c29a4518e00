"""Compare filtering JSON lines with reading and decompressing them, and check the result against a join by hand.

    python -m benchmarks.runs.filter FILE.jsonl [--copies 18] [--compression none|zstd|gzip] [--rounds 3]

The corpus repeats FILE with different words in each copy, so duplicates occur only within a copy. Reading, rewriting
and filtering take turns. Rewriting decompresses the file, compresses it again on all cores, and syncs it to the disk:
the least that any filter must do. Filtering includes everything: start-up, clusters, writing, and syncing.
The join by hand reads the ids to keep from ``lshdb export`` and parses every line.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.runs.ingest import Measured, StepError, default_command, machine, measure

MAX_RATIO: Final = 1.5  # of the time of reading and decompressing

SUFFIXES: Final = {"none": "", "zstd": ".zst", "gzip": ".gz"}
READERS: Final = {"none": ["cat"], "zstd": ["zstd", "-dcq"], "gzip": ["gzip", "-dc"]}
PACKERS: Final = {"none": ["cat"], "zstd": ["zstd", "-cqT0"], "gzip": ["gzip", "-c"]}


def write_corpus(source: Path, target: Path, copies: int, compression: str) -> int:
    """Write the copies of a file. Returns: their bytes before compression."""
    num_bytes = 0
    with target.open("wb") as out, subprocess.Popen(PACKERS[compression], stdin=subprocess.PIPE, stdout=out) as packer:
        assert packer.stdin is not None
        for copy in range(copies):
            with source.open("rb") as lines:
                for line in lines:
                    record = json.loads(line)
                    text = record["text"].replace(" ", f" {copy}" if copy else " ")
                    changed = {"copy": copy, "id": f"{copy}/{record['id']}", "text": text}
                    num_bytes += packer.stdin.write(json.dumps(changed, ensure_ascii=False).encode() + b"\n")
    return num_bytes


def join_by_hand(ids: Path, corpus: Path, compression: str, target: Path) -> None:
    """Write the lines whose ids are listed."""
    kept = set(ids.read_text().splitlines())
    reading = subprocess.Popen([*READERS[compression], corpus], stdout=subprocess.PIPE)
    with reading, target.open("wb") as out:
        assert reading.stdout is not None
        out.writelines(line for line in reading.stdout if json.loads(line)["id"] in kept)


def compare(corpus: Path, compression: str, lshdb: Sequence[str], rounds: int, work: Path) -> str:
    """Measure, check, and return the verdict. Raises: StepError."""
    call = [*lshdb, "--quiet", "--db", str(work / "index.db")]
    ingest = measure([*call, "ingest", str(corpus)])
    print(f"{'ingest':10}{ingest.seconds:>9.2f} s", flush=True)
    measure([*call, "export", "--out", str(work / "ids.txt")])
    plain = shlex.join([*READERS[compression], str(corpus)])
    reading = ["sh", "-c", f"{plain} > /dev/null"]
    copy = shlex.quote(str(work / "copy"))
    rewriting = ["sh", "-c", f"{plain} | {shlex.join(PACKERS[compression])} > {copy} && sync {copy}"]
    filtering = [*call, "filter", str(corpus), "--out", str(work / "out"), "--json"]
    commands = {"read": reading, "rewrite": rewriting, "filter": filtering}
    best: dict[str, Measured] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            shutil.rmtree(work / "out", ignore_errors=True)
            found = measure(command)
            print(f"{name:10}{found.seconds:>9.2f} s{found.cpu_seconds:>9.2f} s CPU", flush=True)
            best[name] = min(best.get(name, found), found, key=lambda one: one.seconds)
    print(best["filter"].output.strip())
    require_same(corpus, compression, work)
    ratio = best["filter"].seconds / best["read"].seconds
    return (
        f"{ratio:.2f} times the time of reading and decompressing (target: under {MAX_RATIO}), "
        f"{best['filter'].seconds / best['rewrite'].seconds:.2f} times that of rewriting; "
        "the same lines as a join by hand"
    )


def require_same(corpus: Path, compression: str, work: Path) -> None:
    """Raises: StepError: the lines differ from those of the join."""
    join_by_hand(work / "ids.txt", corpus, compression, work / "joined.jsonl")
    written = work / "out" / corpus.name
    with (work / "written.jsonl").open("wb") as plain:
        subprocess.run([*READERS[compression], str(written)], stdout=plain, check=True)
    if not filecmp.cmp(work / "joined.jsonl", work / "written.jsonl", shallow=False):
        raise StepError("the filtered lines are not those of a join by hand")


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.filter", description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, help="JSON lines with id and text")
    parser.add_argument("--copies", type=int, default=18, metavar="N", help="times that FILE is repeated (default 18)")
    parser.add_argument("--compression", choices=sorted(SUFFIXES), default="none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="command that runs lshdb")
    parser.add_argument("--work", type=Path, help="folder for files and database (default: a temporary one)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark. Return 1 if a process failed."""
    asked = parsed(arguments)
    with tempfile.TemporaryDirectory(dir=asked.work) as work:
        corpus = Path(work, f"corpus.jsonl{SUFFIXES[asked.compression]}")
        num_bytes = write_corpus(asked.file, corpus, asked.copies, asked.compression)
        print(f"{machine()}\n{num_bytes / 1e9:.2f} GB, {asked.compression}, {corpus.stat().st_size / 1e9:.2f} GB\n")
        try:
            print(f"\n{compare(corpus, asked.compression, shlex.split(asked.lshdb), asked.rounds, Path(work))}")
        except (StepError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
