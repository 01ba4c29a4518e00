"""One lshdb process with all its workers, which can be killed and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import psutil  # type: ignore[import-untyped]

from benchmarks.runs.ingest import StepError
from benchmarks.siege.power import size_of

__all__ = ["Load", "run"]

# The siege runs at the lowest priority. A process that takes this long hangs.
LIMIT_SECONDS: Final = 900.0
STOP_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.005


class Load:
    """A running command in its own process group. A context manager that leaves no process behind."""

    def __init__(self, command: Sequence[str]) -> None:
        self.started = time.monotonic()
        self._command = command
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=self._errors, start_new_session=True
        )

    def __enter__(self) -> Load:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._send(signal.SIGKILL)
        self._process.wait()
        self._errors.close()

    def is_running_after(self, seconds: float) -> bool:
        """Wait for that long, and return whether the command is still running."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is None

    def has_grown(self, file: Path, size: int) -> bool:
        """Wait until a file is larger, and return True; False if the command ends before."""
        while self._process.poll() is None:
            if size_of(file) > size:
                return True
            time.sleep(POLL_SECONDS)
        return False

    def kill(self) -> bool:
        """Kill the whole group. Return False if the command had ended before."""
        self._send(signal.SIGKILL)
        return self._process.wait() == -signal.SIGKILL

    def finish(self) -> float:
        """Wait until the command succeeds, and return its seconds. Raises: StepError: it fails or hangs."""
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(LIMIT_SECONDS)
        if code != 0:
            self._errors.seek(0)
            raise StepError(f"exit code {code}: {' '.join(self._command)}\n{self._errors.read().decode()}")
        return time.monotonic() - self.started

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop all processes of the group for a while. Raises: StepError: one does not stop."""
        self._send(signal.SIGSTOP)
        try:
            self._wait_for_stop()
            yield
        finally:
            self._send(signal.SIGCONT)

    def _wait_for_stop(self) -> None:
        ends = time.monotonic() + STOP_SECONDS
        while not all(_is_idle(each) for each in self._group()):
            if time.monotonic() > ends:
                raise StepError("a process does not stop")
            time.sleep(0.001)

    def _group(self) -> list[psutil.Process]:
        root = psutil.Process(self._process.pid)
        return [root, *root.children(recursive=True)]

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def run(command: Sequence[str]) -> float:
    """Run a command to its end and return its seconds. Raises: StepError: it fails or hangs."""
    with Load(command) as load:
        return load.finish()


def _is_idle(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
    return True
