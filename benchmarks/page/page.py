"""docs/benchmarks.md, from the records of one run and, if there is one, of a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.page import figures, peer_tables, tables
from benchmarks.page.records import (
    IncrementalRecord,
    MachineRecord,
    PeerRecord,
    QueryRecord,
    Record,
    ScaleRecord,
    StorageRecord,
    read,
)

__all__ = ["write"]

FIGURES = "figures"

INTRODUCTION = """# Benchmarks

Made by `python -m benchmarks docs` from the records of one run, and not edited. The same file, the same words and
shingles, the same 20 bands of 5 rows, the same machine; each peer as processes of its own, from their start to their
exit, after a run on 100 documents that does not count. `benchmarks/README.md` says how to run it."""


def write(results: Path, docs: Path, second: Path | None = None) -> Path:
    """Writes the page and its figures; sections of which there are no records are left out."""
    page = docs / "benchmarks.md"
    blocks = [INTRODUCTION, *sections(results, docs / FIGURES)]
    if second is not None:
        blocks.append(agreement(results, second))
    docs.mkdir(parents=True, exist_ok=True)
    page.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return page


def sections(results: Path, folder: Path) -> Iterator[str]:
    """The sections in order; the figures are drawn on the way."""
    if machines := read(results, MachineRecord):
        yield block("Machine", tables.machine(machines[-1]))
    asked = read(results, PeerRecord)
    peers = [record for record in asked if record.question == "peers"]
    quality = [record for record in asked if record.question == "quality"]
    if peers:
        yield from peer_sections(peers, folder)
    if quality:
        figures.curves(quality, folder / "quality.svg")
        yield block("Which pairs become candidates", peer_tables.candidates(quality), figure("quality.svg", "S-curves"))
    yield from growth_sections(results, peers, folder)
    if storage := read(results, StorageRecord):
        yield block("Bytes", tables.storage(storage))
    yield block("Commands", tables.commands([*asked, *all_others(results)]))


def peer_sections(peers: Sequence[PeerRecord], folder: Path) -> Iterator[str]:
    """Time and quality of every peer."""
    figures.times(peers, folder / "peers.svg")
    yield block(
        "From a file to its duplicates",
        peer_tables.corpus(peers[0]),
        peer_tables.peers(peers),
        figure("peers.svg", "seconds of each peer"),
        peer_tables.unflattering(peers),
    )
    yield block("Recall by similarity", peer_tables.recalls(peers))
    yield block("With the peers' own estimates", peer_tables.estimates(peers))
    yield block("How each was asked", peer_tables.adapters())


def growth_sections(results: Path, peers: Sequence[PeerRecord], folder: Path) -> Iterator[str]:
    """What becomes of it as the corpus grows."""
    scale, asked = by_corpus(read(results, ScaleRecord)), read(results, QueryRecord)
    if scale:
        figures.growth(scale, folder / "scale.svg")
        yield block("As the corpus grows", *map(tables.scale, scale), figure("scale.svg", "seconds by documents"))
    if asked:
        figures.latencies(scale, asked, folder / "query.svg")
        yield block("A question", tables.queries(asked), figure("query.svg", "milliseconds by documents"))
    if incremental := read(results, IncrementalRecord):
        yield block("One document in a hundred more", tables.incremental(incremental, peers))


def by_corpus(records: Sequence[ScaleRecord]) -> list[list[ScaleRecord]]:
    """The sizes of each corpus, ascending."""
    ordered = sorted(records, key=lambda record: record.documents)
    names = sorted({record.corpus for record in records})
    return [[record for record in ordered if record.corpus == name] for name in names]


def all_others(results: Path) -> Iterator[Record]:
    """The records that are not of peers."""
    kinds: tuple[type[Record], ...] = (ScaleRecord, QueryRecord, IncrementalRecord, StorageRecord)
    for kind in kinds:
        yield from read(results, kind)


def agreement(results: Path, second: Path) -> str:
    """How far two runs agree."""
    pairs = [(read(folder, PeerRecord), read(folder, ScaleRecord)) for folder in (results, second)]
    return block("Two runs", tables.agreement(*pairs[0], *pairs[1]))


def block(title: str, *parts: str) -> str:
    """A section."""
    return "\n\n".join([f"## {title}", *(part for part in parts if part)])


def figure(name: str, what: str) -> str:
    """The reference to a figure."""
    return f"![{what}]({FIGURES}/{name})"
