"""``lshdb filter``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote_to_bytes

import typer

from lshdb.cli import options
from lshdb.cli.options import Clustering, open_index
from lshdb.cli.render import print_report
from lshdb.errors import SourceUnreadable, UsageError
from lshdb.model.choices import Unknown

if TYPE_CHECKING:
    from lshdb.rows.options import FilterReport

__all__ = ["EPILOG", "filter"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb filter shards --out deduplicated\n
  lshdb filter news.jsonl.zst --out deduplicated --min-sim 0.9 --keep longest\n
  lshdb filter shards --out duplicates --dropped"""


def filter(
    context: typer.Context,
    clustering: Clustering,
    paths: Annotated[list[Path], typer.Argument(metavar="IN", help="Files and folders, as they were ingested.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write to; it is made.", show_default=False)
    ] = None,
    dropped: Annotated[bool, typer.Option("--dropped", help="Write the records that are dropped instead.")] = False,
    unknown: Annotated[
        Unknown, typer.Option(help="Records that are not in the index: keep them, drop them, or fail.")
    ] = "keep",
    link: Annotated[bool, typer.Option("--link", help="Hard links instead of copies of whole files.")] = False,
    min_sim: options.MinSim = None,
    include: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only files that match this glob.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Skip files and folders that match this glob.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(min=1, max=22, help="Compression level. Default: the usual one.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files of others in DIR.")] = False,
    json: options.Json = False,
) -> None:
    """Write the original records of the documents to keep.

    Every file of IN is written to DIR under its name, in its format and compression, without the records that
    are dropped. A record is one line, row, page of a WARC, or file, and is copied byte for byte. Run it again to
    continue after an interruption; files that are complete are left as they are.
    """
    from lshdb.rows.options import FilterOptions

    if out is None:
        raise UsageError(reason="filter needs a folder to write to: --out DIR")
    asked = FilterOptions(
        dropped=dropped,
        unknown=unknown,
        link=link,
        force=force,
        level=level,
        include=tuple(include or ()),
        exclude_globs=tuple(exclude or ()),
        clusters=clustering.options(),
    )
    with open_index(context) as index:
        report = index.filter(paths, out, min_sim, asked)
    _show(report, unknown, as_json=json)


def _show(report: FilterReport, unknown: Unknown, *, as_json: bool) -> None:
    """Print the report. Raises: SourceUnreadable: a file could not be read."""
    print_report(report, _summary(report, unknown), as_json=as_json)
    for one in report.failed[1:]:
        typer.echo(f"failed  {_path(one.source)}: {one.reason}", err=True)
    if report.failed:
        raise SourceUnreadable(path=_path(report.failed[0].source), reason=report.failed[0].reason)


def _path(uri: str) -> str:
    return os.fsdecode(unquote_to_bytes(uri.removeprefix("file://")))


def _summary(report: FilterReport, unknown: Unknown) -> str:
    counts = report.counts
    elsewhere = f" ({report.num_elsewhere:,} for documents in other files)" if report.num_elsewhere else ""
    parts = [f"{counts.num_kept:,} kept", f"{counts.num_dropped:,} dropped{elsewhere}"]
    treated = "kept" if unknown == "keep" else "dropped"
    if counts.num_unknown:
        parts.append(f"{counts.num_unknown:,} not in the index ({treated})")
    if counts.num_rejected:
        parts.append(f"{counts.num_rejected:,} rejected by the index ({treated})")
    if counts.num_other:
        parts.append(f"{counts.num_other:,} that are no documents")
    present = f", {report.num_present:,} of them complete before" if report.num_present else ""
    return (
        f"{counts.num_records:,} records in {report.num_files:,} files{present}: {', '.join(parts)}; "
        f"{report.seconds:,.1f} s\n{report.out}"
    )
