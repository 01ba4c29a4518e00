"""Parts that several verbs share: options, groups of options that form one value, and opening an index."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from lshdb.cli.settings import is_service, settings_of
from lshdb.errors import UsageError
from lshdb.model.choices import Captures, Comparing, HtmlText, Keep, Linkage, Scheme, TextFormat

if TYPE_CHECKING:
    from lshdb.clusters.clusters import ClusterOptions
    from lshdb.index import Index
    from lshdb.model.reports import Measurement
    from lshdb.readers import ReadOptions
    from lshdb.web.remote import Remote

__all__ = [
    "MAKING",
    "READING",
    "Clustering",
    "Collection",
    "Format",
    "FormatOption",
    "InputFormat",
    "Json",
    "Making",
    "MinSim",
    "NumPerm",
    "Reading",
    "Recall",
    "Wait",
    "age",
    "asked_index",
    "both",
    "compared",
    "ensure_index",
    "open_index",
    "recall_line",
    "require_installed",
    "settings_of",
    "size",
]

MAKING: Final = "Creating an index"
READING: Final = "Reading"

Format = Literal["table", "jsonl", "csv", "tsv"]

FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="Default: table on a terminal, otherwise tsv.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
MinSim = Annotated[
    float | None,
    typer.Option("--min-sim", min=0.0, max=1.0, help="Least similarity. Default: the index's own.", show_default=False),
]
Collection = Annotated[str, typer.Option("--collection", metavar="NAME", help="Namespace of the document ids.")]
Include = Annotated[
    list[str] | None, typer.Option("--include", metavar="GLOB", help="Read only files that match this glob.")
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="GLOB", help="Skip files and folders that match this glob.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until an ingest into this file has finished.")]
InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="text, html, jsonl, sets, warc, parquet, csv or tsv. Default: by the file's name and content.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Recall = Annotated[
    float | None,
    typer.Option("--recall", min=0.0, max=1.0, help="Share of them to find. Default: 0.999.", show_default=False),
]
NumPerm = Annotated[
    int | None, typer.Option("--num-perm", min=1, help="Minima of a signature. Default: as many as the bands take.")
]


def _making(*names: str, help: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=MAKING, **settings)


def _reading(help: str, **settings: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=READING, **settings)


@dataclass(frozen=True, slots=True)
class Making:
    """The parameters of a new index; None leaves one to its default."""

    shingle: Annotated[
        str | None, _making(metavar="word:N|char:K|set", help="How a text is shingled. Default: word:5.")
    ] = None
    multiset: Annotated[bool | None, _making("--multiset", help="Count repeated shingles (bag Jaccard).")] = None
    scheme: Annotated[Scheme | None, _making(help="Signature scheme. Default: fss2.")] = None
    min_sim: Annotated[
        float | None, _making("--min-sim", min=0.0, max=1.0, help="Similarity of the pairs to find. Default: 0.8.")
    ] = None
    recall: Annotated[
        float | None, _making("--recall", min=0.0, max=1.0, help="Share of them to find. Default: 0.999.")
    ] = None
    num_perm: Annotated[
        int | None, _making("--num-perm", min=1, help="Minima of a signature. Default: 100 or more.")
    ] = None
    bands: Annotated[int | None, _making(help="Bands of a signature. Default: 20.")] = None
    rows: Annotated[int | None, _making(help="Minima in a band. Default: 5.")] = None
    seed: Annotated[int | None, _making(help="Seed of the hash functions. Default: 1.")] = None
    floor: Annotated[float | None, _making(help="Lowest similarity that is stored as a pair. Default: 0.5.")] = None
    keep_text: Annotated[
        bool | None,
        _making("--keep-text/--no-keep-text", help="Keep the texts, for exact similarities. Default: keep."),
    ] = None
    passages: Annotated[
        int | None,
        _making(min=0, metavar="N", help="Find every run of N words that texts share, such as 13. Default: 0, none."),
    ] = None
    html: Annotated[HtmlText | None, _making(help="Text of a page: its main content, or all. Default: main.")] = None

    def chosen(self) -> dict[str, Any]:
        """Return the parameters that were given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read."""

    base: Annotated[
        Path | None, _reading(metavar="FOLDER", help="Name files relative to this folder. Default: absolute names.")
    ] = None
    id_prefix: Annotated[
        str,
        _reading(
            metavar="TEXT", help="Put this before every id; may contain {path}, {name}, {stem}.", show_default=False
        ),
    ] = ""
    id_field: Annotated[
        str | None,
        _reading(metavar="NAME", help="Field or column of the id. Default: id, or else FILE#LINE.", show_default=False),
    ] = None
    text_field: Annotated[
        list[str],
        _reading(
            metavar="NAME",
            help="Field or column of the text. a.b is a nested field. Repeat it to join several. Default: text.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    text_format: Annotated[
        TextFormat, _reading(help="What the field holds. auto: HTML if it begins with an element, or else text.")
    ] = "text"
    input_format: InputFormat = None
    max_text: Annotated[str, _reading(metavar="SIZE", help="Reject documents with a larger text.")] = "10MB"
    captures: Annotated[
        Captures, _reading(help="Captures of an address in WARC files to keep: the newest, or all, as ADDRESS@DATE.")
    ] = "newest"

    def options(self) -> ReadOptions:
        """Return them in the form that readers expect. Raises: UsageError, InvalidParams."""
        from lshdb.readers import ReadOptions, reader_named

        if self.input_format is not None:
            # Now, so that a misspelt format leaves no index behind.
            reader_named(self.input_format)
        return ReadOptions(
            id_field=self.id_field,
            text_field=tuple(self.text_field) or "text",
            text_format=self.text_format,
            input_format=self.input_format,
            base=None if self.base is None else self.base.absolute(),
            max_text=size("--max-text", self.max_text),
            id_prefix=self.id_prefix,
            captures=self.captures,
        )


@dataclass(frozen=True, slots=True)
class Clustering:
    """What a cluster is, and which of its documents to keep."""

    keep: Annotated[
        Keep, typer.Option(help="Keep the first one added, the longest, the newest, or the one with the shortest id.")
    ] = "first"
    prefer: Annotated[
        list[str],
        typer.Option(
            metavar="REGEX", help="Keep a document whose id matches. Repeat it, best first.", show_default=False
        ),
    ] = field(default_factory=list)
    linkage: Annotated[
        Linkage | None,
        typer.Option(
            help="single: a chain of pairs is a cluster. complete-to-keep: each document is itself similar to the one "
            "kept. Default: single; for export and filter, complete-to-keep.",
            show_default=False,
        ),
    ] = None
    within: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only documents of this collection.", show_default=False)
    ] = None
    measure: Annotated[
        Comparing,
        typer.Option(help="containment: drop documents that a longer one contains, from --min-sim on (default: 0.9)."),
    ] = "jaccard"

    def options(self, **others: Any) -> ClusterOptions:
        """Return them in the form that an index expects. Raises: UsageError: a pattern is not a regular expression."""
        from lshdb.clusters.clusters import ClusterOptions

        return ClusterOptions(self.keep, tuple(self.prefer), self.linkage, self.within, measure=self.measure, **others)


def require_installed(verb: str, modules: Iterable[str], extra: str) -> None:
    """Raises: UsageError: a module of an extra is not installed."""
    if missing := [name for name in modules if find_spec(name) is None]:
        raise UsageError(reason=f"lshdb {verb} needs {', '.join(missing)}. Run: pip install 'lshdb[{extra}]'")


def both(collections: list[str] | None) -> tuple[str, str]:
    """Return the collections of two documents. Raises: UsageError: more than two are given."""
    given = collections or ["default"]
    if len(given) > 2:
        raise UsageError(reason="give --collection once, or twice: for A and for B")
    return given[0], given[-1]


def compared(measure: Comparing) -> str:
    """Return the column of the value that compares two documents."""
    return "similarity" if measure == "jaccard" else measure


def open_index(context: typer.Context) -> Index:
    """Open the index that ``--db`` names."""
    from lshdb.cli.display import display_of

    return _brief_index().open(settings_of(context).db, display_of(context))


def asked_index(context: typer.Context) -> Index | Remote:
    """Open the index that ``--db`` names, to ask it; it may be behind a service."""
    if not is_service(address := settings_of(context).db):
        return open_index(context)
    from lshdb.cli.display import display_of
    from lshdb.web.options import TOKEN_VARIABLE
    from lshdb.web.remote import Remote

    return Remote(address, os.environ.get(TOKEN_VARIABLE), display_of(context))


def ensure_index(context: typer.Context, making: Making) -> Index:
    """Open the index that ``--db`` names, and create it if there is none."""
    from lshdb.cli.display import display_of

    return _brief_index().ensure(settings_of(context).db, making.chosen(), display_of(context))


def _brief_index() -> type[Index]:
    """Return the class, for a process that may be over before it needs the compiled kernels."""
    from lshdb.index import Index
    from lshdb.sketch.kernels import begin_with_reference

    begin_with_reference()
    return Index


def recall_line(measured: Measurement) -> str:
    """Return a measured recall as one line."""
    from lshdb.model.reports import CONFIDENCE

    texts = f"{measured.num_probes:,} of {measured.num_contents:,} texts, run {measured.run}"
    if measured.recall is None:
        return f"unknown at {measured.min_sim}: no pair of {texts}"
    interval = f", {measured.low:.4f} to {measured.high:.4f} with {CONFIDENCE:.0%} confidence"
    left_out = f"; oversized buckets left out {measured.num_left_out:,}" if measured.num_left_out else ""
    return (
        f"{measured.recall:.4f} at {measured.min_sim}{interval if measured.low < measured.high else ''}: "
        f"{measured.num_found:,} of {measured.num_pairs:,} pairs of {texts}{left_out}"
    )


def age(text: str | None) -> timedelta | None:
    """Return an age such as ``90d`` or ``12h``. Raises: UsageError: the text is not an age."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)([mhdw])", text)
    if match is None:
        raise UsageError(reason=f"--expire-after {text}: write a number and m, h, d or w, such as 90d")
    unit = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[match[2]]
    return timedelta(**{unit: int(match[1])})


def size(option: str, text: str) -> int:
    """Return the bytes of a size such as ``10MB``, ``500kB`` or ``1.5GB``. Raises: UsageError: it is not a size."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(k|m|g|)b", text.lower())
    num_bytes = int(float(match[1]) * {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}[match[2]]) if match else 0
    if num_bytes < 1:
        raise UsageError(reason=f"{option} {text}: write a number and B, kB, MB or GB, such as 10MB")
    return num_bytes
