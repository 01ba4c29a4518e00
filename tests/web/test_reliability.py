"""A service outlives its processes, its database's sessions, and kill -9 in the middle of writes."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from lshdb import Client, Document, Index, LshdbError, Thoroughness
from lshdb.web.options import ServeOptions
from tests.web.conftest import OTHER, TEN, serving
from tests.web.test_service import free_port, health

pytestmark = pytest.mark.slow

# Two processes that answer each connection with their number.
WORKERS = """
import os, signal, socket, sys
from lshdb.web.workers import supervise

# Tests that run under nohup or in the background of a shell pass on that these are ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

def work():
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1])), reuse_port=True)
    while True:
        with listening.accept()[0] as connection:
            connection.sendall(str(os.getpid()).encode())

supervise(2, work, min_seconds=0)
"""


def answering(port: int) -> set[int]:
    """Return the processes that answer 100 connections."""
    found = set()
    for _ in range(100):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                found.add(int(connection.recv(20)))
        except (OSError, ValueError):
            time.sleep(0.02)  # Not listening yet, or the connection was that of a killed process.
    return found


def is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    except ConnectionResetError:
        return True  # It ends now.
    return True


@pytest.mark.sqlite
def test_a_killed_process_is_replaced_while_the_other_answers() -> None:
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", WORKERS, str(port)]) as service:
        try:
            deadline = time.monotonic() + 30
            while len(before := answering(port)) < 2 and time.monotonic() < deadline:
                pass
            killed, other = sorted(before)
            os.kill(killed, signal.SIGKILL)
            while len(after := answering(port)) < 2 and time.monotonic() < deadline:
                pass
            assert other in after
            assert killed not in after
            assert len(after) == 2
        finally:
            service.send_signal(signal.SIGINT)


@pytest.mark.sqlite
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_no_process_outlives_the_one_that_started_it(number: int) -> None:
    port, deadline = free_port(), time.monotonic() + 30
    with subprocess.Popen([sys.executable, "-c", WORKERS, str(port)], start_new_session=True) as service:
        try:
            while len(answering(port)) < 2 and time.monotonic() < deadline:
                pass
            service.send_signal(number)
            while (listens := is_listening(port)) and time.monotonic() < deadline:
                pass
            assert not listens
        finally:
            with suppress(ProcessLookupError):
                os.killpg(service.pid, signal.SIGKILL)


def test_what_was_acknowledged_is_there_after_a_kill_in_the_middle_of_writes(filled: str) -> None:
    port, added, lock = free_port(), list[str](), threading.Lock()
    command = [sys.executable, "-m", "lshdb", "--db", filled, "serve", "--writable", "--port", str(port)]

    def write(writer: int) -> None:
        client, chance = Client(f"http://127.0.0.1:{port}"), random.Random(writer)
        while True:
            doc_id = f"{writer} {chance.random()}"
            try:
                client.put(Document(doc_id, f"{TEN} {doc_id}"))
            except LshdbError:
                return
            with lock:
                added.append(doc_id)

    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as service, ThreadPoolExecutor(3) as pool:
        assert health(port) == 200
        writers = [pool.submit(write, writer) for writer in range(3)]
        while len(added) < 30:
            time.sleep(0.01)
        service.kill()
        for one in writers:
            one.result()
    with Index.open(filled) as index:
        assert [doc_id for doc_id in added if doc_id not in index] == []
        # Each writer may have added one more document, whose answer did not arrive.
        assert len(added) + 4 <= len(index) <= len(added) + 7
        assert list(index.check(Thoroughness(sample=None))) == []


@pytest.mark.postgres
def test_a_service_connects_again_after_the_database_ended_its_sessions(
    new_postgres_url: Callable[[], str], postgres_server: str
) -> None:
    url = new_postgres_url()
    with Index.create(url) as index:
        index.add([Document("a", TEN)])
    with serving(url, ServeOptions(writable=True)) as service, Client(service.address) as client:
        # What the service computes at its start would be interrupted.
        assert service("GET", "/").status == 200
        for number in range(3):
            # As a restart does.
            with psycopg.connect(postgres_server, autocommit=True) as session:
                ended = session.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                ).fetchone()
            assert ended is not None
            assert ended[0] > 0
            assert [match.id for match in client.query(Document("?", TEN))] == ["a"]
            assert client.put(Document(f"b{number}", f"{OTHER} {number}")).outcome == "added"
    with Index.open(url) as index:
        assert len(index) == 4
