"""Measure the memory and processor time of a process and its descendants."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Final

import psutil  # type: ignore[import-untyped]

from benchmarks.runs.ingest import StepError

__all__ = ["Watched", "cpu_of_servers", "watch"]

# Finding all processes takes a few milliseconds of a core, which the measured program may need.
SAMPLE_SECONDS: Final = 0.1
# For PSS the kernel walks all page tables, which takes milliseconds per process. Every fourth sample includes it.
SAMPLES_A_PSS: Final = 4
SHOWN_BYTES: Final = 2_000  # shown from the end of the stderr of a failed process


@dataclass(frozen=True, slots=True)
class Watched:
    """The output, time and peak memory of a process and its descendants.

    Args:
        cpu_seconds: processor time of all of them, and of the servers in the meantime.
        peak_rss: largest sum of their resident sets in bytes. Shared pages count once for each process.
        peak_pss: largest sum of their proportional sets in bytes. Shared pages count once. 0 if unavailable.
    """

    output: str
    seconds: float
    cpu_seconds: float
    peak_rss: int
    peak_pss: int


@dataclass(slots=True)
class Samples:
    """The peaks so far, and the processor seconds of each process."""

    peak_rss: int = 0
    peak_pss: int = 0
    cpu_seconds: dict[int, float] = field(default_factory=dict)


def watch(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    servers: Sequence[int] = (),
    timeout: float | None = None,
    quiet: bool = False,
) -> Watched:
    """Run a command and measure it.

    Args:
        environment: additional environment variables.
        servers: ids of running servers that the command uses. Their memory and time are included.
        timeout: seconds after which the command is killed.
        quiet: hide its stderr, except for the end if it fails.

    Raises:
        StepError: The exit code is not 0, or the command was killed.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        before, started = _cpu_of_children() + cpu_of_servers(servers), time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=errors if quiet else None, env={**os.environ, **(environment or {})}
        )
        try:
            samples = _sampled(process, servers, timeout)
        finally:
            _stop(process)
        seconds = time.perf_counter() - started
        # Descendants that nobody waited for are only in the samples.
        of_servers = cpu_of_servers(servers)
        counted = max(_cpu_of_children() + of_servers - before, sum(samples.cpu_seconds.values()))
        if process.returncode:
            raise StepError(f"exit code {process.returncode}: {shlex.join(command)}{_end_of(errors)}")
        return Watched(_text_of(output), seconds, counted, samples.peak_rss, samples.peak_pss)


def _sampled(process: subprocess.Popen[bytes], servers: Sequence[int], timeout: float | None) -> Samples:
    """Take samples until the process has ended. Raises: StepError: it took too long."""
    root, samples, number = psutil.Process(process.pid), Samples(), 0
    ends = time.perf_counter() + (timeout or float("inf"))
    while process.poll() is None:
        own = _tree(root)
        tree = own + [each for server in servers for each in _tree(psutil.Process(server))]
        samples.peak_rss = max(samples.peak_rss, sum(map(_rss, tree)))
        samples.cpu_seconds |= {each.pid: _cpu(each) for each in own}
        if number % SAMPLES_A_PSS == 0:
            samples.peak_pss = max(samples.peak_pss, sum(map(_pss, tree)))
        number += 1
        if time.perf_counter() > ends:
            raise StepError(f"no result after {timeout:g} s")
        time.sleep(SAMPLE_SECONDS)
    return samples


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its descendants if it is still running."""
    if process.poll() is None:
        for each in _tree(psutil.Process(process.pid)):
            with suppress(psutil.NoSuchProcess):
                each.kill()
        process.wait()


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _end_of(errors: IO[bytes]) -> str:
    text = _text_of(errors)[-SHOWN_BYTES:].strip()
    return f"\n{text}" if text else ""


def _cpu_of_children() -> float:
    """Return the processor seconds of the children that have ended and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_of_servers(servers: Sequence[int]) -> float:
    """Return the processor seconds of the servers and their processes, including those that have ended."""
    total = 0.0
    for server in map(psutil.Process, servers):
        times = server.cpu_times()
        total += times.children_user + times.children_system + sum(map(_cpu, _tree(server)))
    return total


def _tree(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _rss(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _pss(process: psutil.Process) -> int:
    try:
        return int(getattr(process.memory_full_info(), "pss", 0))
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
