"""A process that has imported lshdb and forks for each call, because an import takes most of the time of a call.

``python forking.py SOCKET`` serves the socket. Each client sends its arguments, folder and environment with its three
standard streams, and receives the exit status.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

# The program `lshdb` of the examples, and under any other name one that runs a Python script. It starts in 20 ms.
CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(call).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(call)
    ended = server.recv(4)
    sys.exit(int.from_bytes(ended, "big") if ended else 1)
"""


def serve(address: str) -> None:
    """Fork for each client."""
    warm_up()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The system collects the children.
        print("ready", flush=True)
        while True:
            client, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(client)
            client.close()


def warm_up() -> None:
    """Load what every call loads."""
    import lshdb.cli.app
    import lshdb.readers
    from lshdb import Document, Index, IngestOptions

    with TemporaryDirectory() as folder, Index.create(f"{folder}/index.db") as index:
        index.add([Document("a", "one two three four five six"), Document("b", "one two three four five six seven")])
        (Path(folder) / "a.txt").write_text("one two three")
        index.ingest([f"{folder}/a.txt"], IngestOptions(workers=1))
        assert not list(index.pairs(min_sim=0.9))
    assert lshdb.cli.app.main


def _answer(client: socket.socket) -> None:
    size, streams, *_ = socket.recv_fds(client, 4, 3)
    received = b""
    while len(received) < int.from_bytes(size, "big"):
        received += client.recv(65536)
    sys.argv, folder, environment = json.loads(received)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    try:
        _run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
        sys.stdout.flush()
        client.sendall(code.to_bytes(4, "big"))
        raise


def _run() -> None:
    from lshdb.cli.app import main

    if Path(sys.argv[0]).name == "lshdb":
        main()
    _, script = sys.argv
    runpy.run_path(str(Path(script).resolve()), run_name="__main__")
    sys.exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
