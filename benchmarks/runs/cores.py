"""Measure the stages of an ingest and of a link on this machine, and simulate them on more cores.

    python -m benchmarks.runs.cores PATH [--postgres]

Prints the seconds of each stage, one after the other in one process; what `benchmarks.runs.pipeline` predicts from them
for 1 to 64 cores, with as many workers as cores; and for 1 and 2 workers on this machine, what was predicted and what
the commands take.
"""

from __future__ import annotations

import argparse
import os
import pickle
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.runs.ingest import default_command, machine
from benchmarks.runs.pipeline import Chunk, simulated
from benchmarks.runs.processes import cpu_of_servers, watch
from benchmarks.runs.servers import server
from lshdb import Index
from lshdb.ingest.ingest import Ingestion
from lshdb.ingest.make import Chunk as Made
from lshdb.ingest.make import Files, Task, cut, make_whole
from lshdb.ingest.options import IngestOptions
from lshdb.ingest.plan import Plan, plan
from lshdb.ingest.workers import in_processes
from lshdb.linking.candidates import Occurrences, by_family
from lshdb.linking.link import FIRST_PAIRS, MAX_THREADS, PARTS_AHEAD, Linking
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import Document, VerifiedPairs
from lshdb.readers import extraction
from lshdb.store.running import recorded_run
from lshdb.store.store import Store
from lshdb.store.tables import graph

CORES: Final = (1, 2, 4, 8, 16, 64)
REAL_WORKERS: Final = (1, 2)
OPTIONS: Final = IngestOptions()


class Stages(NamedTuple):
    """The seconds of the stages, one after the other.

    Args:
        read, passed, made: for each range of records or group of files: reading it, passing it to another process and
            back, making it.
        busy: cores that making keeps busy.
        written: writing everything.
        batch: chunks in a batch.
        num_documents: documents that were ingested.
        start, loading, pool: starting a process with an index, loading the kernels, and starting worker processes.
        search: the search for candidates.
        link: the parts of the candidates: putting them into order, comparing them and storing their pairs.
        stored: parts whose pairs are stored together.
        client, servers: processor seconds of the writing, here and in the servers of the database.
    """

    read: list[float]
    passed: list[float]
    made: list[float]
    busy: float
    written: float
    batch: int
    num_documents: int
    start: float
    loading: float
    pool: float
    search: float
    link: list[Chunk]
    stored: int
    client: float
    servers: float

    def ingest_seconds(self, cores: int, workers: int) -> float:
        """Return the predicted seconds of an ingest."""
        write, steps = self.written / len(self.made), zip(self.read, self.passed, self.made, strict=True)
        if workers == 1:  # One thread reads and makes.
            chunks = [Chunk(0.0, read + make, write, self.busy) for read, _, make in steps]
            return self.start + self.loading + simulated(chunks, cores, 1, self.batch)
        chunks = [Chunk(read + passed, make, write, self.busy) for read, passed, make in steps]
        return self.start + self.pool + simulated(chunks, cores, workers, self.batch)

    def link_seconds(self, cores: int, threads: int) -> float:
        """Return the predicted seconds of a link."""
        return self.search + simulated(self.link, cores, threads, self.stored, PARTS_AHEAD)

    def table(self) -> Iterator[str]:
        """Yield the seconds of each stage, and the milliseconds per document."""
        rows = {
            "read and split": sum(self.read),
            "pass to a worker and back": sum(self.passed),
            "make": sum(self.made),
            "write": self.written,
            "search for candidates": self.search,
            "order candidates": sum(one.read for one in self.link),
            "compare": sum(one.make for one in self.link),
            "store pairs": sum(one.write for one in self.link),
        }
        yield f"{self.num_documents:,} documents, {len(self.made)} chunks, {len(self.link)} parts of candidates"
        yield f"{'':28}{'s':>8}{'ms/document':>13}"
        yield from (f"{name:28}{each:>8.2f}{1e3 * each / self.num_documents:>13.3f}" for name, each in rows.items())
        yield f"making keeps {self.busy:.2f} cores busy; writing takes {self.client:.2f} processor s here and"
        yield f"{self.servers:.2f} in servers; start {self.start:.2f} s,"
        yield f"kernels {self.loading:.2f} s, workers {self.pool:.2f} s"


class Timed(Linking):
    """A link that does one thing after the other, and notes what each takes."""

    def _scan(self, keys: NDArray[np.int64], occurrences: Occurrences) -> None:
        with timed() as self.searching:
            super()._scan(keys, occurrences)

    def _compute(self, occurrences: Occurrences) -> int:
        with timed() as self.ordering, closing(by_family(occurrences, self._given)) as candidates:
            parts = list(candidates)
        found, self.comparing = list[VerifiedPairs](), list[float]()
        for part in parts:
            with timed() as seconds:
                found.append(self._verified(part))
            self.comparing += seconds
        with timed() as self.storing:
            pairs = VerifiedPairs.joined(found)
            return self._store.write(partial(graph.put_pairs, pairs=pairs, run_key=self._run_key))

    def chunks(self) -> list[Chunk]:
        """Return the parts of the candidates."""
        num = max(1, len(self.comparing))
        return [Chunk(self.ordering[0] / num, seconds, self.storing[0] / num) for seconds in self.comparing]


@contextmanager
def timed(clock: Callable[[], float] = time.perf_counter) -> Iterator[list[float]]:
    """Yield a list that gets the seconds that the block took."""
    began, seconds = clock(), list[float]()
    yield seconds
    seconds.append(clock() - began)


def load_linking() -> None:
    """Link two texts, which loads the kernels."""
    words = "one two three four five six seven eight nine ten"
    with sqlite_file() as url, Index.create(url) as index:
        index.add([Document("a", words), Document("b", f"{words} eleven")], link=False)
        index.link()


def measured(path: Path, url: str, servers: Sequence[int]) -> Stages:
    """Ingest a path into an empty index, stage by stage, and link it."""
    with closing(Store.create(url, Params(), version("lshdb"))) as store, recorded_run(store, "ingest") as run_key:
        options = replace(OPTIONS, read=OPTIONS.read.suited(store.params))
        tasks = [task for step in plan(store, [path], options) for task in step.tasks]
        make = partial(make_whole, params=store.params, options=options.read, budgets=options.budgets)
        with timed() as loading:
            make(Files(()))
        read, passed, made, chunks, processor = _made(tasks, make, options)
        ingestion = Ingestion(store, run_key, options, Progress())
        before = cpu_of_servers(servers)
        with timed() as writing, timed(time.process_time) as client:
            ingestion.write_made(Plan((), {}, (), (), 0, frozenset(), 0, 0, True), chunks)
        on_servers = cpu_of_servers(servers) - before
        load_linking()
        link = Timed(store, run_key, Progress())
        num_pairs = link.link()
    num, link_chunks = len(made), link.chunks()
    return Stages(
        read=read,
        passed=passed,
        made=made,
        busy=max(1.0, processor / sum(made)),
        written=writing[0],
        batch=max(1, round(num * min(1.0, _batch_share(chunks)))),
        num_documents=sum(len(chunk.documents) for chunk in chunks),
        start=_start_seconds(url),
        loading=loading[0],
        pool=_pool_seconds(make),
        search=link.searching[0],
        link=link_chunks,
        stored=max(1, round(len(link_chunks) * min(1.0, FIRST_PAIRS / max(1, num_pairs)))),
        client=client[0],
        servers=on_servers,
    )


def _made(
    tasks: Sequence[Task], make: Callable[..., list[Made]], options: IngestOptions
) -> tuple[list[float], list[float], list[float], list[Made], float]:
    """Return the seconds of reading, passing and making each chunk, the chunks, and the processor seconds of making."""
    read, passed, made, chunks = list[float](), list[float](), list[float](), list[Made]()
    works, processor = iter(cut(tasks, options.read, options.budgets)), 0.0
    while True:
        with timed() as seconds:
            work = next(works, None)
        if work is None:
            break
        read += seconds
        with timed() as making, timed(time.process_time) as here:
            done = make(work)
        made += making
        processor += here[0]
        answer = pickle.dumps(done)
        with timed() as seconds:
            pickle.dumps(work)
            chunks += pickle.loads(answer)
        passed += seconds
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    extraction._process.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return read, passed, made, chunks, processor + after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _batch_share(chunks: Sequence[Made]) -> float:
    """Return the share of the corpus that one batch holds."""
    budgets = OPTIONS.budgets
    num_bytes, num_documents = sum(one.num_bytes for one in chunks), sum(len(one.documents) for one in chunks)
    return min(budgets.batch_bytes / max(1, num_bytes), budgets.batch_documents / max(1, num_documents))


def _start_seconds(url: str) -> float:
    """Return the seconds of an ingest that finds nothing to do."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.txt"
        file.write_text("a text of some words")
        ingest = [default_command(), "--db", url, "ingest", str(file), "--no-link"]
        watch(ingest, quiet=True)
        return watch(ingest, quiet=True).seconds


def _pool_seconds(make: Callable[..., list[Made]]) -> float:
    with timed() as seconds:
        list(in_processes(make, [Files(())], 2))
    return seconds[0]


def real_seconds(path: Path, url: str, workers: int) -> tuple[float, float]:
    """Return the seconds of an ingest with this many workers, and of a link with as many threads."""
    ingest = [default_command(), "--quiet", "--db", url, "ingest", str(path), "--no-link", "--workers", str(workers)]
    ingested = watch(ingest).seconds
    cores = os.sched_getaffinity(0)
    with closing(Store.open(url)) as store, recorded_run(store, "link") as run_key:
        os.sched_setaffinity(0, sorted(cores)[:workers])
        with timed() as linked:
            Linking(store, run_key, Progress()).link()
        os.sched_setaffinity(0, cores)
    return ingested, linked[0]


@contextmanager
def databases(*, postgres: bool) -> Iterator[tuple[Callable[[], AbstractContextManager[str]], Sequence[int]]]:
    """Yield a function that creates an empty database, and the servers."""
    if postgres:
        with server() as running:
            yield running.database, [running.pid]
    else:
        yield sqlite_file, []


@contextmanager
def sqlite_file() -> Iterator[str]:
    """Yield the path of a SQLite database that does not exist yet, and delete it at the end."""
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "index.db")


def predictions(stages: Stages) -> Iterator[str]:
    """Yield what is predicted for each number of cores."""
    one, one_link = stages.ingest_seconds(1, 1), stages.link_seconds(1, 1)
    yield f"{'cores':>6}{'ingest s':>10}{'speed-up':>10}{'link s':>8}{'speed-up':>10}{'unlimited threads s':>21}"
    for cores in CORES:
        ingest = stages.ingest_seconds(cores, cores)
        link, unlimited = (stages.link_seconds(cores, threads) for threads in (min(cores, MAX_THREADS), cores))
        yield f"{cores:>6}{ingest:>10.1f}{one / ingest:>10.1f}{link:>8.1f}{one_link / link:>10.1f}{unlimited:>21.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, predict and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.cores", description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path, help="a file or folder")
    parser.add_argument("--postgres", action="store_true", help="on a temporary Postgres server instead of SQLite")
    asked = parser.parse_args(arguments)
    print(f"{machine()}\n", flush=True)
    with databases(postgres=asked.postgres) as (database, servers):
        with database() as url:
            stages = measured(asked.path, url, servers)
        print("\n".join([*stages.table(), "", *predictions(stages), ""]), flush=True)
        num_cores = len(os.sched_getaffinity(0))
        for workers in REAL_WORKERS:
            with database() as url:
                ingested, linked = real_seconds(asked.path, url, workers)
            ingest, link = stages.ingest_seconds(num_cores, workers), stages.link_seconds(workers, workers)
            print(
                f"{workers} of {num_cores} cores: ingest {ingest:.1f} s predicted, {ingested:.1f} measured;"
                f" link {link:.1f} predicted, {linked:.1f} measured",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
