"""Break off loads at random moments, resume them, and judge the result."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.runs.ingest import StepError
from benchmarks.siege.contents import Contents, contents_of, differences
from benchmarks.siege.crawl import Crawl, Day
from benchmarks.siege.load import Load, run
from benchmarks.siege.power import CUTS, Image, beside, copied, cut, size_of
from lshdb.errors import IndexFaulty, IndexMissing

__all__ = ["Campaign", "Outcome", "Undisturbed"]

MAX_KILLS: Final = 6  # of one index
MAX_IMAGES: Final = 4  # of one load
IMAGE_SECONDS: Final = 0.5  # at most, after the log has grown
SLOWER: Final = 1.1  # estimated after a load that was killed in time
FASTER: Final = 0.7  # estimated after a load that ended before the kill
SAMPLE: Final = 200  # texts that are checked after each kill
# A first load into Postgres builds some indexes last; see docs/postgres.md.
UNFINISHED: Final = frozenset({"index-missing", "key-missing"})


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The contents of an undisturbed index, and the seconds of its load."""

    contents: Contents
    seconds: float


@dataclass(slots=True)
class Outcome:
    """What happened so far.

    Attributes:
        kills: by what the killed load had committed.
        problems: everything that must not happen.
    """

    num_kills: int = 0
    num_images: int = 0
    num_judged: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class Campaign:
    """Loads of one crawl into indexes of one database.

    Args:
        command: the command of lshdb.
        crawl: the files to load.
        chance: chooses the moments.
        outcome: where everything is counted.
    """

    def __init__(self, command: Sequence[str], crawl: Crawl, chance: random.Random, outcome: Outcome) -> None:
        self._command = command
        self._crawl = crawl
        self._chance = chance
        # How long a load takes now, relative to the undisturbed one. Other programs use the machine, too.
        self._pace = 1.0
        self.outcome = outcome

    def undisturbed(self, url: str, day: Day) -> Undisturbed:
        """Load a day into an index, on Tuesday that of Monday, and return the result. Raises: StepError."""
        self._crawl.turn(day)
        seconds = run(self._ingest(url))
        print(f"  {day}, undisturbed: {seconds:.1f} s", flush=True)
        return Undisturbed(contents_of(url), seconds)

    def kill(self, url: str, day: Day, expected: Undisturbed, max_kills: int) -> None:
        """Kill loads into an index, finish the last one and judge the index."""
        self._crawl.turn(day)
        for _ in range(min(max_kills, MAX_KILLS)):
            with Load(self._ingest(url)) as load:
                load.is_running_after(self._chance.uniform(0.0, self._pace * expected.seconds))
                was_killed = load.kill()
            self._pace *= SLOWER if was_killed else FASTER
            if not was_killed:
                break
            self.outcome.num_kills += 1
            checked = self._check(url, f"{day}, killed", "--sample", str(SAMPLE), accepted=UNFINISHED)
            self.outcome.kills[_stage(checked, expected)] += 1
        self._finish(url, expected, f"{day}, killed")

    def cut_power(self, database: Path, day: Day, expected: Undisturbed, max_images: int) -> None:
        """Copy the files of a load at random moments, damage the copies, resume each and judge it."""
        self._crawl.turn(day)
        images = self._images(database, min(max_images, MAX_IMAGES))
        for image in images:
            kind = self._chance.choice(CUTS)
            what = f"{day}, {kind}: {cut(image, kind, self._chance)}"
            self.outcome.num_images += 1
            url = str(image.database)
            self._check(url, what, "--sample", str(SAMPLE))
            self._finish(url, expected, what)
            for file in image.database.parent.iterdir():
                file.unlink()

    def _images(self, database: Path, count: int) -> list[Image]:
        """Return copies of the files at moments shortly after the log has grown, while a transaction is written."""
        images: list[Image] = []
        log, size = beside(database, "-wal"), 0
        with Load(self._ingest(str(database))) as load:
            while len(images) < count and load.has_grown(log, size):
                load.is_running_after(self._chance.uniform(0.0, IMAGE_SECONDS))
                with load.stopped():
                    target = database.with_name(f"image-{self.outcome.num_images + len(images)}") / database.name
                    if (size := size_of(log)) > 0:
                        images.append(copied(database, target))
            load.kill()
        return images

    def _finish(self, url: str, expected: Undisturbed, what: str) -> None:
        """Run the load to its end, check every row, and compare the index with the undisturbed one."""
        try:
            run(self._ingest(url))
        except StepError as error:
            self._problem(what, str(error))
        self._check(url, what, "--all")
        for each in differences(expected.contents, contents_of(url)):
            self._problem(what, f"{each.table}: {each.num_lost:,} rows lost, {each.num_surplus:,} surplus")
        self.outcome.num_judged += 1
        print(f"  {what}: {len(self.outcome.problems)} problems so far", flush=True)

    def _check(self, url: str, what: str, *options: str, accepted: Set[str] = frozenset()) -> int | None:
        """Return the number of texts of an index without faults; None if it has faults, or does not exist yet."""
        check = [*self._command, "--quiet", "--db", url, "check", "--json", *options]
        done = subprocess.run(check, capture_output=True, text=True)
        if done.returncode == IndexMissing.exit_code:
            return None
        found = msgspec.json.decode(done.stdout or "{}")
        if done.returncode and not (done.returncode == IndexFaulty.exit_code and found["by_kind"].keys() <= accepted):
            self._problem(what, f"check {' '.join(options)} exits with {done.returncode}: {done.stdout}{done.stderr}")
            return None
        return int(found["contents"])

    def _ingest(self, url: str) -> list[str]:
        folder = str(self._crawl.folder)
        return [*self._command, "--quiet", "--db", url, "ingest", folder, "--prune", "--workers", "2"]

    def _problem(self, what: str, problem: str) -> None:
        self.outcome.problems.append(f"{what}: {problem}")
        print(f"  PROBLEM {what}: {problem}", flush=True)


def _stage(num_contents: int | None, expected: Undisturbed) -> str:
    if num_contents is None:
        return "before the index was created"
    if num_contents == len(expected.contents["content"]):
        return "after the last text"
    return "before the first text" if num_contents == 0 else "between texts"
