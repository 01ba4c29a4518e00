"""Kill real loads and cut their power at random moments, and compare the resumed index with an undisturbed one.

    python -m benchmarks.runs.siege [--sqlite-kills 60] [--postgres-kills 30] [--power-cuts 24] [--documents 60000]

A load of 60,000 documents takes about ten seconds. Half of the loads are first ones, the others those of the next day,
which also replace and remove documents. A kill is `kill -9` of lshdb and its workers. A power cut is a copy of the
database and its log while a transaction is written: as copied, with the log truncated or overwritten after its last
sync, or with pages torn that a checkpoint was writing.

After each kill and each cut, `lshdb check` must find no fault, except that Postgres may lack the key that the first
ingest builds last. Then the load is resumed. Now `check --all` must find no fault, and the index must hold the same
rows as the undisturbed one. Exits with 1 otherwise.
"""

from __future__ import annotations

import argparse
import random
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.runs.ingest import default_command, machine
from benchmarks.runs.servers import server
from benchmarks.siege import crawl
from benchmarks.siege.campaign import Campaign, Outcome
from benchmarks.siege.crawl import Day

__all__ = ["main"]

DAYS: Final[tuple[Day, Day]] = ("monday", "tuesday")


class Indexes:
    """The undisturbed index of each day, and a copy of Monday's to load Tuesday into.

    Args:
        campaign: loads them.
        new_url: returns an empty place.
        copy: copies an index to another place.
    """

    def __init__(self, campaign: Campaign, new_url: Callable[[], str], copy: Callable[[str, str], None]) -> None:
        self._new_url = new_url
        self._copy = copy
        self._monday = new_url()
        self.expected = {"monday": campaign.undisturbed(self._monday, "monday")}
        self.expected["tuesday"] = campaign.undisturbed(self.of("tuesday"), "tuesday")

    def of(self, day: Day) -> str:
        """Return the place of an index to load a day into."""
        url = self._new_url()
        if day == "tuesday":
            self._copy(self._monday, url)
        return url


def besiege_sqlite(campaign: Campaign, work: Path, num_kills: int, num_cuts: int) -> None:
    """Kill loads into SQLite files and cut their power."""
    numbers = iter(range(10**6))

    def new_url() -> str:
        (folder := work / f"sqlite-{next(numbers)}").mkdir()
        return str(folder / "index.db")

    def copy(source: str, target: str) -> None:
        shutil.copyfile(source, target)

    indexes = Indexes(campaign, new_url, copy)
    for day in _until(lambda: campaign.outcome.num_kills >= num_kills):
        url = indexes.of(day)
        campaign.kill(url, day, indexes.expected[day], num_kills - campaign.outcome.num_kills)
        shutil.rmtree(Path(url).parent)
    for day in _until(lambda: campaign.outcome.num_images >= num_cuts):
        database = Path(indexes.of(day))
        campaign.cut_power(database, day, indexes.expected[day], num_cuts - campaign.outcome.num_images)
        shutil.rmtree(database.parent)


def besiege_postgres(campaign: Campaign, num_kills: int) -> None:
    """Kill loads into schemas of a Postgres server that is started for this."""
    with server() as postgres, postgres.database() as url:
        numbers = iter(range(10**6))

        def new_url() -> str:
            return f"{url}{'&' if '?' in url else '?'}schema=siege_{next(numbers)}"

        def load_monday(_: str, target: str) -> None:
            campaign.undisturbed(target, "monday")

        indexes = Indexes(campaign, new_url, load_monday)
        for day in _until(lambda: campaign.outcome.num_kills >= num_kills):
            campaign.kill(indexes.of(day), day, indexes.expected[day], num_kills - campaign.outcome.num_kills)


def _until(is_done: Callable[[], bool]) -> Iterator[Day]:
    number = 0
    while not is_done():
        yield DAYS[number % 2]
        number += 1


@contextmanager
def reported(name: str) -> Iterator[Outcome]:
    """Count an outcome, and print it at the end."""
    outcome, started = Outcome(), time.monotonic()
    print(f"\n{name}", flush=True)
    yield outcome
    moments = ", ".join(f"{count} {moment}" for moment, count in sorted(outcome.kills.items()))
    print(f"{name}: {outcome.num_kills} kills ({moments}), {outcome.num_images} power cuts")
    print(
        f"{outcome.num_judged} indexes compared, {len(outcome.problems)} problems; {time.monotonic() - started:.0f} s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the siege. Return 1 if anything was lost, doubled or damaged."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.siege", description=__doc__.split("\n")[0])
    parser.add_argument("--sqlite-kills", type=int, default=60, metavar="N")
    parser.add_argument("--postgres-kills", type=int, default=30, metavar="N")
    parser.add_argument("--power-cuts", type=int, default=24, metavar="N")
    parser.add_argument("--documents", type=int, default=60_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--lshdb", default=default_command(), metavar="COMMAND", help="command that runs lshdb")
    parser.add_argument("--work", type=Path, help="folder for the crawl and the databases (default: a temporary one)")
    asked = parser.parse_args(arguments)
    print(f"{machine()}\n{asked.documents:,} documents, seed {asked.seed}", flush=True)
    chance, command, problems = random.Random(asked.seed), shlex.split(asked.lshdb), 0
    with tempfile.TemporaryDirectory(dir=asked.work) as folder:
        written = crawl.write(Path(folder), asked.documents)
        if asked.sqlite_kills or asked.power_cuts:
            with reported("SQLite") as outcome:
                campaign = Campaign(command, written, chance, outcome)
                besiege_sqlite(campaign, Path(folder), asked.sqlite_kills, asked.power_cuts)
            problems += len(outcome.problems)
        if asked.postgres_kills:
            with reported("Postgres") as outcome:
                besiege_postgres(Campaign(command, written, chance, outcome), asked.postgres_kills)
            problems += len(outcome.problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
