"""``lshdb stats``."""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import asked_index
from lshdb.cli.render import Listing, Output, counted, print_records, print_report, print_rows, visible
from lshdb.errors import UsageError
from lshdb.model.params import FORGEABLE_DIGESTS, FORGEABLE_HASHES

if TYPE_CHECKING:
    from lshdb.answers.hot_buckets import Hottest
    from lshdb.model.reports import Stats

__all__ = ["EPILOG", "stats"]

EXAMPLES = ("first", "second", "third")
HOT = Listing(("contents", "skipped_pairs", "bands", *EXAMPLES, "beginning"), EXAMPLES)
REJECTED = Listing(("source", "locator", "reason"), ("source",), "rejection")

EPILOG = """[bold]Examples[/bold]\n
  lshdb stats\n
  lshdb stats --json | jq .figures.pairs\n
  lshdb stats --rejected 3\n
  lshdb stats --hot --limit 5  # what fills the largest buckets"""


def stats(
    context: typer.Context,
    json: options.Json = False,
    rejected: Annotated[
        int | None, typer.Option(metavar="RUN", help="List what this run could not ingest.", show_default=False)
    ] = None,
    hot: Annotated[bool, typer.Option("--hot", help="List the largest buckets, with documents in them.")] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Number of buckets that --hot lists.")] = 10,
    *,
    output: Output,
) -> None:
    """Print the size of the index, its parameters and its last runs."""
    _require_one_answer(output, json=json, rejected=rejected is not None, hot=hot)
    with asked_index(context) as index:
        if rejected is not None:
            print_records(REJECTED, index.rejections(rejected), output)
        elif hot:
            print_rows(HOT, map(_hot_row, index.hottest(limit)), output)
        else:
            found = index.stats()
            print_report(found, "\n".join(_lines(found)), as_json=json)


def _require_one_answer(output: Output, *, json: bool, rejected: bool, hot: bool) -> None:
    """Refuse options that contradict each other, and row options when no rows are printed. Raises: UsageError."""
    if rejected and hot:
        raise UsageError(reason="use either --rejected or --hot")
    if json and (rejected or hot):
        raise UsageError(reason="--json prints the figures; for rows use --format jsonl")
    output.refuse_with_json(json)
    if not (rejected or hot) and output.is_chosen:
        raise UsageError(reason="--format and --out are for --rejected and --hot; for the figures use --json")


def _lines(stats: Stats) -> list[str]:
    params, figures = stats.params, stats.figures
    kept = "texts kept" if params.keep_text else "texts not kept"
    sources = counted(figures.num_sources, "source")
    rows = {
        "index": stats.url,
        "size": f"{figures.num_bytes / 1e6:,.1f} MB",
        "documents": f"{figures.num_documents:,} ({figures.num_empty:,} empty) from {sources}",
        "contents": f"{figures.num_contents:,} ({kept}, {figures.num_unlinked:,} not linked)",
        "pairs": f"{figures.num_pairs:,} at {params.floor} or more ({figures.num_estimated_pairs:,} only estimated)",
        "hot buckets": f"{figures.num_hot_buckets:,}, with {counted(figures.num_skipped_pairs, 'pair')} not expanded",
        **_passages(stats),
        **_forgeable(stats),
        "shingles": f"{params.shingle}{', multiset' if params.multiset else ''}",
        "signatures": f"{params.scheme}, {params.num_perm} minima, {params.bands} bands of {params.rows} rows",
        "recall": _recall(stats),
    }
    if len(stats.collections) > 1:
        rows["collections"] = ", ".join(f"{name} {number:,}" for name, number in stats.collections.items())
    lines = [f"{name:12}{value}" for name, value in rows.items()]
    for run in stats.runs:
        goes_on = "; run the same command to continue" if run.state == "killed" and run == stats.runs[0] else ""
        lines.append(
            f"run {run.run:<8}{run.verb} {run.state}{goes_on}, {run.started_at}: {run.num_added:,} added, "
            f"{run.num_updated:,} updated, {run.num_removed:,} removed, {run.num_rejected:,} rejected"
        )
    return lines + _unfinished(stats)


def _recall(stats: Stats) -> str:
    """Return the measured recall, or else what the bands promise."""
    if stats.recall is not None:
        return options.recall_line(stats.recall)
    promised = f"{stats.params.recall:.4f} promised at {stats.params.min_sim}"
    if not stats.figures.num_skipped_pairs:
        return promised
    return f"{promised}, not counting the pairs that hot buckets left out; tune --measure counts them"


def _passages(stats: Stats) -> dict[str, str]:
    """Return a line for an index with passages; none for others."""
    if not stats.params.passages:
        return {}
    frequent, skipped = stats.figures.num_frequent_fingerprints, stats.figures.num_skipped_containments
    shown = f"of {counted(stats.params.passages, 'word')}; {counted(frequent, 'frequent fingerprint')}"
    return {"passages": f"{shown}, with {counted(skipped, 'pair')} not compared by containment" if frequent else shown}


def _forgeable(stats: Stats) -> dict[str, str]:
    """Return a line for an index of an old version; none for others."""
    version = stats.params.table_version
    if version not in FORGEABLE_HASHES:
        return {}
    if version == FORGEABLE_DIGESTS:
        return {"hashes": f"{version}: a hostile text can pass for another one; lshdb upgrade or a new index helps"}
    return {"hashes": f"{version}: a hostile text can pass for similar to another one, but not in a new index"}


def _unfinished(stats: Stats) -> list[str]:
    """Return lines on the sources that were not read to their end, and where the next run continues."""
    if not stats.num_unfinished:
        return []
    lines = [f"unfinished  {counted(stats.num_unfinished, 'source')} read in part; the next run over them continues"]
    return lines + [
        f"            after item {source.position:,} of {visible(source.uri)}" for source in stats.unfinished
    ]


def _hot_row(found: Hottest) -> tuple[object, ...]:
    documents = chain(found.documents, repeat(None))
    return found.num_contents, found.num_skipped, found.num_bands, *islice(documents, len(EXAMPLES)), found.beginning
