"""A thread that computes values ahead, and processes that call a function."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lshdb.errors import NothingToRead, WorkerLost
from lshdb.ingest.workers import Ahead, are_started, in_processes, start_early

pytestmark = pytest.mark.slow

Put = Callable[[int], None]


def twice(value: int) -> int:
    return 2 * value


def own_process(_value: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def fail(value: int) -> int:
    if value == 3:
        raise ZeroDivisionError("three")
    if value == 5:
        raise NothingToRead(path="five", reason="nothing")
    return value


def die(value: int) -> int:
    if value == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def call(function: Callable[[], int]) -> int:
    return function()


def test_values_come_in_their_order_and_then_no_more() -> None:
    with Ahead[int](lambda put: [put(value) for value in range(50)] and None, waiting=2) as ahead:
        assert [ahead.take() for _ in range(50)] == list(range(50))
        assert not ahead.ended
        assert ahead.take() is None
        assert ahead.ended


@pytest.mark.parametrize(
    ("waiting", "num_places", "expected"), [(3, 1, [0, 1, 2, 3, 4]), (4, 2, [0, 1, 2, 3]), (4, 9, [0, 1, 2])]
)
def test_no_more_is_made_than_may_wait(waiting: int, num_places: int, expected: list[int]) -> None:
    made: list[int] = []

    def make(put: Put) -> None:
        for value in range(100):
            made.append(value)
            put(value)

    with Ahead[int](make, waiting, lambda _value: num_places) as ahead:
        assert ahead.take() == 0
        time.sleep(0.2)
        assert made == expected


def test_a_value_that_does_not_come_in_time_is_none_and_comes_later() -> None:
    may_go_on = threading.Event()

    def make(put: Put) -> None:
        may_go_on.wait(20)
        put(7)

    with Ahead[int](make) as ahead:
        assert ahead.take(0.01) is None
        assert not ahead.ended
        may_go_on.set()
        assert ahead.take(20) == 7


def test_an_error_comes_after_what_was_made_before_it() -> None:
    def make(put: Put) -> None:
        put(1)
        raise ZeroDivisionError

    with Ahead[int](make) as ahead:
        assert ahead.take() == 1
        with pytest.raises(ZeroDivisionError):
            ahead.take()


def test_a_caller_that_stops_early_ends_the_thread_and_what_it_has_open() -> None:
    ended = threading.Event()

    def make(put: Put) -> None:
        try:
            for value in range(10**9):
                put(value)
        finally:
            ended.set()

    with Ahead[int](make) as ahead:
        assert ahead.take() == 0
    assert ended.is_set()


@pytest.mark.parametrize("workers", [1, 3])
def test_processes_give_what_map_gives(workers: int) -> None:
    with closing(in_processes(twice, range(100), workers)) as made:
        assert list(made) == [2 * value for value in range(100)]


def test_every_process_works() -> None:
    with closing(in_processes(own_process, range(20), 3)) as made:
        processes = set(made)
    assert len(processes) == 3
    assert os.getpid() not in processes


def test_what_is_given_is_taken_a_few_values_ahead() -> None:
    taken: list[int] = []

    def given() -> Iterator[int]:
        for value in range(100):
            taken.append(value)
            yield value

    with closing(in_processes(twice, given(), 2)) as made:
        assert next(made) == 0
        assert len(taken) == 3


def test_an_error_in_a_process_is_raised_in_its_turn() -> None:
    with closing(in_processes(fail, [1, 3], 2)) as made:
        assert next(made) == 1
        with pytest.raises(WorkerLost, match="failed: ZeroDivisionError: three"):
            next(made)
    with closing(in_processes(fail, [5], 2)) as made, pytest.raises(NothingToRead, match="five"):
        next(made)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_is_killed_is_an_error_that_says_so(workers: int) -> None:
    with closing(in_processes(die, range(10), workers)) as made, pytest.raises(WorkerLost, match="exit code -9"):
        list(made)


def test_what_cannot_be_pickled_is_made_in_this_process() -> None:
    with closing(in_processes(call, [os.getpid, lambda: os.getpid()], 2)) as made:
        elsewhere, here = made
    assert here == os.getpid() != elsewhere


def test_a_generator_that_is_closed_leaves_no_process() -> None:
    made = in_processes(own_process, range(1_000), 2)
    worker = next(made)
    made.close()
    # A killed process exists until its parent has waited for it.
    deadline = time.monotonic() + 20
    while is_alive(worker):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_processes_that_were_started_early_are_used_and_no_longer_wait(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.ingest.workers.are_compiled", lambda: True)  # whatever ran before
    start_early(2)
    assert are_started()
    with closing(in_processes(own_process, range(20), workers)) as made:
        assert len(set(made)) == workers
    assert not are_started()


def test_processes_that_nobody_uses_end_with_the_one_that_started_them() -> None:
    begin = "from lshdb.ingest import workers; workers.are_compiled = lambda: True"
    code = f"{begin}; workers.start_early(2); print(workers._early[0][0].pid)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20)
    assert done.stderr == ""
    assert not is_alive(int(done.stdout))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems start a process anew")
@pytest.mark.parametrize(("before", "kind"), [("pass", "ForkProcess"), ("import numpy", "SpawnProcess")])
def test_a_command_that_has_yet_to_begin_is_copied(before: str, kind: str) -> None:
    # With the handlers of the command, which would print an exception.
    begin = f"{before}; from lshdb.store import interrupts; interrupts.listen()"
    start = "from lshdb.ingest import workers; workers.are_compiled = lambda: True; workers.start_early(2)"
    end = "process = workers._early[0][0]; process.terminate(); process.join()"
    code = f"{begin}; {start}; {end}; print(type(process).__name__, process.exitcode)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20)
    assert (done.stdout, done.stderr) == (f"{kind} -15\n", "")


def test_a_script_without_a_guard_does_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from lshdb.ingest.workers import in_processes\nprint(list(in_processes(abs, [-1, -2], 2)))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=20)
    assert (done.stdout, done.stderr) == ("[1, 2]\n", "")
