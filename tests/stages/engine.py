"""An engine in this process, which cuts rows into as many tasks and batches as a test wants."""

from __future__ import annotations

import pickle
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from lshdb.stages.pipeline import Step


@dataclass(frozen=True)
class LocalRows:
    """Rows as one table for each task."""

    engine: LocalEngine
    parts: list[pa.Table]

    def through(self, function: Step, schema: pa.Schema) -> LocalRows:
        # As an engine does, which sends the function to another process.
        sent = pickle.dumps(function)
        made = [list(pickle.loads(sent)(self.engine.batches(part))) for part in self.parts]
        return LocalRows(self.engine, [pa.Table.from_batches(batches, schema) for batches in made])

    def together(self, keys: Sequence[str], order: Sequence[str]) -> LocalRows:
        table = pa.concat_tables(self.parts)
        values = zip(*(table.column(name).to_pylist() for name in keys), strict=True)
        tasks = [hash(value) % self.engine.num_tasks for value in values]
        parts = [
            table.filter(pa.array([task == at for task in tasks], pa.bool_())) for at in range(self.engine.num_tasks)
        ]
        return LocalRows(self.engine, [part.sort_by([(name, "ascending") for name in order]) for part in parts])

    def also(self, others: LocalRows) -> LocalRows:
        return LocalRows(self.engine, self.parts + others.parts)

    def write(self, folder: Path) -> None:
        self.engine.wrote(folder)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for number, part in enumerate(self.parts):
            pq.write_table(part, folder / f"part-{number:05}-x.parquet")
        (folder / "_SUCCESS").touch()


class LocalEngine:
    """Args: num_tasks: of each exchange. batch_rows: at most so many in a batch. wrote: called with each folder."""

    def __init__(
        self, num_tasks: int = 3, batch_rows: int = 100, wrote: Callable[[Path], None] = lambda _folder: None
    ) -> None:
        self.num_tasks = num_tasks
        self.wrote = wrote
        self._batch_rows = batch_rows
        self._chance = random.Random(num_tasks)

    def tasks(self, tasks: Sequence[str]) -> LocalRows:
        return LocalRows(self, [pa.table({"task": [task]}) for task in tasks])

    def read(self, folders: Sequence[Path], columns: Sequence[str]) -> LocalRows:
        files = [file for folder in folders for file in sorted(folder.glob("*.parquet"))]
        return LocalRows(self, [ds.dataset(file).to_table(columns=list(columns)) for file in files])

    def batches(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches of random sizes, and empty ones among them."""
        whole = table.combine_chunks()
        begin = 0
        while begin < len(whole):
            end = begin + self._chance.randint(0, self._batch_rows)
            yield from whole.slice(begin, end - begin).to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
            begin = end
