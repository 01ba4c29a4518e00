"""Start a call in a process that is forked from one that has imported lshdb, because the imports take most of the time
of a call."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import resource
import runpy
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Final

__all__ = ["start"]

PROGRAM: Final = "tests.recovery.small_batches"

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(["tests.recovery.preloaded"])


def start(
    arguments: Sequence[str], environment: Mapping[str, str], err: str, file_bytes: int | None
) -> tuple[ForkServerProcess, Connection]:
    """Start a call that leads a process group.

    Args: err: the path of its stderr. file_bytes: the largest file that it may write.
    Returns: the process, and its stdout.
    """
    reader, writer = _forking.Pipe(duplex=False)
    process = _forking.Process(target=_run, args=(arguments, {**os.environ, **environment}, writer, err, file_bytes))
    process.start()
    writer.close()
    return process, reader


def _run(
    arguments: Sequence[str], environment: Mapping[str, str], out: Connection, err: str, file_bytes: int | None
) -> None:
    os.setsid()
    _redirect(out.fileno(), 1)
    _redirect(os.open(err, os.O_WRONLY | os.O_APPEND), 2)
    os.environ.update(environment)
    sys.argv = [PROGRAM, *arguments]
    if file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    os.write(1, b"started\n")
    try:
        runpy.run_module(PROGRAM, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()


def _redirect(opened: int, stream: int) -> None:
    os.dup2(opened, stream)
    os.close(opened)
