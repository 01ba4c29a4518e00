"""``lshdb check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index, settings_of
from lshdb.cli.render import print_json, print_rows
from lshdb.errors import IndexFaulty, UsageError

if TYPE_CHECKING:
    from lshdb.audit import Auditing

__all__ = ["register"]

COLUMNS = ("fault", "table", "key", "detail", "repair")
SAMPLE = 5_000

REPAIRABLE = "The column repair says what lshdb check --repair mends."
LEFT = "What is left cannot be derived from the index; the column repair says what helps."

EPILOG = """[bold]Examples[/bold]\n
  lshdb check\n
  lshdb check --all --format csv > faults.csv      every text sketched and every pair computed again\n
  lshdb check --repair\n
\n
Ends with 26 where there are faults, with --repair where some are left. An ingest may go on meanwhile."""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("check", epilog=EPILOG)(check)


def check(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Recompute every text and pair, and read every page.")] = False,
    sample: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Recompute N random texts and pairs. Default 5000.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn at random.")] = 1,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be derived, and check again.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --repair: wait for an ingest into this file.")] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Faults of a kind that are listed.")] = 20,
    json: options.Json = False,
    form: options.FormatOption = None,
) -> None:
    """Check that everything in the index agrees: rows, texts, signatures, buckets and pairs.

    Rows are all checked, and buckets against their signatures; signatures against texts, and similarities, by sample.
    """
    from lshdb.audit import Thoroughness

    if every and sample is not None:
        raise UsageError(reason="--all is every text and pair; leave it out, or --sample")
    with open_index(context) as index:
        drawn = None if every else SAMPLE if sample is None else sample
        audit = index.check(Thoroughness(drawn, seed, limit))
        found = _listed(audit, json, form)
        said = [_summary(audit, limit)]
        if repair and audit.counts:
            index.repair(audit.counts, wait=wait)
            for _ in audit:
                pass
            said.append(f"repaired: {_summary(audit, limit)}")
        url = index.url
    if json:
        print_json(found | ({"left": audit.as_json()} if repair else {}))
    if not settings_of(context).quiet:
        typer.echo("\n".join(said), err=True)
    if audit.counts:
        raise IndexFaulty(url=url, faults=_kinds(audit), advice=LEFT if repair else REPAIRABLE)


def _listed(audit: Auditing, json: bool, form: options.Format | None) -> dict[str, object]:
    """Prints the faults, unless there is to be one object; which is returned."""
    rows = ([getattr(fault, name) for name in COLUMNS] for fault in audit)
    if json:
        for _ in rows:
            pass
    else:
        print_rows(COLUMNS, rows, form)
    return audit.as_json()


def _summary(audit: Auditing, limit: int) -> str:
    unlisted = sum(max(0, number - limit) for number in audit.counts.values())
    return (
        f"{audit.counts.total():,} faults{f', {unlisted:,} of them not listed' if unlisted else ''}; "
        f"{audit.num_contents:,} contents checked, {audit.num_texts:,} texts sketched and {audit.num_pairs:,} pairs "
        f"computed again; {audit.seconds:,.1f} s"
    )


def _kinds(audit: Auditing) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in audit.counts.most_common())
