"""``lshdb ingest``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import chosen, ensure_index, settings_of
from lshdb.cli.render import print_json
from lshdb.errors import UsageError

if TYPE_CHECKING:
    from lshdb.model.reports import IngestReport

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb ingest ./crawl\n
  lshdb --quiet ingest --prune /srv/crawl          every night from cron\n
  lshdb ingest --text-field body news.jsonl.zst\n
  lshdb --db postgresql://me@host/crawl ingest --include '*.warc.gz' ./warcs\n
  find . -name '*.html' -mtime -1 | lshdb ingest --from-file -\n
  lshdb ingest --shingle set features.sets"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("ingest", epilog=EPILOG)(ingest)


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files and folders; - is standard input.")
    ] = None,
    from_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A list of paths, one a line; - is standard input.")
    ] = None,
    include: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only files like this.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="No files or folders like this.")] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose file, or record in it, is gone.")
    ] = False,
    expire_after: Annotated[
        str | None, typer.Option(metavar="AGE", help="Remove what no run has seen for 90d, 12h ...", show_default=False)
    ] = None,
    no_link: Annotated[bool, typer.Option("--no-link", help="Leave the pairs to the first question for them.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for another ingest into this file to end.")] = False,
    collection: options.Collection = "default",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that read. Default: as many as pay.", show_default=False)
    ] = None,
    json: options.Json = False,
    base: options.Base = None,
    id_prefix: options.IdPrefix = "",
    id_field: options.IdField = "id",
    text_field: options.TextField = "text",
    input_format: options.InputFormat = None,
    max_text: options.MaxText = "10MB",
    shingle: options.Shingle = None,
    multiset: options.Multiset = None,
    scheme: options.Scheme = None,
    promise: options.Promise = None,
    recall: options.PromisedRecall = None,
    num_perm: options.Minima = None,
    bands: options.Bands = None,
    rows: options.Rows = None,
    seed: options.Seed = None,
    floor: options.Floor = None,
    keep_text: options.KeepText = None,
    html: options.Html = None,
) -> None:
    """Add or refresh documents from files and folders; what did not change is not read again."""
    from lshdb.ingest.ingestion import IngestOptions
    from lshdb.readers import ReadOptions

    given = chosen(
        shingle=shingle, multiset=multiset, scheme=scheme, bands=bands, rows=rows,
        min_sim=promise, recall=recall, num_perm=num_perm, seed=seed, floor=floor, keep_text=keep_text, html=html,
    )  # fmt: skip
    ways = IngestOptions(
        collection=collection,
        prune=prune,
        read=ReadOptions(
            id_field=id_field,
            text_field=text_field,
            input_format=input_format,
            base=options.base_folder(base),
            max_text=options.size("--max-text", max_text),
            id_prefix=id_prefix,
        ),
        workers=workers,
        include=tuple(include or ()),
        exclude_globs=tuple(exclude or ()),
        must_exist=from_file is None,
        expire_after=options.age(expire_after),
    )
    wanted = _paths(paths or [], from_file)
    with ensure_index(context, given) as index:
        report = index.ingest(wanted, ways, link=not no_link, wait=wait)
    if report.num_displaced and not settings_of(context).quiet:
        typer.echo(
            f"note  {report.num_displaced:,} documents took the place of others with the same id from another file; "
            "--id-prefix or --collection keeps both",
            err=True,
        )
    if json:
        print_json(report.as_json())
    elif not settings_of(context).quiet:
        typer.echo(_summary(report))


def _paths(named: list[Path], from_file: Path | None) -> list[Path]:
    from lshdb.readers import listed_paths

    listed = [] if from_file is None else listed_paths(from_file)
    if not named and from_file is None:
        raise UsageError(reason="ingest takes a PATH, or --from-file")
    return [*named, *map(Path, listed)]


def _summary(report: IngestReport) -> str:
    counts = report.counts
    parts = {
        "added": counts.num_added,
        "updated": counts.num_updated,
        "unchanged": counts.num_unchanged,
        "removed": counts.num_removed,
        "of them empty": counts.num_empty,
        "of them with bytes replaced": counts.num_replaced,
        _rejected(report): counts.num_rejected,
    }
    said = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number) or "nothing to read"
    skipped = f"; {report.num_skipped:,} files or records without text skipped" if report.num_skipped else ""
    rate = f"{counts.num_bytes / 1e6:,.1f} MB in {report.seconds:,.1f} s"
    return f"run {report.run}: {said}; {report.pairs_added:,} pairs added{skipped}; {rate}"


def _rejected(report: IngestReport) -> str:
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in report.rejected_by_reason.items())
    return f"rejected ({reasons})"
