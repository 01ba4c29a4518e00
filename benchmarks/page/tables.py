"""The tables of docs/benchmarks.md about lshdb itself, each from its records; nothing is known beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.page.records import (
    IncrementalRecord,
    MachineRecord,
    PeerRecord,
    QueryRecord,
    Record,
    ScaleRecord,
    StorageRecord,
)
from benchmarks.runs.scale import exponent


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


def scale(records: Sequence[ScaleRecord]) -> str:
    """lshdb at each size, and how fast each figure grows."""
    first = records[0]
    header = ("documents", "MB", "bare read s", "ingest s", "documents/s", "link s", "pairs", "file MB")
    rows = [
        [
            f"{each.documents:,}",
            megabytes(each.text_bytes),
            f"{each.read_seconds:.1f}",
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
    processes = "one process" if first.workers == 1 else f"{first.workers} processes"
    about = f"lshdb on SQLite, {processes}; texts: {first.corpus}."
    shown = table((*header, "bytes a document", "peak MB", "query p50 ms", "p99 ms"), rows)
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
    header = ("index", "first answer after s", "CPU ms", "p50 ms", "p99 ms", "longest ms", "peak MB")
    rows = [
        [
            each.peer,
            f"{each.opening_seconds:.2f}",
            f"{each.cpu:.2f}",
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
    by_size = {record.name: record for record in again}
    grown = [(one, by_size[one.name]) for one in sizes if one.name in by_size]
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
