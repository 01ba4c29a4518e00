"""``lshdb check``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index, settings_of
from lshdb.cli.render import Output, counted, print_json, print_records
from lshdb.errors import IndexFaulty, UsageError

if TYPE_CHECKING:
    from lshdb.audit import Auditing, Thoroughness
    from lshdb.index import Index

__all__ = ["EPILOG", "check"]

COLUMNS = ("fault", "table", "key", "detail", "repair")
SAMPLE = 5_000

REPAIRABLE = "The column repair says what lshdb check --repair does about each."
LEFT = "What is left cannot be derived from the index; the column repair says what helps."

EPILOG = """[bold]Examples[/bold]\n
  lshdb check\n
  lshdb check --all --format csv > faults.csv  # recompute everything\n
  lshdb check --repair\n
\n
Exits with status 26 if it finds faults, or, with --repair, if some remain. An ingest may run meanwhile."""


def check(
    context: typer.Context,
    every: Annotated[
        bool, typer.Option("--all", help="Recompute every text and pair, and read every page and source.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Recompute N random texts and pairs, find missing pairs of N texts, and read about N documents again "
            "from their sources. Default: 5000.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample.")] = 1,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair everything that can be derived, and check again.")
    ] = False,
    wait: options.Wait = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="List at most N faults of a kind.")] = 20,
    json: options.Json = False,
    *,
    output: Output,
) -> None:
    """Check that the index is consistent.

    It checks all rows, and all buckets against their signatures. For a sample, it recomputes signatures and
    similarities, looks for missing pairs, and reads documents again from their sources.

    Documents without a source, and those whose source is gone or has changed, cannot be compared with anything. Nor can
    the names of collections, the counts of runs, and the lists of rejected items.
    """
    output.refuse_with_json(json)
    thoroughness = _thoroughness(every, sample, seed, limit)
    with open_index(context) as index:
        audit = index.check(thoroughness)
        found = _listed(audit, json, output)
        said = [*_summary(audit, limit)]
        if repair and audit.counts:
            said += _repaired(index, audit, wait, limit)
    if json:
        print_json(found | ({"left": audit.as_json()} if repair else {}))
    if not settings_of(context).quiet:
        typer.echo("\n".join(said), err=True)
    if audit.counts:
        raise IndexFaulty(url=index.url, faults=_kinds(audit), advice=LEFT if repair else REPAIRABLE)


def _thoroughness(every: bool, sample: int | None, seed: int, limit: int) -> Thoroughness:
    """Return how much to recompute. Raises: UsageError."""
    from lshdb.audit import Thoroughness

    if every and sample is not None:
        raise UsageError(reason="use either --all or --sample")
    return Thoroughness(None if every else SAMPLE if sample is None else sample, seed, limit)


def _listed(audit: Auditing, json: bool, output: Output) -> dict[str, object]:
    """Print the faults, unless one JSON object is wanted. Returns: that object."""
    if json:
        _run(audit)
    else:
        print_records(COLUMNS, audit, output)
    return audit.as_json()


def _repaired(index: Index, audit: Auditing, wait: bool, limit: int) -> list[str]:
    """Repair the faults and check again. Returns: lines about the remaining faults and the next ingest."""
    num_sources = index.repair(audit.counts, wait=wait)
    _run(audit)
    first, *others = _summary(audit, limit)
    if num_sources:
        lacking = counted(num_sources, "source lacks documents or differs", "sources lack documents or differ")
        others.append(f"{lacking}; the next ingest reads {'it' if num_sources == 1 else 'them'} again")
    return [f"repaired: {first}", *others]


def _run(audit: Auditing) -> None:
    for _ in audit:
        pass


def _summary(audit: Auditing, limit: int) -> Iterator[str]:
    """Yield a line with the counts, and one about the sources that could not be read again, if there are any."""
    unlisted = sum(max(0, number - limit) for number in audit.counts.values())
    yield (
        f"{counted(audit.counts.total(), 'fault')}{f', {unlisted:,} of them not listed' if unlisted else ''}; "
        f"{counted(audit.num_contents, 'content')} checked, {counted(audit.num_texts, 'text')} sketched, "
        f"{counted(audit.num_pairs, 'pair')} computed and "
        f"{counted(audit.num_documents, 'document')} read again; {audit.seconds:,.1f} s"
    )
    if audit.unexamined:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in audit.unexamined.items())
        yield f"{counted(audit.unexamined.total(), 'source')} not compared: {reasons}"


def _kinds(audit: Auditing) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in audit.counts.most_common())
