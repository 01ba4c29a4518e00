"""``lshdb export``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.escapes import shown_on
from lshdb.cli.options import Clustering, open_index
from lshdb.cli.output import STDOUT, RawOption
from lshdb.cli.render import counted, print_report
from lshdb.errors import UsageError
from lshdb.model.choices import ExportFormat, What

if TYPE_CHECKING:
    from lshdb.clusters.export import ExportReport

__all__ = ["EPILOG", "export"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb export > keep.txt\n
  lshdb export --what dropped --out dropped.csv\n
  lshdb export --measure containment > keep.txt\n
  lshdb export --what records --out corpus.parquet --min-sim 0.7 --keep longest\n
  lshdb export --what records | zstd > corpus.jsonl.zst"""


def export(
    context: typer.Context,
    clustering: Clustering,
    what: Annotated[
        What, typer.Option(help="Ids kept; ids dropped, with the id kept instead; or records kept, with their texts.")
    ] = "kept",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE|-", help="Default: -, standard output.", show_default=False),
    ] = None,
    form: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", "-f", help="Default: by the suffix of FILE, otherwise lines, tsv, jsonl.", show_default=False
        ),
    ] = None,
    min_sim: options.MinSim = None,
    audit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Record of what was dropped. Default: OUT.audit.jsonl.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    raw: RawOption = False,
    json: options.Json = False,
) -> None:
    """Write the deduplicated corpus.

    It has one document of each cluster, and every document that is in no cluster, such as empty ones. Nothing is
    deleted, neither from the index nor from your files.

    With --measure containment, a document is dropped if a longer kept one contains it. The index must have passages
    (lshdb passages --build).
    """
    from lshdb.clusters.export import ExportOptions

    out = None if str(out) == STDOUT else out
    if out is None and json:
        raise UsageError(reason="--json describes what was written to a file; name one with --out")
    if str(audit) == STDOUT:
        raise UsageError(reason="--audit takes a file, because the documents may go to standard output")
    printed = sys.stdout if raw else shown_on(sys.stdout, as_json=form == "jsonl" or what == "records")
    asked = ExportOptions(what, form, audit, force, clustering.options(), raw)
    with open_index(context) as index:
        report = index.export(out or printed, min_sim, asked)
    if out:
        print_report(report, _summary(report), as_json=json)


def _summary(report: ExportReport) -> str:
    return (
        f"{counted(report.num_documents, 'document')}: {report.num_kept:,} kept ({report.num_empty:,} of them empty), "
        f"{report.num_dropped:,} dropped from {counted(report.num_clusters, 'cluster')}; {report.seconds:,.1f} s\n"
        f"{report.out}, {report.audit}"
    )
