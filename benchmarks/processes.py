"""The memory of a process and all that it started, sampled while they run."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psutil  # type: ignore[import-untyped]

from benchmarks.ingest import StepError

__all__ = ["Watched", "watch"]

SAMPLE_SECONDS: Final = 0.05
# PSS has the kernel walk all page tables, some milliseconds a process: it is taken at every tenth sample.
SAMPLES_A_PSS: Final = 10


@dataclass(frozen=True, slots=True)
class Watched:
    """One call, and the most memory that its processes had together.

    Args:
        peak_rss: the sum of their resident sets, bytes; pages that they share count once for each.
        peak_pss: the sum of their proportional shares, bytes; a shared page counts once. 0 where Linux does not say.
    """

    output: str
    seconds: float
    peak_rss: int
    peak_pss: int


def watch(command: Sequence[str]) -> Watched:
    """Runs a command to its end; its stderr passes through. Raises: StepError: it exits with another code than 0."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output)
        peak_rss, peak_pss = _peaks(process)
        seconds = time.perf_counter() - started
        output.seek(0)
        text = output.read().decode()
    if process.returncode:
        raise StepError(f"exit code {process.returncode}: {shlex.join(command)}")
    return Watched(text, seconds, peak_rss, peak_pss)


def _peaks(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Samples until the process has ended."""
    root, sample, peak_rss, peak_pss = psutil.Process(process.pid), 0, 0, 0
    while process.poll() is None:
        tree = _tree(root)
        peak_rss = max(peak_rss, sum(map(_rss, tree)))
        if sample % SAMPLES_A_PSS == 0:
            peak_pss = max(peak_pss, sum(map(_pss, tree)))
        sample += 1
        time.sleep(SAMPLE_SECONDS)
    return peak_rss, peak_pss


def _tree(root: psutil.Process) -> list[psutil.Process]:
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


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
