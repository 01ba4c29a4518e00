"""The page is generated from the records only."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.page import page
from benchmarks.page.records import (
    IncrementalRecord,
    PeerRecord,
    QueryRecord,
    ScaleRecord,
    StorageRecord,
    machine_record,
    write,
)
from benchmarks.peers.answers import Quality, Stretch
from benchmarks.runs.scale import exponent

COMMAND = "python -m benchmarks all corpus.jsonl"


def peer(name: str, seconds: float, **others: object) -> PeerRecord:
    stretches = [Stretch(0.8, 0.9, 4, 3), Stretch(0.9, 1.0, 0, 0)]
    figures: dict[str, object] = {
        "question": "peers",
        "workers": 1,
        "corpus": "corpus.jsonl",
        "documents": 1_000,
        "text_bytes": 10_000_000,
        "min_sim": 0.8,
        "num_true": 4,
        "true_redundant": 2,
        "cpu_seconds": seconds,
        "peak_bytes": 30_000_000,
        "disk_bytes": 5_000_000,
        "survives": True,
        "found": Quality(num_pairs=6, recall=0.75, precision=0.5, num_redundant=3, stretches=stretches),
    }
    return PeerRecord(command=COMMAND, peer=name, seconds=seconds, **{**figures, **others})


def scale(documents: int, seconds: float) -> ScaleRecord:
    return ScaleRecord(
        command=COMMAND,
        corpus="synthetic",
        documents=documents,
        text_bytes=documents * 550,
        workers=2,
        read_seconds=0.5,
        ingest_seconds=seconds,
        ingest_cpu_seconds=seconds,
        link_seconds=seconds / 10,
        link_cpu_seconds=seconds / 10,
        num_pairs=documents // 20,
        database_bytes=documents * 1_000,
        peak_bytes=100_000_000,
        query_p50=1.0,
        query_p99=2.0,
    )


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """One record of each kind, and three of peers: a slower one, a faster one, and one that failed."""
    folder = tmp_path / "results"
    more = IncrementalRecord(
        command=COMMAND,
        peer="lshdb, SQLite",
        corpus="corpus.jsonl",
        documents=1_000,
        added=10,
        whole_seconds=5.0,
        base_seconds=4.9,
        seconds=0.5,
        cpu_seconds=0.4,
        dupes_seconds=0.2,
        same_pairs=True,
    )
    weighed = StorageRecord(
        command=COMMAND,
        store="SQLite",
        keeps_text=False,
        corpus="corpus.jsonl",
        documents=1_000,
        text_bytes=10_000_000,
        table_bytes={"content": 400_000, "band_bucket": 500_000},
        total_bytes=1_000_000,
    )
    asked = QueryRecord(
        command=COMMAND,
        peer="datasketch, in memory",
        documents=1_000,
        num_queries=100,
        opening_seconds=3.0,
        cpu=0.2,
        p50=0.25,
        p99=0.5,
        longest=0.75,
        peak_bytes=70_000_000,
    )
    peers = [
        peer("lshdb, SQLite", 5.0),
        peer("rensa", 2.5, num_runs=3),
        peer("gaoya", 0.0, found=None, failure="not installed"),
    ]
    curves = [peer("rensa", 2.5, question="quality")]
    sizes = [scale(1_000, 1.0), scale(10_000, 10.0)]
    for record in (machine_record(COMMAND), *peers, *curves, *sizes, more, weighed, asked):
        write(folder, record)
    return folder


def test_every_record_is_on_the_page(results: Path, tmp_path: Path) -> None:
    text = page.write(results, tmp_path / "docs").read_text()
    assert "| rensa | 1 | 3 | 2.5 | 0.50 | 2.5 | 4.0 | 30 | 5.0 | on disk | 6 | 0.7500 | 0.5000 | 3 |" in text
    assert "| gaoya | 1 | no result: not installed |" in text
    assert "- less time: rensa (1)\n" in text
    assert "| rensa | 0.7500 |  |" in text
    assert "| ingest | 1.00 |" in text
    assert "| lshdb, SQLite: add 10 to 990 and link | 0.5 | 1.0 |" in text
    assert "| rensa: process all 1,000 | 2.5 | 5.0 |" in text
    assert "| SQLite, without texts | 400 | 500 | 100 | 1,000 |" in text
    assert "| datasketch, in memory | 3.00 | 0.20 | 0.25 | 0.50 | 0.8 | 70 |" in text
    assert text.count(f"    {COMMAND}\n") == 1


def test_a_peer_that_was_measured_again_keeps_its_row(results: Path, tmp_path: Path) -> None:
    write(results, peer("lshdb, SQLite", 4.0, measured="2999-01-01T00:00:00+00:00"))
    text = page.write(results, tmp_path / "docs").read_text()
    assert text.index("| lshdb, SQLite | 1 | 1 | 4.0 | 1.00 |") < text.index("| rensa | 1 | 3 | 2.5 |")


def test_the_figures_of_the_page_are_there_and_the_same_records_give_the_same_bytes(
    results: Path, tmp_path: Path
) -> None:
    page.write(results, tmp_path / "one")
    page.write(results, tmp_path / "other")
    names = ("peers.svg", "quality.svg", "query.svg", "scale.svg")
    assert sorted(path.name for path in (tmp_path / "one" / "figures").iterdir()) == list(names)
    for name in ("benchmarks.md", *(f"figures/{name}" for name in names)):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_two_runs_are_compared_figure_by_figure(results: Path, tmp_path: Path) -> None:
    second = tmp_path / "second"
    write(second, peer("lshdb, SQLite", 5.5))
    write(second, peer("rensa", 2.0))
    text = page.write(results, tmp_path / "docs", second).read_text()
    assert "| wall time | 2 | 0.95 | 0.80 | 1.10 |" in text
    assert "The answers are the same in 2 of 2 runs." in text


def test_what_was_not_measured_has_no_section(tmp_path: Path) -> None:
    write(tmp_path / "results", scale(1_000, 1.0))
    text = page.write(tmp_path / "results", tmp_path / "docs").read_text()
    assert "## As the corpus grows" in text
    assert "## Disk space" not in text
    assert "exponent" not in text


def test_an_exponent_is_the_slope_of_the_logarithms() -> None:
    assert exponent([10, 100, 1_000], [2.0, 200.0, 20_000.0]) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="two sizes"):
        exponent([10, 10], [1.0, 2.0])
