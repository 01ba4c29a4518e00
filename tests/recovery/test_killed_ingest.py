"""An ingest that is broken off, in whatever way, costs the last batch and nothing else: the next one ends as if
nothing had happened. On each database; what a run says of itself and with which exit code it ends, too."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lshdb.errors import AccessDenied, IndexMissing, StoreFailed
from tests.recovery.calls import Call, Ended, Moment, ingest, struck
from tests.recovery.conftest import Crawl, EditedCrawl
from tests.recovery.tables import contradictions, differences, missing, rows_of, run_states

# 15 kills on each database: five in each of two new indexes and of one that is updated. tests/ingest/test_resuming.py
# ends a run at every boundary.
NEW_INDEXES = 2
REFRESHED_INDEXES = 1

# Opening the index, reading the options and starting workers take this long.
STARTING_SECONDS = 0.3
# A transaction takes some 8 ms.
DELAY_SECONDS = 0.01

DISK_BYTES = 3_000_000
MORE_BYTES = 100_000_000


@pytest.mark.parametrize("seed", range(NEW_INDEXES))
def test_a_first_ingest_that_is_killed_five_times_ends_as_if_it_had_not_been(seed: int, crawl: Crawl, url: str) -> None:
    # The second index without worker processes, whose start takes most of the time of a call.
    workers = "--workers", NEW_INDEXES - seed
    kill_five_times(url, crawl, random.Random(seed), *workers)
    ingest(url, crawl.folder, *workers)
    assert differences(url, crawl.facts) == {}
    assert contradictions(url) == {}
    assert run_states(url)[-1] == "finished"
    assert missing(url) == []


@pytest.mark.parametrize("seed", range(REFRESHED_INDEXES))
def test_a_nightly_ingest_that_is_killed_five_times_ends_as_if_it_had_not_been(
    seed: int, edited_crawl: EditedCrawl, url: str
) -> None:
    edited_crawl.turn(edited_crawl.yesterday)
    ingest(url, edited_crawl.folder, "--workers", 1)
    edited_crawl.turn(edited_crawl.today)
    kill_five_times(url, edited_crawl, random.Random(seed), "--prune", "--workers", 1)
    ingest(url, edited_crawl.folder, "--prune", "--workers", 1)
    assert differences(url, edited_crawl.facts) == {}
    assert contradictions(url) == {}


@pytest.mark.sqlite
@pytest.mark.parametrize("seed", range(2))
def test_transactions_of_many_batches_are_there_or_not(seed: int, crawl: Crawl, tmp_path: Path) -> None:
    chance, url = random.Random(seed), str(tmp_path / "index.db")
    for _ in range(5):
        with Call(url, crawl.folder, "--workers", 1, load=0.15) as call:
            call.wait_for("reading")
            # The call itself and the run make a step or two, and a load takes a tenth of a second.
            call.wait_for("writing", chance.randint(1, 4))
            time.sleep(chance.uniform(0.0, 0.2))
            call.send(signal.SIGKILL)
            call.end()
        assert contradictions_if_there(url) == {}
    with Call(url, crawl.folder, "--workers", 1, load=0.15) as call:
        assert call.end().code == 0
    assert differences(url, crawl.facts) == {}
    assert contradictions(url) == {}
    assert missing(url) == []


@pytest.mark.parametrize("num_commits", [0, 5])
def test_a_worker_that_is_killed_ends_the_run_and_the_next_one_goes_on(
    num_commits: int, crawl: Crawl, url: str
) -> None:
    # Slow, because losing a worker that has finished costs nothing.
    with Call(url, crawl.folder, "--workers", 2, slow=0.1) as call:
        call.wait_for("worker", 2)
        call.wait_for("committed", 2 + num_commits)
        call.kill_worker(num_commits % 2)
        ended = call.end()
    assert ended.code == 50
    assert "A worker process ended with exit code -9. Everything committed is kept" in ended.err
    assert_broken_off(url, ended, "failed")
    assert_next_one_finishes(url, crawl)


@pytest.mark.sqlite
@pytest.mark.parametrize("moment", [Moment("worker", 0, 0.0), Moment("reading", 7, 0.0)])
def test_workers_whose_caller_is_killed_end_by_themselves(moment: Moment, crawl: Crawl, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    with Call(url, crawl.folder, "--workers", 2) as call:
        call.wait_until(moment)
        call.kill_caller()
        ended = call.end()
    assert ended.err == ""
    assert run_states(url) == ["running"]
    assert_next_one_finishes(url, crawl)


@pytest.mark.parametrize(
    ("moment", "number", "code", "said"),
    [
        # While the workers import modules and still have the default signal handler.
        (Moment("spawned", 0, 0.08), signal.SIGINT, 130, "interrupted"),
        (Moment("spawned", 0, 0.08), signal.SIGTERM, 143, "terminated"),
        (Moment("reading", 7, 0.0), signal.SIGTERM, 143, "terminated"),
        (Moment("linking", 9, 0.0), signal.SIGINT, 130, "interrupted"),
    ],
)
def test_ctrl_c_and_sigterm_end_the_run_as_interrupted_and_the_next_one_goes_on(
    moment: Moment, number: int, code: int, said: str, crawl: Crawl, url: str
) -> None:
    ended = struck(url, moment, number, crawl.folder, "--workers", 2)
    assert ended.code == code
    assert f"{said}. Everything committed is kept; run the same command again to continue." in ended.err
    assert_broken_off(url, ended, "interrupted")
    assert_next_one_finishes(url, crawl)


@pytest.mark.sqlite
def test_a_file_that_may_not_grow_ends_the_run_and_the_next_one_goes_on(crawl: Crawl, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    with Call(url, crawl.folder, "--workers", 2, file_bytes=DISK_BYTES) as call:
        ended = call.end()
    assert_store_failed(url, ended)
    assert_next_one_finishes(url, crawl)


@pytest.mark.sqlite
def test_a_full_disk_ends_the_run_and_with_more_space_the_next_one_goes_on(crawl: Crawl, small_disk: Path) -> None:
    url = str(small_disk / "index.db")
    with Call(url, crawl.folder, "--workers", 2) as call:
        ended = call.end()
    assert_store_failed(url, ended)
    with Call(url, crawl.folder, "--workers", 2) as call:
        still_full = call.end()
    assert_store_failed(url, still_full)
    mount(small_disk, f"remount,size={MORE_BYTES}")
    assert_next_one_finishes(url, crawl)


@pytest.mark.sqlite
def test_a_lock_file_that_cannot_be_opened_is_an_error_of_the_store(crawl: Crawl, tmp_path: Path) -> None:
    # As where another user owns it, but for root too.
    (tmp_path / "index.db-lock").mkdir()
    with Call(str(tmp_path / "index.db"), crawl.folder) as call:
        ended = call.end()
    assert len(ended.err.splitlines()) == 1, ended.err
    assert ended.code in {AccessDenied.exit_code, StoreFailed.exit_code}


def test_the_number_of_workers_changes_no_row(crawl: Crawl, new_url: Callable[[], str]) -> None:
    one, two, three = urls = [new_url() for _ in range(3)]
    for workers, url in enumerate(urls, start=1):
        ingest(url, crawl.folder, "--workers", workers)
    expected = rows_of(one, generations=False)
    assert len(expected["document"]) == len(crawl.facts["document"])
    assert [name for name, rows in rows_of(two, generations=False).items() if rows != expected[name]] == []
    assert [name for name, rows in rows_of(three, generations=False).items() if rows != expected[name]] == []


def kill_five_times(url: str, crawl: Crawl, chance: random.Random, *options: object) -> None:
    """Kill an ingest once while it starts, three times while it reads, and once while it links."""
    for number, moment in enumerate(moments(crawl.ended, chance)):
        ended = struck(url, moment, signal.SIGKILL, crawl.folder, *options)
        assert ended.code == -signal.SIGKILL, (moment, ended)
        # After the others, the next ingest is the first to see the index.
        if number % 2 == 1:
            assert contradictions_if_there(url) == {}, moment


def moments(undisturbed: Ended, chance: random.Random) -> Iterator[Moment]:
    """Return moments from before the first commit to the linking, none so late that the ingest might have ended."""
    yield Moment("", 0, chance.uniform(0.0, STARTING_SECONDS))
    num_steps = undisturbed.num_steps("reading") - undisturbed.num_steps("linking")
    for _ in range(3):
        # What a killed ingest has committed is missing from the steps of the next one.
        yield Moment("reading", chance.randint(0, num_steps // 6), chance.uniform(0.0, DELAY_SECONDS))
    num_steps = undisturbed.num_steps("linking")
    yield Moment("linking", chance.randint(0, num_steps // 2), chance.uniform(0.0, DELAY_SECONDS / 6))


def contradictions_if_there(url: str) -> object:
    """Return the contradictions in an index, or nothing if it does not exist yet."""
    try:
        return contradictions(url)
    except IndexMissing:
        return {}


def assert_broken_off(url: str, ended: Ended, state: str) -> None:
    """Check that a run reports its end in one line and leaves a consistent index."""
    assert len(ended.err.splitlines()) == 1, ended.err
    assert run_states(url) == [state]
    assert contradictions(url) == {}


def assert_store_failed(url: str, ended: Ended) -> None:
    """Check that a run ended because writing failed, and kept its earlier batches."""
    assert ended.code == 19, ended
    assert "The last batch was rolled back; everything committed before it is kept." in ended.err
    assert ended.stage != "linking"
    assert len(ended.err.splitlines()) == 1, ended.err
    assert contradictions(url) == {}


def assert_next_one_finishes(url: str, crawl: Crawl) -> None:
    """Check that the next call leaves the same as an undisturbed one."""
    ingest(url, crawl.folder, "--workers", 1)
    assert differences(url, crawl.facts) == {}
    assert contradictions(url) == {}
    assert run_states(url)[-1] == "finished"
    assert missing(url) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes. Only root can create one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mount(folder, f"size={DISK_BYTES}")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def mount(folder: Path, options: str) -> None:
    """Mount a file system in memory, or remount it with other options."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True)
