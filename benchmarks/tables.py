"""The tables of docs/benchmarks.md and the sentences about them, each from its records; nothing is known beforehand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.answers import Quality
from benchmarks.comparison import ENTRIES
from benchmarks.peers.protocol import BANDS, ROWS
from benchmarks.records import (
    IncrementalRecord,
    MachineRecord,
    PeerRecord,
    QueryRecord,
    Record,
    ScaleRecord,
    StorageRecord,
)
from benchmarks.scale import exponent

MODULES: Final = Path(__file__).parent / "peers"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; all columns but the first are figures."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def megabytes(number: float) -> str:
    """In millions of bytes."""
    return f"{number / 1e6:,.0f}" if number >= 1e7 else f"{number / 1e6:.1f}"


def machine(record: MachineRecord) -> str:
    """What it ran on."""
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    return (
        f"{record.processor}, {record.cores} cores, {record.memory_bytes / 1e9:.0f} GB; {record.system}; "
        f"{record.python}. {versions}."
    )


def corpus(record: PeerRecord) -> str:
    """What the peers read."""
    return (
        f"{record.documents:,} real texts, {megabytes(record.text_bytes)} MB, in `{record.corpus}`. Brute force finds "
        f"{record.num_true:,} pairs at {record.min_sim:g} or more; with one document of each group kept, "
        f"{record.true_redundant:,} go. Memory is that of all processes (PSS), Postgres's own included where it works. "
        "Precision counts each pair that is listed and less similar than that as wrong: of the peers only lshdb "
        "computes the similarities, the others list candidates, or clusters of them, as they are."
    )


def peers(records: Sequence[PeerRecord]) -> str:
    """Every peer with its figures, or with the reason why there are none."""
    header = ("peer", "processes", "s", "CPU s", "MB/s", "peak MB", "MB on disk", "after the process")
    return table((*header, "pairs", "recall", "precision", "redundant"), map(_peer_row, records))


def _peer_row(record: PeerRecord) -> list[str]:
    if record.found is None:
        reason = record.failure.splitlines()[-1][:120].replace("|", "/")
        return [record.peer, str(record.workers), f"no result: {reason}", *[""] * 9]
    return [
        record.peer,
        str(record.workers),
        f"{record.seconds:.1f}",
        f"{record.cpu_seconds:.1f}",
        f"{record.text_bytes / 1e6 / record.seconds:.1f}",
        megabytes(record.peak_bytes),
        megabytes(record.disk_bytes) if record.survives else "0",
        "stays" if record.survives else "gone",
        f"{record.found.num_pairs:,}",
        f"{record.found.recall:.4f}",
        f"{record.found.precision:.4f}",
        f"{record.found.num_redundant:,}",
    ]


def unflattering(records: Sequence[PeerRecord]) -> str:
    """Who beats lshdb on SQLite with one process, and in what."""
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
    lines = ["Better than lshdb on SQLite with one process, in this run:", ""]
    for what, figure in questions:
        better = [f"{record.peer} ({record.workers})" for record in others if figure(record) < figure(ours[0])]
        lines.append(f"- {what}: {', '.join(better) or 'none'}")
    return "\n".join(lines)


def recalls(records: Sequence[PeerRecord]) -> str:
    """The recall of each stretch of similarities, of one process."""
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
    """The share of true pairs of each similarity that becomes candidates, and the formula's."""
    first = records[0]
    about = (
        f"{first.documents:,} texts, {megabytes(first.text_bytes)} MB; {first.num_true:,} pairs at {first.min_sim:g} "
        f"or more. A pair of similarity s is to become a candidate with probability 1 - (1 - s^{ROWS})^{BANDS}; the "
        "last line has it for the middle of each stretch. Who answers with clusters finds more than its candidates."
    )
    middles = [(each.low + each.high) / 2 for record in records if record.found for each in record.found.stretches]
    width = len(records[0].found.stretches) if records[0].found else 0
    expected = [f"{1 - (1 - middle**ROWS) ** BANDS:.4f}" for middle in middles[:width]]
    shares = _by_stretch(records)
    return f"{about}\n\n{shares}\n| formula | {' | '.join(expected)} |" if width else f"{about}\n\n{shares}"


def estimates(records: Sequence[PeerRecord]) -> str:
    """What is left of the answers where a peer's own similarity is to be high enough."""
    kept = [(record, record.estimated) for record in records if record.workers == 1 and record.estimated]
    header = ("peer", "pairs", "recall", "precision", "redundant")
    rows = [
        [record.peer, f"{best.num_pairs:,}", f"{best.recall:.4f}", f"{best.precision:.4f}", f"{best.num_redundant:,}"]
        for record, best in kept
    ]
    about = "The pairs that are kept if a pair's similarity, as the peer says it, is to be as high as was asked for."
    return f"{about}\n\n{table(header, rows)}" if rows else ""


def adapters() -> str:
    """What each adapter says of itself."""
    names = dict.fromkeys(entry.module for entry in ENTRIES)
    return "\n".join(f"- `{name}`: {_said(MODULES / f'{name}.py')}" for name in names)


def _said(module: Path) -> str:
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split())


def scale(records: Sequence[ScaleRecord]) -> str:
    """lshdb at each size, and how fast each figure grows."""
    first = records[0]
    header = ("documents", "MB", "ingest s", "documents/s", "link s", "pairs", "file MB", "bytes a document")
    rows = [
        [
            f"{each.documents:,}",
            megabytes(each.text_bytes),
            f"{each.ingest_seconds:.1f}",
            f"{each.documents / each.ingest_seconds:,.0f}",
            f"{each.link_seconds:.1f}",
            f"{each.num_pairs:,}",
            megabytes(each.database_bytes),
            f"{each.database_bytes / each.documents:,.0f}",
            megabytes(each.peak_bytes),
            f"{each.query_p50:.2f}",
            f"{each.query_p99:.2f}",
        ]
        for each in records
    ]
    about = f"lshdb on SQLite, {first.workers} processes; texts: {first.corpus}."
    shown = table((*header, "peak MB", "query p50 ms", "p99 ms"), rows)
    return f"{about}\n\n{shown}\n\n{exponents(records)}"


def exponents(records: Sequence[ScaleRecord]) -> str:
    """The fitted growth of each figure."""
    if len(records) < 2:
        return ""
    sizes = [record.documents for record in records]
    figures: dict[str, list[float]] = {
        "ingest": [record.ingest_seconds for record in records],
        "ingest, processor": [record.ingest_cpu_seconds for record in records],
        "link": [record.link_seconds for record in records],
        "link, processor": [record.link_cpu_seconds for record in records],
        "file": [record.database_bytes for record in records],
        "memory": [record.peak_bytes for record in records],
        "query p50": [record.query_p50 for record in records],
    }
    fitted = ", ".join(f"{name} {exponent(sizes, values):.2f}" for name, values in figures.items())
    return f"Growth as a power of the number of documents, by least squares of the logarithms (1 is linear): {fitted}."


def queries(records: Sequence[QueryRecord]) -> str:
    """Each index that was asked."""
    first = records[0]
    header = ("index", "first answer after s", "p50 ms", "p99 ms", "longest ms", "peak MB")
    rows = [
        [
            each.peer,
            f"{each.opening_seconds:.2f}",
            f"{each.p50:.2f}",
            f"{each.p99:.2f}",
            f"{each.longest:.1f}",
            megabytes(each.peak_bytes),
        ]
        for each in records
    ]
    about = (
        f"{first.num_queries:,} texts asked of {first.documents:,} synthetic ones, in the process that has the index: "
        "from raw text to near-duplicates. lshdb verifies what it answers; datasketch answers with candidates, "
        "and must first read all documents into memory."
    )
    return f"{about}\n\n{table(header, rows)}"


def incremental(records: Sequence[IncrementalRecord], peers: Sequence[PeerRecord]) -> str:
    """What the last documents cost lshdb, and all of them the peers."""
    first = records[0]
    whole = f"{first.documents:,}"
    took = [
        (f"{each.peer}: {each.added:,} more to {each.documents - each.added:,}, linked", each.seconds)
        for each in records
    ]
    took += [(f"{each.peer}: all {whole} at once, linked", each.whole_seconds) for each in records]
    took += [
        (f"{each.peer}: all {whole} again", each.seconds)
        for each in peers
        if each.found and each.workers == 1 and each.documents == first.documents and not each.peer.startswith("lshdb")
    ]
    rows = [[what, f"{seconds:.1f}", f"{seconds / first.seconds:.1f}"] for what, seconds in took]
    same = ", ".join(f"{each.peer}: {'yes' if each.same_pairs else 'NO'}" for each in records)
    shown = table(("", "s", "over the first line"), rows)
    return f"{shown}\n\nThe pairs are those of an index that took all at once: {same}."


def storage(records: Sequence[StorageRecord]) -> str:
    """Bytes a document by table."""
    first = records[0]
    names = list(first.table_bytes)
    about = (
        f"Bytes a document; {first.documents:,} texts of {first.text_bytes / first.documents:,.0f} bytes on average."
    )
    rows = [
        [
            f"{each.store}, {'with' if each.keeps_text else 'without'} texts",
            *(f"{each.table_bytes[name] / each.documents:,.0f}" for name in names),
            f"{(each.total_bytes - sum(each.table_bytes.values())) / each.documents:,.0f}",
            f"{each.total_bytes / each.documents:,.0f}",
        ]
        for each in records
    ]
    return f"{about}\n\n{table(['index', *(f'`{name}`' for name in names), 'other', 'all'], rows)}"


def commands(records: Iterable[Record]) -> str:
    """The commands that made the records, each once."""
    made = dict.fromkeys(record.command for record in records)
    return "\n".join(f"    {command}" for command in made)


def agreement(
    peers: Sequence[PeerRecord],
    sizes: Sequence[ScaleRecord],
    others: Sequence[PeerRecord],
    again: Sequence[ScaleRecord],
) -> str:
    """The second run over the first one, figure by figure."""
    second = {record.name: record for record in others if record.found}
    both = [(one, second[one.name]) for one in peers if one.found and one.name in second]
    ratios = {
        "wall time": [other.seconds / one.seconds for one, other in both],
        "processor time": [other.cpu_seconds / one.cpu_seconds for one, other in both],
        "memory": [other.peak_bytes / one.peak_bytes for one, other in both],
    }
    by_size = {record.documents: record for record in again}
    grown = [(one, by_size[one.documents]) for one in sizes if one.documents in by_size]
    ratios["scale, ingest and link"] = [
        (other.ingest_seconds + other.link_seconds) / (one.ingest_seconds + one.link_seconds) for one, other in grown
    ]
    rows = [
        [name, str(len(each)), f"{median(each):.2f}", f"{min(each):.2f}", f"{max(each):.2f}"]
        for name, each in ratios.items()
        if each
    ]
    same = sum(one.found == other.found for one, other in both)
    return (
        "The second run over the first:\n\n"
        + table(("", "figures", "median", "least", "most"), rows)
        + f"\n\nThe answers are the same in {same} of {len(both)}."
    )
