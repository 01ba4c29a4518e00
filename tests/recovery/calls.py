"""Run `lshdb ingest`, or another verb, in a new process group that a test can watch and kill."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from dataclasses import dataclass
from threading import Timer
from types import TracebackType
from typing import Final

from tests.recovery import forked
from tests.recovery.small_batches import (
    COMMITTED,
    LINKING,
    LOAD_SECONDS,
    READING,
    REBANDING,
    SECONDS_A_CHUNK,
    SIGNAL_AT,
    WORKER,
    WRITING,
)

__all__ = ["Call", "Ended", "Moment", "ingest", "struck"]

# A call takes two or three seconds. If it hangs, it is killed and the test fails.
LIMIT_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Moment:
    """A moment: seconds after a number of steps of a stage. A step is the begin or the end of a transaction.

    Args:
        stage: ``spawned`` (the workers are being started), ``worker`` (the first one is at work), ``reading``,
            ``linking``; empty for the start of the process.
    """

    stage: str
    num_steps: int
    seconds: float


@dataclass(frozen=True)
class Ended:
    """The result of a call: exit code (negative: the signal), announcements, stderr, seconds."""

    code: int
    lines: list[str]
    err: str
    seconds: float

    @property
    def stage(self) -> str:
        """The last stage reached: ``starting``, ``reading`` or ``linking``."""
        return next((stage for stage in (LINKING, READING) if stage in self.lines), "starting")

    def num_steps(self, stage: str) -> int:
        """Return the steps since the beginning of a stage."""
        return num_steps(self.lines[self.lines.index(stage) :])


class Call:
    """One call that runs; a context manager that leaves no process behind.

    Args: limit: called in the process before it begins. slow: seconds to sleep before each chunk is made.
        load: seconds of batches that go into one transaction on SQLite. at: a moment of `reading`, `linking` or
            `rebanding` at which the call sends its own group a signal.
    """

    def __init__(
        self,
        url: str,
        *arguments: object,
        verb: str = "ingest",
        file_bytes: int | None = None,
        slow: float = 0.0,
        load: float = 0.0,
        at: tuple[Moment, signal.Signals] | None = None,
    ) -> None:
        command = ["--db", url, "--quiet", verb, *map(str, arguments)]
        environment = {SECONDS_A_CHUNK: str(slow), LOAD_SECONDS: str(load), **_trap(at)}
        self._started = time.monotonic()
        self._err = tempfile.NamedTemporaryFile()  # noqa: SIM115
        self._process, out = forked.start(command, environment, self._err.name, file_bytes)
        self._out = os.fdopen(os.dup(out.fileno()))
        out.close()
        assert self._process.pid is not None
        self._group = self._process.pid
        # Before this line, the group does not exist.
        assert self._out.readline() == "started\n"
        self._lines: list[str] = []
        self._guard = Timer(LIMIT_SECONDS, self.send, [signal.SIGKILL])
        self._guard.start()

    def __enter__(self) -> Call:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.send(signal.SIGKILL)
        self._process.join()
        self._guard.cancel()
        self._guard.join()
        self._out.close()
        self._err.close()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the group if it still exists."""
        try:
            os.killpg(self._group, number)
        except ProcessLookupError:
            return

    def kill_worker(self, which: int) -> None:
        """Kill one worker process only."""
        os.kill(self.workers[which], signal.SIGKILL)

    def kill_caller(self) -> None:
        """Kill the parent of the workers only."""
        self._process.kill()

    @property
    def workers(self) -> list[int]:
        """The ids of the worker processes started so far."""
        return [int(line.split()[1]) for line in self._lines if line.startswith(WORKER)]

    def wait_for(self, line: str, count: int = 1) -> None:
        """Wait until `count` lines have started like this, or until the call ends."""
        while sum(seen.startswith(line) for seen in self._lines) < count and self._next_line():
            pass

    def wait_until(self, moment: Moment) -> None:
        """Wait for a moment, or until the call ends."""
        if moment.stage:
            self.wait_for(moment.stage)
        num_before = num_steps(self._lines)
        while num_steps(self._lines) < num_before + moment.num_steps and self._next_line():
            pass
        time.sleep(moment.seconds)

    def end(self) -> Ended:
        """Wait for the end of the group: stdout is open while a worker lives."""
        while self._next_line():
            pass
        self._process.join()
        self._err.seek(0)
        assert self._process.exitcode is not None
        return Ended(self._process.exitcode, self._lines, self._err.read().decode(), time.monotonic() - self._started)

    def _next_line(self) -> bool:
        line = self._out.readline()
        if line:
            self._lines.append(line.strip())
        return bool(line)


def _trap(at: tuple[Moment, signal.Signals] | None) -> dict[str, str]:
    if at is None:
        return {}
    moment, number = at
    return {SIGNAL_AT: f"{moment.stage} {moment.num_steps} {moment.seconds} {int(number)}"}


def struck(url: str, moment: Moment, number: signal.Signals, *arguments: object, verb: str = "ingest") -> Ended:
    """Run a call that gets a signal at that moment, with all of its processes."""
    if moment.stage in (READING, LINKING, REBANDING):
        with Call(url, *arguments, verb=verb, at=(moment, number)) as call:
            return call.end()
    with Call(url, *arguments, verb=verb) as call:
        call.wait_until(moment)
        call.send(number)
        return call.end()


def num_steps(lines: list[str]) -> int:
    """Return how many transactions have started and ended."""
    return sum(line in (WRITING, COMMITTED) for line in lines)


def ingest(url: str, *arguments: object, verb: str = "ingest") -> Ended:
    """Run an undisturbed call, which must succeed."""
    with Call(url, *arguments, verb=verb) as call:
        ended = call.end()
    assert ended.code == 0, ended.err
    return ended
