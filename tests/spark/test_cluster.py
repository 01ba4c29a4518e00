"""On a cluster of several processes, one of which is killed, the result is that of one process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lshdb import Index
from lshdb.model.expansion import EXPANSION
from tests.stages.crawl import ingested, rows_of, write_crawl

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
ARGUMENTS = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")

# Calls lshdb in a process of its own, because a process has one Spark session.
CALL = """
import sys
from lshdb.cli.app import main
sys.argv = ["lshdb", *sys.argv[1:]]
main()
"""


@contextmanager
def running(log: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a part of the cluster in a process group of its own."""
    import pyspark

    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), name, *ARGUMENTS, *arguments]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
        try:
            yield process
        finally:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a part of the cluster with its executors."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def said(log: Path, pattern: str, seconds: float = 900) -> str:
    """Wait until a log says something."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if match := re.search(pattern, log.read_text() if log.exists() else ""):
            return match[0]
        time.sleep(0.1)
    raise TimeoutError(f"{log} does not say {pattern}")


def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    write_crawl(tmp_path / "crawl")
    with ExitStack() as cluster:
        cluster.enter_context(running(tmp_path / "master.log", MASTER))
        url = said(tmp_path / "master.log", r"spark://127\.0\.0\.1:\d+")
        each = ("--cores", "1", "--memory", "600m", "--work-dir", str(tmp_path / "spark"))
        workers = [
            cluster.enter_context(running(tmp_path / f"worker{number}.log", WORKER, *each, url)) for number in (1, 2)
        ]
        for number in (1, 2):
            said(tmp_path / f"worker{number}.log", "Successfully registered with master")
        settings = {
            "spark.executor.memory": "500m",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "4",
            "spark.ui.enabled": "false",
        }
        conf = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        call = ["spark", "--work", str(tmp_path / "work"), "--master", url, *conf, str(tmp_path / "crawl")]
        with (tmp_path / "call.log").open("wb") as out:
            caller = subprocess.Popen(
                [sys.executable, "-c", CALL, *call], stdout=out, stderr=out, start_new_session=True
            )
            cluster.callback(kill, caller)
            said(tmp_path / "call.log", "stage occurrences")
            kill(workers[0])
            assert caller.wait(600) == 0, (tmp_path / "call.log").read_text()[-2_000:]
    assert workers[1].returncode == -signal.SIGKILL
    with ingested(str(tmp_path / "ingested.db"), [tmp_path / "crawl"], expansion=EXPANSION) as index:
        expected = rows_of(index)
    loading = [sys.executable, "-c", CALL, "--db", str(tmp_path / "loaded.db"), "load", str(tmp_path / "work")]
    done = subprocess.run(loading, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("rejected")) == (0, 5)
    with Index.open(str(tmp_path / "loaded.db")) as index:
        assert rows_of(index) == expected
