"""The tables of docs/benchmarks.md that compare lshdb with its peers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from benchmarks.page.records import PeerRecord
from benchmarks.page.tables import megabytes, table
from benchmarks.peers.answers import Quality
from benchmarks.peers.comparison import ENTRIES, REPEATED_SECONDS
from benchmarks.peers.protocol import BANDS, ROWS

MODULES: Final = Path(__file__).parents[1] / "peers"


def in_order(records: Sequence[PeerRecord]) -> list[PeerRecord]:
    """Return the records in the order of ENTRIES, also if one peer was measured again later."""
    places = {(entry.name, entry.workers): place for place, entry in enumerate(ENTRIES)}
    return sorted(records, key=lambda record: places.get((record.peer, record.workers), len(places)))


def corpus(record: PeerRecord) -> str:
    """Describe the corpus and the columns of the table."""
    return (
        f"`{record.corpus}` has {record.documents:,} real texts, {megabytes(record.text_bytes)} MB. Brute force finds "
        f"{record.num_true:,} pairs at {record.min_sim:g} or above. If one document of each group is kept, "
        f"{record.true_redundant:,} are redundant.\n\n"
        "- **Runs**: the tools ran in rounds, one after the other. The figures of a tool are those of its run with the "
        f"median time. Tools that take longer than {REPEATED_SECONDS:g} seconds ran once.\n"
        "- **Relative** is the time relative to the first row.\n"
        "- **As documented**: the tool receives strings and hashes them itself, as its documentation shows. In its "
        "other row, it receives hashes from NumPy code of ours, the fastest that we know in Python.\n"
        "- **Memory** is the sum of all processes (PSS), including Postgres.\n"
        f"- **Precision** counts every listed pair below {record.min_sim:g} as wrong. Only lshdb computes "
        "similarities. The other tools list candidates, or clusters of candidates."
    )


def peers(records: Sequence[PeerRecord]) -> str:
    """Return the table of all peers, each with its figures or the reason why it has none."""
    header = ("tool", "processes", "runs", "s", "relative", "CPU s", "MB/s", "peak MB", "MB on disk", "result")
    first = next((record.seconds for record in records if record.found), 0.0)
    rows = (_peer_row(record, first) for record in records)
    return table((*header, "pairs", "recall", "precision", "redundant"), rows)


def _peer_row(record: PeerRecord, first: float) -> list[str]:
    if record.found is None:
        reason = record.failure.splitlines()[-1][:120].replace("|", "/")
        return [record.peer, str(record.workers), f"no result: {reason}", *[""] * 11]
    return [
        record.peer,
        str(record.workers),
        str(record.num_runs),
        f"{record.seconds:.1f}",
        f"{record.seconds / first:.2f}",
        f"{record.cpu_seconds:.1f}",
        f"{record.text_bytes / 1e6 / record.seconds:.1f}",
        megabytes(record.peak_bytes),
        megabytes(record.disk_bytes) if record.survives else "0",
        "on disk" if record.survives else "in memory",
        f"{record.found.num_pairs:,}",
        f"{record.found.recall:.4f}",
        f"{record.found.precision:.4f}",
        f"{record.found.num_redundant:,}",
    ]


def unflattering(records: Sequence[PeerRecord]) -> str:
    """List the peers that beat lshdb on SQLite with one process, by figure."""
    done = [record for record in records if record.found]
    ours = [record for record in done if record.peer == "lshdb, SQLite" and record.workers == 1]
    others = [record for record in done if not record.peer.startswith("lshdb")]
    if not ours or not others:
        return ""
    questions: list[tuple[str, Callable[[PeerRecord], float]]] = [
        ("less time", lambda record: record.seconds),
        ("less processor time", lambda record: record.cpu_seconds),
        ("less memory", lambda record: record.peak_bytes),
        ("fewer missed pairs", lambda record: -record.found.recall if record.found else 0.0),
    ]
    lines = ["Tools that beat lshdb on SQLite with one process (number of processes in brackets):", ""]
    for what, figure in questions:
        better = [f"{record.peer} ({record.workers})" for record in others if figure(record) < figure(ours[0])]
        lines.append(f"- {what}: {', '.join(better) or 'none'}")
    return "\n".join(lines)


def recalls(records: Sequence[PeerRecord]) -> str:
    """Return the recall by range of similarity, of the runs with one process."""
    return _by_stretch([record for record in records if record.workers == 1])


def _by_stretch(records: Sequence[PeerRecord]) -> str:
    done = [(record.peer, record.found) for record in records if record.found]
    if not done:
        return ""
    stretches = done[0][1].stretches
    header = ["", *(f"{stretch.low:g} - {stretch.high:g}" for stretch in stretches)]
    rows = [["true pairs", *(f"{stretch.num_true:,}" for stretch in stretches)]]
    rows += [[name, *_shares(found)] for name, found in done]
    return table(header, rows)


def _shares(found: Quality) -> list[str]:
    return [f"{each.num_found / each.num_true:.4f}" if each.num_true else "" for each in found.stretches]


def candidates(records: Sequence[PeerRecord]) -> str:
    """Return the share of true pairs that become candidates, by range of similarity, and that of the formula."""
    first = records[0]
    about = (
        f"{first.documents:,} texts, {megabytes(first.text_bytes)} MB, with {first.num_true:,} pairs at "
        f"{first.min_sim:g} or above. A pair of similarity s should become a candidate with probability "
        f"1 - (1 - s^{ROWS})^{BANDS}. The last row shows this for the middle of each range. Tools that answer with "
        "clusters find additional pairs."
    )
    middles = [(each.low + each.high) / 2 for record in records if record.found for each in record.found.stretches]
    width = len(records[0].found.stretches) if records[0].found else 0
    expected = [f"{1 - (1 - middle**ROWS) ** BANDS:.4f}" for middle in middles[:width]]
    shares = _by_stretch(records)
    return f"{about}\n\n{shares}\n| formula | {' | '.join(expected)} |" if width else f"{about}\n\n{shares}"


def estimates(records: Sequence[PeerRecord]) -> str:
    """Return the quality of the answers after filtering by the peer's own similarity."""
    kept = [(record, record.estimated) for record in records if record.workers == 1 and record.estimated]
    header = ("tool", "pairs", "recall", "precision", "redundant")
    rows = [
        [record.peer, f"{best.num_pairs:,}", f"{best.recall:.4f}", f"{best.precision:.4f}", f"{best.num_redundant:,}"]
        for record, best in kept
    ]
    about = "The same answers without the pairs that the tool itself estimates below the threshold."
    return f"{about}\n\n{table(header, rows)}" if rows else ""


def adapters() -> str:
    """Return the description of each adapter: its module docstring."""
    names = dict.fromkeys(entry.module for entry in ENTRIES)
    return "\n".join(f"- `{name}`: {_said(MODULES / f'{name}.py')}" for name in names)


def _said(module: Path) -> str:
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split())
