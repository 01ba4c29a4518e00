"""One Spark session for the tests of a process; they are skipped where Java is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def java() -> None:
    """Java, with options that halve the processor time of a process that ends after a few seconds."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none: apt-get install default-jre-headless")
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session with two cores in this process."""
    from lshdb.spark.engine import session

    started = session("local[2]", SETTINGS)
    yield started
    started.stop()
