"""Fixtures: crawls, and the contents of an index after an undisturbed ingest, on each database."""

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
    """A crawl for a first ingest: its folder, the expected contents of the index, and the result of the call."""

    folder: Path
    facts: Facts
    ended: Ended


@dataclass(frozen=True)
class EditedCrawl(Crawl):
    """A crawl that changed since yesterday, when the index was built."""

    yesterday: Path
    today: Path

    def turn(self, day: Path) -> None:
        """Restore the folder of that day, including the times of its files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(day, self.folder)


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """The crawl of the first ingests."""
    place = tmp_path_factory.mktemp("crawl")
    folder, url = place / "folder", str(place / "index.db")
    crawls.write(folder, SEED)
    ended = ingest(url, folder, "--workers", 1)
    return Crawl(folder, facts_of(url), ended)


@pytest.fixture(scope="session")
def edited_crawl(tmp_path_factory: pytest.TempPathFactory) -> EditedCrawl:
    """The crawl of the nightly ingests."""
    place = tmp_path_factory.mktemp("edited-crawl")
    folder, url = place / "folder", str(place / "index.db")
    crawls.write(folder, SEED)
    shutil.copytree(folder, place / "yesterday")
    ingest(url, folder, "--workers", 1)
    crawls.edit(folder, SEED)
    shutil.copytree(folder, place / "today")
    ended = ingest(url, folder, "--prune", "--workers", 1)
    return EditedCrawl(folder, facts_of(url), ended, place / "yesterday", place / "today")
