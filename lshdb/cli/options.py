"""Options that several verbs share, and opening the index they name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lshdb.errors import UsageError

if TYPE_CHECKING:
    from lshdb.index import Index

__all__ = [
    "Bands",
    "Base",
    "Collection",
    "Floor",
    "Format",
    "FormatOption",
    "Html",
    "IdField",
    "InputFormat",
    "Json",
    "KeepText",
    "MinSim",
    "Multiset",
    "Rows",
    "Scheme",
    "Seed",
    "Settings",
    "Shingle",
    "TextField",
    "age",
    "base_folder",
    "chosen",
    "ensure_index",
    "num_cores",
    "open_index",
    "settings_of",
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


def num_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def base_folder(path: Path | None) -> Path | None:
    """``--base`` as an absolute path."""
    return None if path is None else path.absolute()
