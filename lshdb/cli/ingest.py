"""``lshdb ingest``."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from lshdb.cli import options
from lshdb.cli.dupes import dupes
from lshdb.cli.memory import share_one_arena
from lshdb.cli.options import Making, Reading, age, ensure_index, settings_of
from lshdb.cli.render import Output, counted, print_note, print_report
from lshdb.cli.verdict import allowance, rejections, verdict, warnings, without_text
from lshdb.errors import UsageError
from lshdb.model.choices import OnConflict

if TYPE_CHECKING:
    from lshdb.model.reports import IngestReport

__all__ = ["EPILOG", "ingest", "show"]

# Bytes of files that are read sooner by workers that start while this process imports the rest: 10,000 short documents.
# It is that of `Budgets.chunk_bytes`, whose import would take half of the time that is gained.
EARLY_BYTES: Final = 4_000_000
# Paths that a message names.
MAX_NAMED: Final = 3

EPILOG = """[bold]Examples[/bold]\n
  lshdb ingest ./crawl\n
  lshdb --quiet ingest --prune /srv/crawl  # every night from cron\n
  lshdb ingest --dupes --text-field body news.jsonl.zst\n
  lshdb --db postgresql://me@host/crawl ingest --include '*.warc.gz' ./warcs\n
  find . -name '*.html' -mtime -1 | lshdb ingest --from-file -\n
  lshdb ingest --shingle set features.sets"""


def ingest(
    context: typer.Context,
    reading: Reading,
    making: Making,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help="Files and folders; - is standard input.")
    ] = None,
    from_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with one path per line; - is standard input.")
    ] = None,
    include: options.Include = None,
    exclude: options.Exclude = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose file or record no longer exists.")
    ] = False,
    expire_after: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="Remove what no run has seen for this long: 90d, 12h.", show_default=False),
    ] = None,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Follow symbolic links that lead out of the folder they are in.")
    ] = False,
    on_conflict: Annotated[
        OnConflict | None,
        typer.Option(
            help="If another file has the id with a different text: replace that document, keep it, stop with an "
            "error, or qualify the new id (ID@FILE). Default: replace it if its file is older, otherwise qualify.",
            show_default=False,
        ),
    ] = None,
    no_link: Annotated[
        bool, typer.Option("--no-link", help="Leave the pairs to the first question that needs them.")
    ] = False,
    wait: options.Wait = False,
    collection: options.Collection = "default",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that read. Default: as many as help.", show_default=False)
    ] = None,
    max_rejected: Annotated[
        str | None,
        typer.Option(
            metavar="N|P%",
            help="Stop once more than N documents are rejected, or fail at the end if more than P % are. Default: fail "
            "above 50%, or if ingest accepts nothing in a source, or gives up on it.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Read only the first documents, to try a corpus. The next run continues."),
    ] = None,
    json: options.Json = False,
    then_dupes: Annotated[
        bool, typer.Option("--dupes", help="Then print the pairs, as lshdb dupes does; the report goes to stderr.")
    ] = False,
) -> None:
    """Add or refresh documents from files and folders.

    Unchanged files are not read again. The options to create an index apply to the first ingest.
    """
    if json and then_dupes:
        raise UsageError(reason="use either --json, or --dupes")
    # With a limit, this process reads alone.
    _start_workers(paths or [], workers if limit is None else 1)
    from lshdb.ingest.options import Budgets, IngestOptions

    allowed = allowance(max_rejected)
    ways = IngestOptions(
        collection=collection,
        prune=prune,
        read=reading.options(),
        workers=workers,
        include=tuple(include or ()),
        exclude_globs=tuple(exclude or ()),
        must_exist=from_file is None,
        follow_links=follow_links,
        expire_after=age(expire_after),
        on_conflict=on_conflict,
        max_rejected=allowed.number,
        limit=limit,
        budgets=Budgets(rejected_share=allowed.share_of_source),
    )
    wanted = _paths(paths or [], from_file)
    share_one_arena()
    with ensure_index(context, making) as index:
        report = index.ingest(wanted, ways, link=not no_link, wait=wait)
    show(context, report, json, on_stderr=then_dupes)
    if then_dupes:
        dupes(context, output=Output())
    if (error := verdict(report, ", ".join(map(str, wanted[:MAX_NAMED])), index.url, allowed)) is not None:
        raise error


def _start_workers(named: list[Path], workers: int | None) -> None:
    """Start worker processes before this one has imported the rest, if the named files are large."""
    num_bytes = 0
    for path in named:
        with suppress(OSError):
            num_bytes += path.stat().st_size
    if num_bytes >= EARLY_BYTES:
        from lshdb.ingest.workers import start_early

        start_early(workers)


def _paths(named: list[Path], from_file: Path | None) -> list[Path]:
    """Return the paths to read. Raises: PathMissing, before an index is created for a misspelt path."""
    from lshdb.readers import listed, require_existing

    found = [] if from_file is None else listed(from_file)
    if not named and from_file is None:
        raise UsageError(reason="ingest takes a PATH, or --from-file")
    require_existing(named)
    return [*named, *map(Path, found)]


def show(context: typer.Context, report: IngestReport, json: bool, *, on_stderr: bool = False) -> None:
    """Print the report of an ingest, and its warnings."""
    from lshdb.cli.display import display_of

    display, summary, quiet = display_of(context), _summary(report), settings_of(context).quiet
    for warning in warnings(report, quiet=quiet):
        display.warned(warning)
    display.summarised(summary)
    if on_stderr and not quiet:
        print_note(summary)
    elif json or not quiet:
        print_report(report, summary, as_json=json)


def _summary(report: IngestReport) -> str:
    counts = report.counts
    parts = {
        "added": counts.num_added,
        "updated": counts.num_updated,
        "unchanged": counts.num_unchanged,
        "removed": counts.num_removed,
        "of them empty": counts.num_empty,
        "of them with bytes replaced": counts.num_replaced,
        rejections(report): counts.num_rejected,
        "rejected in earlier runs": report.num_rejected_before,
    }
    said = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number) or "nothing to read"
    skipped = f"; {without_text(report)} skipped" if report.num_skipped else ""
    links = counted(report.num_unfollowed, "symbolic link leads", "symbolic links lead")
    unfollowed = f"; {links} out of the folder (see --follow-links)" if report.num_unfollowed else ""
    limited = "; --limit left the rest unread, and the next run continues there" if report.is_limited else ""
    rate = f"{counts.num_bytes / 1e6:,.1f} MB in {report.seconds:,.1f} s"
    return (
        f"run {report.run}: {said}; {counted(report.pairs_added, 'pair')} added{skipped}{unfollowed}{limited}; {rate}"
    )
