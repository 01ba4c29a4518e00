"""``lshdb decisions``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from lshdb.cli import options
from lshdb.cli.options import asked_index
from lshdb.cli.render import Listing, Output, print_records, print_report
from lshdb.errors import UsageError

if TYPE_CHECKING:
    from lshdb.index import Index
    from lshdb.model.decisions import Decision
    from lshdb.web.remote import Remote

__all__ = ["EPILOG", "decisions"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb decisions --different a.html b.html --reason 'two editions'\n
  lshdb decisions --keep b.html\n
  lshdb decisions\n
  lshdb decisions --undo 3\n
  lshdb decisions --format jsonl --out decisions.jsonl\n
  lshdb --db new.db decisions --import decisions.jsonl"""

COLUMNS: Final = ("decision", "kind", "id", "other", "who", "decided_at", "state", "reason")
OF_COLLECTIONS: Final = ("collection", "other_collection")


def decisions(
    context: typer.Context,
    different: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Decide that A and B are not duplicates.", show_default=False),
    ] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="ID", help="Decide to keep this document in its cluster.", show_default=False)
    ] = None,
    undo: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Undo the decision with this number. Repeat it for several.", min=1),
    ] = None,
    imported: Annotated[
        str | None,
        typer.Option("--import", metavar="FILE", help="Add decisions from JSON lines; - is stdin.", show_default=False),
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="The reason.", show_default=False)] = "",
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who decides. Default: your user name.", show_default=False)
    ] = None,
    collection: Annotated[
        list[str] | None,
        typer.Option("--collection", metavar="NAME", help="Namespace of the ids. Give it twice, for A and for B."),
    ] = None,
    *,
    output: Output,
) -> None:
    """Print what people decided about documents, or decide: two are not duplicates, or one is to be kept.

    clusters, export, filter and captures follow decisions. Two documents that are not duplicates are never dropped for
    each other by an export or a filter. They may still be in one cluster if other documents connect them. A decision
    holds until it is undone. Its state says whether it has an effect now: valid; changed, if it has, but a text has
    changed since; same_text or absent, if it has none, because both texts are equal or a document is not in the index.
    """
    if sum(given is not None for given in (different, keep, imported)) + bool(undo) > 1:
        raise UsageError(reason="decisions takes one of --different, --keep, --undo and --import")
    as_json = output.chosen == "jsonl"
    with asked_index(context) as index:
        if different is not None or keep is not None:
            made = index.decide(_decision(index, different or (keep or "", None), who, reason, collection))
            print_records(Listing(_columns(index, output)), [made], output)
        elif imported is not None:
            report = index.import_decisions(imported)
            print_report(report, f"{report.num_added:,} added, {report.num_unchanged:,} unchanged", as_json=as_json)
        elif undo:
            print(f"{index.undo(undo):,} undone")
        else:
            print_records(Listing(_columns(index, output), ("id", "other"), "decision"), index.decisions(), output)


def _columns(index: Index | Remote, output: Output) -> tuple[str, ...]:
    has_several = output.chosen == "jsonl" or len(index.collections()) > 1
    return (*COLUMNS, *OF_COLLECTIONS) if has_several else COLUMNS


def _decision(
    index: Index | Remote, named: tuple[str, str | None], who: str | None, reason: str, collection: list[str] | None
) -> Decision:
    from getpass import getuser

    from lshdb.model.decisions import Decision

    first, second = options.both(collection)
    one, other = named
    return Decision(
        "keep" if other is None else "different",
        index.meant(one, first),
        None if other is None else index.meant(other, second),
        who=getuser() if who is None else who,
        reason=reason,
        collection=first,
        other_collection=second,
    )
