"""The tables of docs/benchmarks.md about lshdb itself, and what all tables share."""

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
    """Return a Markdown table. All columns but the first are right-aligned."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def megabytes(number: float) -> str:
    """Format a number of bytes in millions."""
    return f"{number / 1e6:,.0f}" if number >= 1e7 else f"{number / 1e6:.1f}"


def machine(record: MachineRecord) -> str:
    """Describe the machine and the versions."""
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    return (
        f"{record.processor}, {record.cores} cores, {record.memory_bytes / 1e9:.0f} GB; {record.system}; "
        f"{record.python}. {versions}."
    )


def scale(records: Sequence[ScaleRecord]) -> str:
    """Return the table of lshdb at each size, and the growth of each figure."""
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
    about = f"lshdb on SQLite, {processes}. Texts: {first.corpus}."
    shown = table((*header, "bytes per document", "peak MB", "query p50 ms", "p99 ms"), rows)
    return f"{about}\n\n{shown}\n\n{exponents(records)}"


def exponents(records: Sequence[ScaleRecord]) -> str:
    """Return the exponents of growth, or nothing for a single size."""
    if len(records) < 2:
        return ""
    sizes = [record.documents for record in records]
    figures: dict[str, list[float]] = {
        "ingest": [record.ingest_seconds for record in records],
        "ingest, CPU": [record.ingest_cpu_seconds for record in records],
        "link": [record.link_seconds for record in records],
        "link, CPU": [record.link_cpu_seconds for record in records],
        "file": [record.database_bytes for record in records],
        "memory": [record.peak_bytes for record in records],
        "query p50": [record.query_p50 for record in records],
    }
    rows = [[name, f"{exponent(sizes, values):.2f}"] for name, values in figures.items()]
    about = "Each figure grows as a power of the number of documents. An exponent of 1 is linear."
    return f"{about}\n\n{table(('', 'exponent'), rows)}"


def queries(records: Sequence[QueryRecord]) -> str:
    """Return the table of query latencies."""
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
        f"{first.num_queries:,} queries of {first.documents:,} synthetic texts, from raw text to near-duplicates, in "
        "the process that has the index open. lshdb verifies its answers. datasketch answers with candidates, and must "
        "read all documents into memory first."
    )
    return f"{about}\n\n{table(header, rows)}"


def incremental(records: Sequence[IncrementalRecord], peers: Sequence[PeerRecord]) -> str:
    """Compare adding the last documents to lshdb with processing all documents in each peer."""
    first = records[0]
    whole = f"{first.documents:,}"
    took = [
        (f"{each.peer}: add {each.added:,} to {each.documents - each.added:,} and link", each.seconds)
        for each in records
    ]
    took += [(f"{each.peer}: add and link all {whole}", each.whole_seconds) for each in records]
    took += [
        (f"{each.peer}: process all {whole}", each.seconds)
        for each in peers
        if each.found and each.workers == 1 and each.documents == first.documents and not each.peer.startswith("lshdb")
    ]
    rows = [[what, f"{seconds:.1f}", f"{seconds / first.seconds:.1f}"] for what, seconds in took]
    same = ", ".join(f"{each.peer}: {'yes' if each.same_pairs else 'NO'}" for each in records)
    shown = table(("", "s", "relative to the first row"), rows)
    return f"{shown}\n\nAre the pairs the same as those of an index built at once? {same}."


def storage(records: Sequence[StorageRecord]) -> str:
    """Return the bytes per document by table."""
    first = records[0]
    names = list(first.table_bytes)
    mean_bytes = first.text_bytes / first.documents
    about = f"Bytes per document, for {first.documents:,} texts of {mean_bytes:,.0f} bytes on average."
    rows = [
        [
            f"{each.store}, {'with' if each.keeps_text else 'without'} texts",
            *(f"{each.table_bytes[name] / each.documents:,.0f}" for name in names),
            f"{(each.total_bytes - sum(each.table_bytes.values())) / each.documents:,.0f}",
            f"{each.total_bytes / each.documents:,.0f}",
        ]
        for each in records
    ]
    return f"{about}\n\n{table(['index', *(f'`{name}`' for name in names), 'other', 'total'], rows)}"


def commands(records: Iterable[Record]) -> str:
    """Return the commands that produced the records."""
    made = dict.fromkeys(record.command for record in records)
    return "\n".join(f"    {command}" for command in made)


def agreement(
    peers: Sequence[PeerRecord],
    sizes: Sequence[ScaleRecord],
    others: Sequence[PeerRecord],
    again: Sequence[ScaleRecord],
) -> str:
    """Return the ratios of the second run to the first."""
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
        "Ratios of the second run to the first:\n\n"
        + table(("", "figures", "median", "smallest", "largest"), rows)
        + f"\n\nThe answers are the same in {same} of {len(both)} runs."
    )
