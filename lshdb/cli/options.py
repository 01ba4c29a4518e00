"""Options that several verbs share, and opening the index they name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lshdb.errors import UsageError

if TYPE_CHECKING:
    from lshdb.clusters.clusters import ClusterOptions
    from lshdb.index import Index
    from lshdb.model.reports import Measurement

__all__ = [
    "Bands",
    "Base",
    "Collection",
    "Floor",
    "Format",
    "FormatOption",
    "Html",
    "IdField",
    "IdPrefix",
    "InputFormat",
    "Json",
    "Keep",
    "KeepName",
    "KeepText",
    "Linkage",
    "LinkageName",
    "MaxText",
    "MinSim",
    "Minima",
    "Multiset",
    "NumPerm",
    "Prefer",
    "Promise",
    "PromisedRecall",
    "Recall",
    "Rows",
    "Scheme",
    "Seed",
    "Settings",
    "Shingle",
    "TextField",
    "Within",
    "age",
    "base_folder",
    "chosen",
    "cluster_options",
    "ensure_index",
    "measured_line",
    "open_index",
    "settings_of",
    "size",
]

MAKING = "Making an index"
READING = "Reading"


@dataclass(frozen=True, slots=True)
class Settings:
    """The global options."""

    db: str
    quiet: bool


class Format(StrEnum):
    """How rows are printed."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"
    tsv = "tsv"


class SchemeName(StrEnum):
    """The signature schemes."""

    fss1 = "fss1"
    universal = "universal"


class HtmlName(StrEnum):
    """What of a page is its text."""

    main = "main"
    all = "all"


class KeepName(StrEnum):
    """Which document of a cluster is kept."""

    first = "first"
    longest = "longest"
    newest = "newest"
    shortest_id = "shortest-id"


class LinkageName(StrEnum):
    """What makes documents a cluster."""

    single = "single"
    complete_to_keep = "complete-to-keep"


Keep = Annotated[KeepName, typer.Option(help="Keep the first that came, the longest, the newest, or the shortest id.")]
Prefer = Annotated[
    list[str],
    typer.Option(metavar="REGEX", help="Keep one whose id matches; repeat it, the best first.", show_default=False),
]
LINKAGE_HELP = "single: a chain is a cluster. complete-to-keep: each document is itself similar to the one kept."
Linkage = Annotated[LinkageName, typer.Option(help=LINKAGE_HELP)]
Within = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only documents of this collection.", show_default=False)
]

FormatOption = Annotated[
    Format | None, typer.Option("--format", "-f", help="table on a terminal, else tsv.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
MinSim = Annotated[
    float | None,
    typer.Option(
        "--min-sim", min=0.0, max=1.0, help="Least similarity; by default the index's own.", show_default=False
    ),
]
Collection = Annotated[str, typer.Option("--collection", metavar="NAME", help="The namespace of the documents' ids.")]

Recall = Annotated[
    float | None,
    typer.Option("--recall", min=0.0, max=1.0, help="Share of them to be found. Default 0.999.", show_default=False),
]
NumPerm = Annotated[
    int | None, typer.Option("--num-perm", min=1, help="Minima of a signature. Default: what the bands take.")
]
Promise = Annotated[
    float | None,
    typer.Option("--min-sim", min=0.0, max=1.0, help="Pairs to be found. Default 0.8.", rich_help_panel=MAKING),
]
PromisedRecall = Annotated[
    float | None,
    typer.Option("--recall", min=0.0, max=1.0, help="Share of them. Default 0.999.", rich_help_panel=MAKING),
]
Minima = Annotated[
    int | None,
    typer.Option("--num-perm", min=1, help="Minima of a signature. Default: 100 or more.", rich_help_panel=MAKING),
]
Shingle = Annotated[
    str | None,
    typer.Option(metavar="word:N|char:K|set", help="Shingles of a text. Default word:5.", rich_help_panel=MAKING),
]
Multiset = Annotated[
    bool | None,
    typer.Option("--multiset", help="Count repeated shingles (bag Jaccard).", rich_help_panel=MAKING),
]
Scheme = Annotated[SchemeName | None, typer.Option(help="Signature scheme. Default fss1.", rich_help_panel=MAKING)]
Bands = Annotated[int | None, typer.Option(help="Bands of a signature. Default 20.", rich_help_panel=MAKING)]
Rows = Annotated[int | None, typer.Option(help="Minima in a band. Default 5.", rich_help_panel=MAKING)]
Seed = Annotated[int | None, typer.Option(help="Seed of the hash functions. Default 1.", rich_help_panel=MAKING)]
Floor = Annotated[
    float | None, typer.Option(help="Lowest similarity kept as a pair. Default 0.5.", rich_help_panel=MAKING)
]
KeepText = Annotated[
    bool | None,
    typer.Option(
        "--keep-text/--no-keep-text", help="Keep texts for exact similarities. Default: keep.", rich_help_panel=MAKING
    ),
]
Html = Annotated[
    HtmlName | None, typer.Option(help="Text of a page: main content or all. Default main.", rich_help_panel=MAKING)
]

Base = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Name files relative to this. Default: absolute.", rich_help_panel=READING),
]
IdPrefix = Annotated[
    str, typer.Option(metavar="TEXT", help="Put this before every id.", rich_help_panel=READING, show_default=False)
]
MaxText = Annotated[
    str, typer.Option(metavar="SIZE", help="Reject documents whose text is larger.", rich_help_panel=READING)
]
IdField = Annotated[str, typer.Option(metavar="NAME", help="JSON field of the id.", rich_help_panel=READING)]
TextField = Annotated[str, typer.Option(metavar="NAME", help="JSON field of the text.", rich_help_panel=READING)]
InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="text, html, jsonl, sets, warc, parquet, csv or tsv.",
        rich_help_panel=READING,
        show_default=False,
    ),
]


def cluster_options(
    keep: KeepName, prefer: list[str], linkage: LinkageName, within: str | None, **others: Any
) -> ClusterOptions:
    """The options that say what a cluster is, and what is kept of it."""
    from lshdb.clusters.clusters import ClusterOptions

    return ClusterOptions(keep.value, tuple(prefer), linkage.value, within, **others)


def settings_of(context: typer.Context) -> Settings:
    """The global options of a call."""
    found = context.obj
    assert isinstance(found, Settings)
    return found


def chosen(**options: object) -> dict[str, Any]:
    """The options that were given: by name, as `Params` takes them."""
    return {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in options.items()
        if value is not None
    }


def measured_line(measured: Measurement) -> str:
    """What was measured, in a line."""
    with_bands = f"with {measured.bands} bands of {measured.rows} rows, run {measured.run}"
    if measured.recall is None:
        return f"none of {measured.num_probes:,} contents has a pair at {measured.min_sim}, {with_bands}"
    return (
        f"{measured.recall:.4f} ({measured.low:.4f} to {measured.high:.4f}) at {measured.min_sim}: "
        f"{measured.num_found:,} of {measured.num_pairs:,} pairs of {measured.num_probes:,} contents {with_bands}"
    )


def open_index(context: typer.Context) -> Index:
    """The index that ``--db`` names, which must be there."""
    from lshdb.cli.display import progress_for
    from lshdb.index import Index

    settings = settings_of(context)
    return Index.open(settings.db, progress_for(settings.quiet))


def ensure_index(context: typer.Context, options: dict[str, Any]) -> Index:
    """The index that ``--db`` names, made where there is none."""
    from lshdb.cli.display import progress_for
    from lshdb.index import Index

    settings = settings_of(context)
    return Index.ensure(settings.db, options, progress_for(settings.quiet))


def age(text: str | None) -> timedelta | None:
    """An age such as ``90d`` or ``12h``. Raises: UsageError: it is none."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)([mhdw])", text)
    if match is None:
        raise UsageError(reason=f"--expire-after {text}: write a number and m, h, d or w, such as 90d")
    unit = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[match[2]]
    return timedelta(**{unit: int(match[1])})


def size(option: str, text: str) -> int:
    """The bytes of a size such as ``10MB``, ``500kB`` or ``1.5GB``. Raises: UsageError: it is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(k|m|g|)b", text.lower())
    num_bytes = int(float(match[1]) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[match[2]]) if match else 0
    if num_bytes < 1:
        raise UsageError(reason=f"{option} {text}: write a number and B, kB, MB or GB, such as 10MB")
    return num_bytes


def base_folder(path: Path | None) -> Path | None:
    """``--base`` as an absolute path."""
    return None if path is None else path.absolute()
