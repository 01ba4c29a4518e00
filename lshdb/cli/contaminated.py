"""``lshdb contaminated``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index, settings_of
from lshdb.cli.render import Listing, Output, print_records

if TYPE_CHECKING:
    from lshdb.answers.contamination import Nearest

__all__ = ["EPILOG", "contaminated"]

CONTAMINATED = 1

EPILOG = """[bold]Examples[/bold]\n
  lshdb ingest --collection corpus ./corpus\n
  lshdb ingest --collection benchmark questions.jsonl\n
  lshdb contaminated --train corpus --test benchmark\n
  lshdb contaminated --train corpus --test exam --max-share 0.001 -f csv\n
\n
Exits with status 1 if more documents than --max-share allows are contaminated, so you can use it in CI."""


def contaminated(
    context: typer.Context,
    train: Annotated[str, typer.Option(metavar="NAME", help="Collection to search, such as training data.")],
    test: Annotated[str, typer.Option(metavar="NAME", help="Collection whose documents are searched for.")],
    min_sim: options.MinSim = None,
    max_share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the test documents that may be contaminated.")
    ] = 0.0,
    everything: Annotated[
        bool, typer.Option("--all", help="Also print test documents without a match; their other columns are empty.")
    ] = False,
    *,
    output: Output,
) -> None:
    """Print test documents that have near-duplicates in the training data, each with the nearest one."""
    with open_index(context) as index:
        counted = _Counted(index.contaminated(train, test, min_sim), everything)
        print_records(Listing(("test", "train", "similarity", "exact"), ("test", "train")), counted, output)
        least = index.params.min_sim if min_sim is None else min_sim
    if not settings_of(context).quiet:
        typer.echo(
            f"{counted.num_contaminated:,} of {counted.num_documents:,} documents of {test} "
            f"({100 * counted.share:.3g} %) are near-duplicates of documents of {train} at {least}",
            err=True,
        )
    if counted.share > max_share:
        raise typer.Exit(CONTAMINATED)


class _Counted:
    """Counts test documents as they pass; lets those without a match pass only if everything is wanted."""

    def __init__(self, found: Iterable[Nearest], everything: bool) -> None:
        self._found = found
        self._everything = everything
        self.num_documents = self.num_contaminated = 0

    def __iter__(self) -> Iterator[Nearest]:
        for one in self._found:
            self.num_documents += 1
            self.num_contaminated += one.train is not None
            if one.train is not None or self._everything:
                yield one

    @property
    def share(self) -> float:
        """The share of the documents that is contaminated."""
        return self.num_contaminated / max(self.num_documents, 1)
