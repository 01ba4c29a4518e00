"""``lshdb filter``."""

from __future__ import annotations

import os
import sys
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote_to_bytes

import typer

from lshdb.cli import options
from lshdb.cli.options import Clustering, open_index, settings_of
from lshdb.cli.render import counted, print_json, print_note, print_report, print_rows
from lshdb.errors import SourceUnreadable, UsageError
from lshdb.model.choices import Unknown

if TYPE_CHECKING:
    from lshdb.clusters.rows.options import DeletionReport, FilterReport

__all__ = ["EPILOG", "filter"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb filter shards --out deduplicated\n
  lshdb filter news.jsonl.zst --out deduplicated --min-sim 0.9 --keep longest\n
  lshdb filter shards --out duplicates --dropped\n
  lshdb filter shards --out cleaned --without-boilerplate 20\n
  lshdb filter pages --delete --dry-run\n
  zstdcat news.jsonl.zst | lshdb filter - | wc -l"""

STDIN = "-"
SHOWN_PASSAGES = 5
SHOWN_CHARACTERS = 80


def filter(
    context: typer.Context,
    clustering: Clustering,
    paths: Annotated[
        list[Path], typer.Argument(metavar="IN", help="Files and folders, as they were ingested; - is stdin.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write to; it is created.", show_default=False)
    ] = None,
    dropped: Annotated[bool, typer.Option("--dropped", help="Write the dropped records instead.")] = False,
    unknown: Annotated[
        Unknown, typer.Option(help="Records that are not in the index: keep them, drop them, or fail.")
    ] = "keep",
    link: Annotated[bool, typer.Option("--link", help="Hard-link whole files instead of copying them.")] = False,
    print0: Annotated[bool, typer.Option("--print0", help="Only list whole files, for xargs -0.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the dropped whole files.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --delete, only list them.")] = False,
    without_boilerplate: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="MIN_DOCS",
            help="Remove passages from the texts if at least this many kept documents share them.",
            show_default=False,
        ),
    ] = None,
    min_sim: options.MinSim = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    follow_links: Annotated[bool, typer.Option("--follow-links", help="As in ingest.")] = False,
    id_field: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Field of the id, on standard input. Default: id.", show_default=False),
    ] = None,
    id_prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Prefix of the ids, on standard input.", show_default=False)
    ] = "",
    collection: Annotated[
        str, typer.Option("--collection", metavar="NAME", help="Collection of the ids, on standard input.")
    ] = "default",
    level: Annotated[
        int | None,
        typer.Option(min=1, max=22, help="Compression level. Default: the usual one.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that filter did not write.")] = False,
    json: options.Json = False,
) -> None:
    """Write the original records of the documents to keep.

    Every file of IN is written to DIR with the same name, format and compression, but without the dropped records.
    A record is a line, a row, a page of a WARC, or a whole file, and is copied byte for byte. Run the command again
    to continue after an interruption; complete files are not written again.

    With - for IN, JSON lines are read from standard input, and those to keep are written to standard output. Their
    ids are looked up in the index.

    --delete deletes dropped files that are one document each. It spares a file if the document kept in its place
    no longer exists or has changed. Try it with --dry-run first.

    --without-boilerplate removes every passage that at least MIN_DOCS kept documents of the index share from the texts
    of JSON lines, CSV, TSV and Parquet. Nothing else in a record changes. A record that has no words left is not
    written. The index must have passages (lshdb passages --build).
    """
    from lshdb.clusters.rows.options import FilterOptions
    from lshdb.readers import ReadOptions

    _require_one_way(out, print0=print0, delete=delete, dry_run=dry_run)
    is_stream = not (print0 or delete) and _is_stream(paths, out)
    if without_boilerplate is not None and (print0 or delete or is_stream):
        raise UsageError(reason="--without-boilerplate writes to a folder: --out DIR")
    asked = FilterOptions(
        dropped=dropped,
        unknown=unknown,
        link=link,
        force=force,
        level=level,
        include=tuple(include or ()),
        exclude_globs=tuple(exclude or ()),
        follow_links=follow_links,
        collection=collection,
        read=ReadOptions(id_field=id_field, id_prefix=id_prefix),
        clusters=clustering.options(),
        without_boilerplate=without_boilerplate,
    )
    with open_index(context) as index:
        if delete:
            _show_deleted(index.delete_files(paths, min_sim, asked, dry_run=dry_run), as_json=json)
            return
        if print0:
            for path in index.wanted_files(paths, min_sim, asked):
                sys.stdout.buffer.write(os.fsencode(path) + b"\0")
            return
        if is_stream:
            report = index.filter_lines(sys.stdin.buffer, sys.stdout.buffer, min_sim, asked)
        else:
            report = index.filter(paths, out or "", min_sim, asked)
    if not is_stream:
        _show(report, unknown, as_json=json, quiet=settings_of(context).quiet)
    elif not settings_of(context).quiet:
        # Standard output carries the records.
        typer.echo(dumps(report.as_json()) if json else _summary(report, unknown), err=True)


def _require_one_way(out: Path | None, *, print0: bool, delete: bool, dry_run: bool) -> None:
    """Raises: UsageError: options exclude each other."""
    if (out is not None) + print0 + delete > 1:
        raise UsageError(reason="filter takes one of --out, --print0 and --delete")
    if dry_run and not delete:
        raise UsageError(reason="--dry-run is for --delete")


def _show_deleted(report: DeletionReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.as_json())
        return
    print_rows(("file", "kept_for"), ((str(one.path), one.kept) for one in report.deleted), None)
    for one in report.spared:
        print_note(f"spared  {_path(one.source)}: {one.reason}")
    done = "would be deleted" if report.dry_run else "deleted"
    hint = "" if report.dry_run or not report.deleted else "; to remove them from the index: lshdb ingest --prune IN"
    typer.echo(f"{counted(len(report.deleted), 'file')} {done}, {report.num_bytes / 1e6:,.1f} MB{hint}", err=True)
    if report.num_containers:
        have = counted(report.num_containers, "file has", "files have")
        typer.echo(f"note  {have} many records; to filter their records: --out DIR", err=True)


def _is_stream(paths: list[Path], out: Path | None) -> bool:
    """Return whether standard input is filtered to standard output. Raises: UsageError: only one of them is."""
    names = [str(path) for path in paths]
    if names == [STDIN] and (out is None or str(out) == STDIN):
        return True
    if STDIN in names or str(out) == STDIN:
        raise UsageError(reason="filter reads standard input only to write to standard output: lshdb filter -")
    if out is None:
        raise UsageError(reason="filter needs a folder to write to: --out DIR")
    return False


def _show(report: FilterReport, unknown: Unknown, *, as_json: bool, quiet: bool) -> None:
    """Print the report. Raises: SourceUnreadable: a file could not be read."""
    if as_json or not quiet:
        print_report(report, _summary(report, unknown) + _taken(report), as_json=as_json)
    if report.num_dangling:
        names = counted(report.num_dangling, "revisit names", "revisits name")
        typer.echo(f"warning  {names} a record that was dropped", err=True)
    for one in report.failed[1:]:
        print_note(f"failed  {_path(one.source)}: {one.reason}")
    if report.failed:
        raise SourceUnreadable(path=_path(report.failed[0].source), reason=report.failed[0].reason)


def _taken(report: FilterReport) -> str:
    """Return lines about the boilerplate that was taken out, and the most frequent passages of it."""
    taken = report.taken
    if taken is None:
        return ""
    emptied = f"; {taken.num_emptied:,} of these had no words left" if taken.num_emptied else ""
    summary = (
        f"\nboilerplate: {counted(taken.num_runs, 'passage')}, {counted(taken.num_words, 'word')}, "
        f"{taken.num_bytes / 1e6:,.1f} MB, from {counted(taken.num_records, 'record')}{emptied}"
    )
    shown = taken.passages[:SHOWN_PASSAGES]
    return summary + "".join(
        f"\n{one.num_records:7,} x {counted(one.num_words, 'word')}: {_cut(one.text)}" for one in shown
    )


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def _path(uri: str) -> str:
    return os.fsdecode(unquote_to_bytes(uri.removeprefix("file://")))


def _summary(report: FilterReport, unknown: Unknown) -> str:
    counts = report.counts
    elsewhere = (
        f" ({report.num_elsewhere:,} for documents that are elsewhere or gone; lshdb ingest --prune removes gone ones)"
        if report.num_elsewhere
        else ""
    )
    parts = [f"{counts.num_kept:,} kept", f"{counts.num_dropped:,} dropped{elsewhere}"]
    treated = "kept" if unknown == "keep" else "dropped"
    if counts.num_unknown:
        parts.append(f"{counts.num_unknown:,} not in the index ({treated})")
    if counts.num_rejected:
        parts.append(f"{counts.num_rejected:,} rejected by the index ({treated})")
    if counts.num_other:
        parts.append(f"{counts.num_other:,} that are no documents")
    place = "" if report.out is None else f" in {counted(report.num_files, 'file')}"
    present = f", {report.num_present:,} of them complete before" if report.num_present else ""
    return f"{counted(counts.num_records, 'record')}{place}{present}: {', '.join(parts)}; {report.seconds:,.1f} s" + (
        "" if report.out is None else f"\n{report.out}"
    )
