"""``lshdb export``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import KeepName, LinkageName, cluster_options, open_index
from lshdb.cli.render import print_json

if TYPE_CHECKING:
    from lshdb.clusters.export import ExportReport

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb export > keep.txt\n
  lshdb export --what dropped --out dropped.csv\n
  lshdb export --what records --out corpus.parquet --min-sim 0.7 --keep longest\n
  lshdb export --what records | zstd > corpus.jsonl.zst"""


class What(StrEnum):
    """What is exported."""

    kept = "kept"
    dropped = "dropped"
    records = "records"


class ExportFormat(StrEnum):
    """How it is written."""

    lines = "lines"
    jsonl = "jsonl"
    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("export", epilog=EPILOG)(export)


def export(
    context: typer.Context,
    what: Annotated[
        What, typer.Option(help="Ids kept; ids dropped and for whom; or the records kept, id and text.")
    ] = What.kept,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: standard output.", show_default=False)
    ] = None,
    form: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", "-f", help="By default what FILE ends in, else lines, tsv, jsonl.", show_default=False
        ),
    ] = None,
    min_sim: options.MinSim = None,
    keep: options.Keep = KeepName.first,
    prefer: options.Prefer = [],  # noqa: B006  (Typer makes a new one)
    linkage: options.Linkage = LinkageName.complete_to_keep,
    within: options.Within = None,
    audit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Account of what was dropped. Default: OUT.audit.jsonl.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    json: options.Json = False,
) -> None:
    """Write the deduplicated corpus: of each cluster the one document that is kept, and all that are in no cluster.

    Empty documents are duplicates of nothing, and kept. Nothing is deleted, neither from the index nor of your files.
    """
    from lshdb.clusters.export import ExportOptions

    chosen = cluster_options(keep, prefer, linkage, within)
    asked = ExportOptions(what.value, form.value if form else None, audit, force, chosen)
    with open_index(context) as index:
        report = index.export(out or sys.stdout, min_sim, asked)
    if json and out:
        print_json(report.as_json())
    elif out:
        typer.echo(_summary(report))


def _summary(report: ExportReport) -> str:
    return (
        f"{report.num_documents:,} documents: {report.num_kept:,} kept ({report.num_empty:,} of them empty), "
        f"{report.num_dropped:,} dropped from {report.num_clusters:,} clusters; {report.seconds:,.1f} s\n"
        f"{report.out}, {report.audit}"
    )
