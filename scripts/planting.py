"""A plugin of pytest that runs tests with planted faults, each in a process of its own: for `scripts.mutants`.

The tests are imported and collected once. A forked process then runs all of them without a fault, and notes their
processor time and which functions they call. A fault is tried in a forked process too: it runs the tests that call the
function with the fault, the quickest first, until one fails.

A process that takes many times the processor time of its tests is ended: a fault that makes them endless is noticed.
Processor time, because a busy machine must not notice a fault.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Final, TypeAlias

import pytest
from _pytest.runner import runtestprotocol
from mutmut.mutation import trampoline

__all__ = ["ENVIRONMENT"]

# Names the file with the names of the faults. The results go beside it.
ENVIRONMENT: Final = "LSHDB_FAULTS"

# What a process may take beyond its tests: kernels that are loaded, a slow file system.
SPARE_SECONDS: Final = 10
TIMES: Final = 5
# For a fault that waits without end, and on a machine that does other work.
WAIT_SECONDS: Final = 900

FORKING: Final = multiprocessing.get_context("fork")

# Seconds of processor time, and the functions of the module that were called, by the name of the test.
Observed: TypeAlias = dict[str, tuple[float, list[str]]]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the tests for each fault, and write how each ended. Raises: UsageError: a test fails without a fault."""
    plan = Path(os.environ[ENVIRONMENT])
    observed = _observed(session.items)
    found = {name: _ending(name, session.items, observed) for name in json.loads(plan.read_text())}
    seconds = sum(spent for spent, _ in observed.values())
    plan.with_name("results.json").write_text(json.dumps({"faults": found, "seconds": seconds}, indent=1))
    return True


def _observed(tests: Sequence[pytest.Item]) -> Observed:
    receiving, sending = FORKING.Pipe(duplex=False)
    process = FORKING.Process(target=_in_a_folder, args=(lambda: _observe(tests, sending),))
    process.start()
    sending.close()
    try:
        return dict(receiving.recv())
    except EOFError:
        raise pytest.UsageError("a test fails without a fault") from None
    finally:
        process.join()


def _observe(tests: Sequence[pytest.Item], sending: Connection) -> None:
    called = set[str]()
    trampoline.record_trampoline_hit = lambda name, **_: called.add(name)
    trampoline.set_mutant_under_test("stats")
    found = {}
    for test, following in pairwise([*tests, None]):
        called.clear()
        started = process_time()
        if failed := _failed(test, following):
            sys.exit(f"{test.nodeid} fails without a fault\n{failed[0].longreprtext}")
        found[test.nodeid] = (process_time() - started, sorted(called))
    sending.send(found)


def _ending(name: str, tests: Sequence[pytest.Item], observed: Observed) -> str:
    """Return "no tests", "survived", "killed" or "timeout"."""
    function = name.rpartition("__mutmut_")[0]
    calling = [test for test in tests if function in observed[test.nodeid][1]]
    if not calling:
        return "no tests"
    calling.sort(key=lambda test: observed[test.nodeid][0])
    seconds = SPARE_SECONDS + TIMES * sum(observed[test.nodeid][0] for test in calling)
    process = FORKING.Process(target=_in_a_folder, args=(lambda: _plant(name, calling, int(seconds)),))
    process.start()
    process.join(WAIT_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    return {0: "survived", 1: "killed"}.get(process.exitcode or 0, "timeout")


def _plant(name: str, tests: Sequence[pytest.Item], seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    trampoline.set_mutant_under_test(name)
    if any(_failed(test, following) for test, following in pairwise([*tests, None])):
        sys.exit(1)


def _failed(test: pytest.Item, following: pytest.Item | None) -> list[pytest.TestReport]:
    return [report for report in runtestprotocol(test, log=False, nextitem=following) if report.failed]


def _in_a_folder(work: Callable[[], None]) -> None:
    """Do the work of a forked process, with temporary files that end with it."""
    folder = Path(os.environ[ENVIRONMENT]).with_name(f"temporary-{os.getpid()}")
    folder.mkdir()
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
    try:
        work()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
