"""Ctrl-C and SIGTERM: at the two moments at which Python would lose them, and twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lshdb.index import Index
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import Counts
from lshdb.store import interrupts
from lshdb.store.store import Store
from tests.recovery.tables import contradictions, run_states


@pytest.fixture
def listening() -> Iterator[None]:
    """Handle Ctrl-C as the command line does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupts.listen()
    yield
    signal.signal(signal.SIGINT, before)
    interrupts.heard()


TWICE = """
import signal
from lshdb.store import interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupts.listen(repeat_seconds={seconds})
try:
    signal.raise_signal({number})
except KeyboardInterrupt:
    print(interrupts.last().name, flush=True)
signal.raise_signal({number})
print("goes on")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_kills_unless_it_comes_with_the_first(number: signal.Signals) -> None:
    def run(seconds: float) -> tuple[int, list[str]]:
        script = TWICE.format(seconds=seconds, number=int(number))
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout.split("\n")[:-1]

    assert run(seconds=0.0) == (-number, [number.name])
    assert run(seconds=60.0) == (0, [number.name, "goes on"])


class Dropped:
    """Interrupted in its finalizer, where exceptions are lost."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


class InterruptedInCallback(Progress):
    """Interrupt in a function called from C, after the first commit."""

    def ingested(self, counts: Counts) -> None:
        Dropped()


class InterruptedAtBegin(Progress):
    """Interrupt between the start of a transaction and its block, after the first commit."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ingested(self, counts: Counts) -> None:
        beginning = self._store.writing()
        beginning.__enter__()
        raise KeyboardInterrupt


def test_an_interrupt_that_a_callback_swallows_ends_the_run(
    listening: None, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swallowed: list[sys.UnraisableHookArgs] = []
    monkeypatch.setattr(sys, "unraisablehook", swallowed.append)
    ingest_interrupted(url, tmp_path, InterruptedInCallback())
    assert [args.exc_type for args in swallowed] == [KeyboardInterrupt]


def test_an_interrupt_at_the_begin_of_a_transaction_ends_the_run(url: str, tmp_path: Path) -> None:
    with Store.create(url, Params(), "0") as store:
        ingest_interrupted(url, tmp_path, InterruptedAtBegin(store))


def ingest_interrupted(url: str, tmp_path: Path, progress: Progress) -> None:
    """Run an ingest that is interrupted, then one that is not."""
    (tmp_path / "page.txt").write_text("one two three four five six seven")
    with Index.ensure(url, {}, progress) as index, pytest.raises(KeyboardInterrupt):
        index.ingest([tmp_path / "page.txt"])
    assert run_states(url) == ["interrupted"]
    with Index.open(url) as index:
        index.ingest([tmp_path / "page.txt"])
    assert run_states(url) == ["interrupted", "finished"]
    assert contradictions(url) == {}


# Ends only by the signal, which nearly always comes in the kernel.
IN_A_KERNEL = """
import signal, sys
import numpy as np
from lshdb.cli.app import main
from lshdb.index import Index
from lshdb.linking.jaccard import intersections
from lshdb.model.values import ShingleSets

def stats(index):
    hashes = np.random.default_rng(1).integers(0, 2**63, 1_000_000, np.uint64)
    sets, (left, right) = ShingleSets(hashes, np.arange(0, 1_000_001, 10_000)), np.triu_indices(100, 1)
    intersections(sets, left, right)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    while True:
        intersections(sets, left, right)

Index.stats = stats
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
sys.argv[1:] = ["--db", sys.argv[1], "stats"]
main()
"""


IN_AN_IMPORT = """
import signal, time
from lshdb.store import interrupts

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupts.listen()
try:
    import interrupted
    time.sleep(60)
except KeyboardInterrupt:
    print(interrupted.is_complete)
"""


def test_an_interrupt_waits_for_an_import(tmp_path: Path) -> None:
    module = "import signal\nsignal.raise_signal(signal.SIGINT)\nis_complete = True\n"
    (tmp_path / "interrupted.py").write_text(module)
    (tmp_path / "script.py").write_text(IN_AN_IMPORT)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


IN_A_START = """
import signal, time
from lshdb.store import interrupts

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupts.listen()
try:
    import interrupted
    time.sleep(0.1)
    print("started")
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_that_waited_for_an_import_waits_while_it_is_blocked(tmp_path: Path) -> None:
    # The exception is due after the next statement, so the module blocks the signals before it ends.
    block = "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})"
    module = f"import signal\nsignal.raise_signal(signal.SIGINT)\n{block}\n"
    (tmp_path / "interrupted.py").write_text(module)
    (tmp_path / "script.py").write_text(IN_A_START)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\ninterrupted\n", "")


def test_an_interrupt_in_a_kernel_is_no_defect(tmp_path: Path) -> None:
    Index.create(str(tmp_path / "i.db")).close()
    done = subprocess.run(
        [sys.executable, "-c", IN_A_KERNEL, str(tmp_path / "i.db")], stderr=subprocess.PIPE, text=True, timeout=60
    )
    assert (done.returncode, done.stderr.strip()) == (
        130,
        "lshdb: interrupted. Everything committed is kept; run the same command again to continue.",
    )


def test_an_error_of_a_kernel_is_no_interruption() -> None:
    wrapped = SystemError()
    wrapped.__cause__ = SystemError()
    assert not interrupts.is_interruption(wrapped)
    wrapped.__cause__.__cause__ = KeyboardInterrupt()
    assert interrupts.is_interruption(wrapped)
