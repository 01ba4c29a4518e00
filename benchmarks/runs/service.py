"""Measure `lshdb serve`: questions per second, latency, memory, and the pages that are computed.

    python -m benchmarks.runs.service URL_OR_PATH [--documents 1000000] [--clients 1 4 8] [--requests 20000]

The index is one that `benchmarks.runs.growth` filled. Each client sends ``POST /v1/query`` (`k` 10) with a text of the
index in which one word is changed, and the next one when it has the answer. No text is sent twice. All clients are one
thread with plain sockets and requests made before, because it shares the cores with the service; its share of their
time is printed, and so is that of the service (and of a server of Postgres) for each question.
"""

from __future__ import annotations

import argparse
import http.client
import random
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import psutil  # type: ignore[import-untyped]

from benchmarks.runs.ingest import machine
from lshdb import Index

WARM_UP: Final = 2_000
PAGES: Final = ("/", "/clusters")
PATIENCE: Final = 60.0
MEGA: Final = 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one number of clients. Milliseconds are those of each question."""

    seconds: float
    milliseconds: np.ndarray[tuple[int], np.dtype[np.float64]]
    refused: int


def requests(url: str, documents: int, count: int) -> Iterator[bytes]:
    """Yield requests about different documents, in random order."""
    chance = random.Random(1)
    with Index.open(url, read_only=True) as index:
        for number in chance.sample(range(documents), count):
            found = index.get(f"text-{number}")
            assert found is not None, number
            words = found.text.split(" ")
            words[chance.randrange(len(words))] = "changed"
            body = msgspec.json.encode({"text": " ".join(words), "k": 10})
            head = f"Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
            yield f"POST /v1/query HTTP/1.1\r\n{head}\r\n\r\n".encode() + body


def asked(port: int, clients: int, sent: Sequence[bytes]) -> Measured:
    """Send all requests."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
    poll = select.epoll()
    begun, taken, refused = dict[int, float](), list[float](), 0
    by_number = {one.fileno(): one for one in connections}
    waiting = iter(sent)
    for one in connections:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(one, select.EPOLLIN)
        begun[one.fileno()] = time.perf_counter()
        one.sendall(next(waiting))
    started = time.perf_counter()
    while begun:
        for number, _ in poll.poll():
            one = by_number[number]
            answer = _answer(one)
            now = time.perf_counter()
            taken.append(1_000 * (now - begun.pop(number)))
            refused += not answer.startswith(b"HTTP/1.1 200")
            if (following := next(waiting, None)) is not None:
                begun[number] = now
                one.sendall(following)
    seconds = time.perf_counter() - started
    for one in connections:
        one.close()
    return Measured(seconds, np.asarray(taken), refused)


def _answer(connection: socket.socket) -> bytes:
    """Return an answer with its headers. Raises: ConnectionError: it does not come."""
    answer = b""
    while True:
        if not (block := connection.recv(65_536)):
            raise ConnectionError("the service has closed a connection")
        answer += block
        head, found, body = answer.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]):
            return answer


def visited(port: int, path: str) -> float:
    """Return the milliseconds until a page is complete. It comes from any of the processes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    started = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status == http.client.OK, (path, answer.status)
    return 1_000 * (time.perf_counter() - started)


@contextmanager
def served(url: str, workers: int) -> Iterator[tuple[psutil.Process, int]]:
    """Start a service, and yield its process and port when it answers."""
    call = [sys.executable, "-m", "lshdb", "--db", url, "serve", "--workers", str(workers), "--port"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([*call, str(port)], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                visited(port, "/healthz")
                break
            except ConnectionError:
                time.sleep(0.05)
        yield psutil.Process(process.pid), port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def processor_seconds(service: psutil.Process) -> dict[str, float]:
    """Return the processor seconds of this process, the service, and servers of Postgres on this machine."""
    groups = {
        "clients": [psutil.Process()],
        "service": service.children() or [service],
        "postgres": [one for one in psutil.process_iter() if one.name() == "postgres"],
    }
    return {name: sum(sum(one.cpu_times()[:2]) for one in group) for name, group in groups.items()}


def memory(service: psutil.Process) -> str:
    """Return the MB of memory of each process of the service, without pages of files, which all processes share."""
    rollups = [Path(f"/proc/{one.pid}/smaps_rollup").read_text() for one in service.children() or [service]]
    return " ".join(f"{int(one.partition('Pss_Anon:')[2].split()[0]) * 1_024 / MEGA:,.0f}" for one in rollups)


def report(service: psutil.Process, port: int, clients: int, sent: Sequence[bytes]) -> None:
    """Send the requests, and print a row."""
    before = processor_seconds(service)
    found = asked(port, clients, sent)
    spent = {name: seconds - before[name] for name, seconds in processor_seconds(service).items()}
    p50, p99 = np.percentile(found.milliseconds, (50, 99))
    each = "".join(f"{1_000 * spent[name] / len(sent):>9.3f}" for name in spent)
    print(
        f"{clients:>8}{len(sent) / found.seconds:>9,.0f}{p50:>8.2f}{p99:>8.2f}{found.milliseconds.max():>8.1f}"
        f"{each}{found.refused:>8}",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.service", description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--documents", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 8], metavar="N")
    parser.add_argument("--requests", type=int, default=20_000, metavar="N", help="for each number of clients")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    given = parser.parse_args(arguments)
    sent = requests(given.url, given.documents, WARM_UP + given.requests * len(given.clients))
    first = list(islice(sent, WARM_UP))
    shares = [list(islice(sent, given.requests)) for _ in given.clients]
    print(f"{machine()}\n{given.workers} processes\n", flush=True)
    with served(given.url, given.workers) as (service, port):
        for path in PAGES:
            # More visits than processes, each of which computes the page once.
            print(f"{path:12}" + " ".join(f"{visited(port, path):,.0f}" for _ in range(6)) + " ms")
        asked(port, max(given.clients), first)
        print(f"memory: {memory(service)} MB\n\n{'':>33}{'ms of processor for each':>27}")
        names = ("clients", "per s", "p50", "p99", "longest", "clients", "service", "postgres", "refused")
        print("".join(f"{name:>{width}}" for name, width in zip(names, (8, 9, 8, 8, 8, 9, 9, 9, 8), strict=True)))
        for clients, share in zip(given.clients, shares, strict=True):
            report(service, port, clients, share)
        print(f"\nmemory: {memory(service)} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
