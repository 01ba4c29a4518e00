"""The figures of docs/benchmarks.md, as SVG. The same records give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.page.records import PeerRecord, QueryRecord, ScaleRecord
from benchmarks.peers.protocol import BANDS, ROWS

__all__ = ["curves", "growth", "latencies", "times"]

WIDTH: Final = 8.0
OURS: Final = "C0"
THEIRS: Final = "0.6"
STEPS: Final = 100


def times(records: Sequence[PeerRecord], path: Path) -> None:
    """Plot the seconds from the file to the duplicates, fastest first, with the processor time."""
    done = sorted((record for record in records if record.found), key=lambda record: record.seconds, reverse=True)
    figure, axes = _figure(0.35 * len(done) + 1)
    names = [f"{record.peer} ({record.workers})" for record in done]
    colours = [OURS if record.peer.startswith("lshdb") else THEIRS for record in done]
    axes.barh(names, [record.seconds for record in done], color=colours)
    axes.plot([record.cpu_seconds for record in done], range(len(done)), "k|", markersize=12, label="processor time")
    axes.set_xlabel("seconds from the file to the list of duplicates (processes)")
    axes.legend(loc="upper right")
    _save(figure, path)


def curves(records: Sequence[PeerRecord], path: Path) -> None:
    """Plot the share of true pairs of each similarity that become candidates, and the formula."""
    figure, axes = _figure(5.0)
    similarities = [step / STEPS for step in range(30, STEPS + 1)]
    expected = [1 - (1 - similarity**ROWS) ** BANDS for similarity in similarities]
    axes.plot(similarities, expected, color="black", linewidth=3, alpha=0.3, label=f"1 - (1 - s^{ROWS})^{BANDS}")
    for record in records:
        if record.found:
            filled = [stretch for stretch in record.found.stretches if stretch.num_true]
            middles = [(stretch.low + stretch.high) / 2 for stretch in filled]
            shares = [stretch.num_found / stretch.num_true for stretch in filled]
            axes.plot(middles, shares, marker=".", linewidth=1, label=record.peer)
    axes.set(xlabel="exact Jaccard similarity of a pair", ylabel="share that is found", ylim=(0, 1.02))
    axes.legend(loc="lower right", fontsize="small")
    _save(figure, path)


def growth(groups: Sequence[Sequence[ScaleRecord]], path: Path) -> None:
    """Plot the seconds of ingest and link by the number of documents, on logarithmic axes. A group is a corpus."""
    figure, axes = _figure(4.5)
    for records in groups:
        sizes, corpus = [record.documents for record in records], records[0].corpus
        axes.loglog(sizes, [record.ingest_seconds for record in records], marker="o", label=f"ingest, {corpus}")
        axes.loglog(sizes, [record.link_seconds for record in records], marker="^", label=f"link, {corpus}")
    axes.set(xlabel="documents", ylabel="seconds")
    axes.legend()
    _save(figure, path)


def latencies(groups: Sequence[Sequence[ScaleRecord]], asked: Sequence[QueryRecord], path: Path) -> None:
    """Plot the milliseconds of a query by the number of documents, for lshdb and datasketch."""
    figure, axes = _figure(4.5)
    for number, records in enumerate(groups):
        sizes, corpus = [record.documents for record in records], records[0].corpus
        for marker, name in (("o", "p50"), ("^", "p99")):
            values = [record.query_p50 if name == "p50" else record.query_p99 for record in records]
            label = f"lshdb, SQLite, {corpus}, {name}"
            axes.semilogx(sizes, values, marker=marker, color=f"C{number}", label=label)
    for record in asked:
        if not record.peer.startswith("lshdb"):
            axes.plot([record.documents], [record.p50], "ko", label=f"{record.peer}, p50")
            axes.plot([record.documents], [record.p99], "k^", label=f"{record.peer}, p99")
    axes.set(xlabel="documents", ylabel="milliseconds", ylim=(0, None))
    axes.legend()
    _save(figure, path)


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "lshdb"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
