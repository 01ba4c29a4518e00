"""The simulation of a pipeline, where its seconds can be told by hand."""

from __future__ import annotations

import pytest

from benchmarks.runs.pipeline import Chunk, simulated


@pytest.mark.parametrize(
    ("chunk", "cores", "workers", "batch", "seconds"),
    [
        pytest.param(Chunk(0, 3, 1), 2, 1, 1, 301, id="one worker: it never waits for the writer"),
        pytest.param(Chunk(0, 3, 1), 8, 3, 1, 103, id="as many workers as the writer needs"),
        pytest.param(Chunk(0, 3, 1), 64, 64, 1, 103, id="more workers than the writer needs"),
        pytest.param(Chunk(2, 3, 1), 64, 64, 1, 204, id="the reader is the slowest"),
        pytest.param(Chunk(0, 3, 1), 8, 4, 100, 175, id="one batch is written after all is made"),
        pytest.param(Chunk(0, 3, 0), 1, 4, 1, 300, id="four workers share a core"),
        pytest.param(Chunk(0, 3, 0, cores=2), 4, 4, 1, 150, id="each worker keeps two cores busy"),
    ],
)
def test_the_seconds_of_100_equal_chunks(chunk: Chunk, cores: int, workers: int, batch: int, seconds: float) -> None:
    assert simulated([chunk] * 100, cores, workers, batch) == pytest.approx(seconds)


def test_a_slow_chunk_holds_up_those_behind_it() -> None:
    # The window of two workers ends three chunks after the slow one; the others are made when it is done.
    chunks = [Chunk(0, 10, 0), *[Chunk(0, 1, 0)] * 8]
    assert simulated(chunks, cores=2, workers=2, batch=1) == pytest.approx(10 + 3)


def test_a_wider_window_lets_the_others_go_on() -> None:
    chunks = [Chunk(0, 10, 0), *[Chunk(0, 1, 0)] * 8]
    assert simulated(chunks, cores=2, workers=2, batch=1, ahead=8) == pytest.approx(10)


def test_a_slow_writer_holds_up_the_workers() -> None:
    chunks = [Chunk(0, 1, 5)] * 40
    assert simulated(chunks, cores=5, workers=4, batch=1) == pytest.approx(1 + 40 * 5)
