"""What is ingested, and what an index of it says when nobody disturbs the ingest, on whichever database."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.recovery import crawls
from tests.recovery.calls import Ended, ingest
from tests.recovery.tables import Facts, facts_of

SEED = 20240506


@dataclass(frozen=True)
class Crawl:
    """A crawl that is ingested for the first time: its folder, what an index of it says, and how the call ended."""

    folder: Path
    facts: Facts
    ended: Ended


@dataclass(frozen=True)
class EditedCrawl(Crawl):
    """A crawl that an index has as it was yesterday, and is refreshed from as it is today."""

    yesterday: Path
    today: Path

    def turn(self, day: Path) -> None:
        """Makes the folder what it is on that day, down to the times of its files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(day, self.folder)


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """The crawl of the first ingests."""
    place = tmp_path_factory.mktemp("crawl")
    folder, url = place / "folder", str(place / "index.db")
    crawls.write(folder, SEED)
    ended = ingest(url, folder, "--workers", 2)
    return Crawl(folder, facts_of(url), ended)


@pytest.fixture(scope="session")
def edited_crawl(tmp_path_factory: pytest.TempPathFactory) -> EditedCrawl:
    """The crawl of the nightly ingests."""
    place = tmp_path_factory.mktemp("edited-crawl")
    folder, url = place / "folder", str(place / "index.db")
    crawls.write(folder, SEED)
    shutil.copytree(folder, place / "yesterday")
    ingest(url, folder, "--workers", 2)
    crawls.edit(folder, SEED)
    shutil.copytree(folder, place / "today")
    ended = ingest(url, folder, "--prune", "--workers", 2)
    return EditedCrawl(folder, facts_of(url), ended, place / "yesterday", place / "today")
