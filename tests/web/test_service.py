"""The command ``lshdb serve``: its processes, its end, and what keeps it from beginning."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

from lshdb import UsageError, WorkerLost
from lshdb.web.options import ServeOptions
from lshdb.web.service import serve
from lshdb.web.workers import supervise

pytestmark = [pytest.mark.sqlite, pytest.mark.slow]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def health(port: int) -> int:
    """Return the status of a service, as soon as it answers."""
    deadline = time.monotonic() + 60
    while True:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        finally:
            connection.close()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_ends_the_service_in_order(sqlite_url: str, workers: str) -> None:
    port = free_port()
    command = [sys.executable, "-m", "lshdb", "--db", sqlite_url, "serve", "--port", str(port), "--workers", workers]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert health(port) == 200
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, f"read-only at http://127.0.0.1:{port}/\n")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_an_address_in_use_and_a_missing_index_are_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        with pytest.raises(UsageError, match=f"cannot listen at 127.0.0.1, port {port}: Address already in use"):
            serve(str(tmp_path / "none.db"), ServeOptions(port=port), print)


def test_a_host_that_cannot_be_a_name_is_one_line(tmp_path: Path) -> None:
    for host in ("a..b", "x" * 64, "é" * 64):
        with pytest.raises(UsageError, match="cannot listen at"):
            serve(str(tmp_path / "none.db"), ServeOptions(host=host, token="a" * 16), print)


def test_a_process_that_dies_at_once_ends_the_service() -> None:
    with pytest.raises(WorkerLost, match="ended soon after it began, with status 1"):
        supervise(2, lambda: sys.exit(1))


def test_a_signal_that_comes_before_a_process_works_ends_that_process(monkeypatch: pytest.MonkeyPatch) -> None:
    fork = os.fork

    def signalled() -> int:
        if not (pid := fork()):
            os.kill(os.getpid(), signal.SIGTERM)
        return pid

    monkeypatch.setattr(os, "fork", signalled)
    before = signal.signal(signal.SIGTERM, lambda *_: os._exit(3))  # must not run in the new process
    try:
        with pytest.raises(WorkerLost, match=f"ended soon after it began, with status -{signal.SIGTERM:d}"):
            supervise(1, lambda: None)
    finally:
        signal.signal(signal.SIGTERM, before)
