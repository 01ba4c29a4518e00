"""``lshdb captures``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lshdb.cli import options
from lshdb.cli.options import Format, open_index, settings_of
from lshdb.cli.render import Listing, Output, print_records

if TYPE_CHECKING:
    from lshdb.answers.captures import Capture

__all__ = ["EPILOG", "captures"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb ingest --captures all ./warcs\n
  lshdb captures https://example.org/\n
  lshdb captures --min-sim 1 --format jsonl | jq -r 'select(.redundant).id'\n
  lshdb captures --format cdxj | LC_ALL=C sort > redundant.cdxj"""

COLUMNS = ("id", "address", "date", "similarity", "exact", "redundant", "kept", "source", "locator")
# A table shows the date and the id; the rest follows from them.
TABLE_COLUMNS = ("date", "similarity", "exact", "redundant", "id")
NEWEST_ONLY = "note  the index has one capture of each address; `lshdb ingest --captures all` keeps them all"

CdxjOption = Annotated[
    Literal[Format, "cdxj"] | None,
    typer.Option(
        "--format",
        "-f",
        help="cdxj has the redundant captures only. Default: table on a terminal, otherwise tsv.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class CapturesOutput(Output):
    """The options of `Output`, with an additional format."""

    form: CdxjOption = None  # type: ignore[assignment]  # no other verb has this format

    @property
    def is_cdxj(self) -> bool:
        """Whether the format is CDXJ."""
        suffix = "" if self.out is None else self.out.suffix
        return self.form == "cdxj" or (self.form is None and suffix == ".cdxj")


def captures(
    context: typer.Context,
    page: Annotated[
        str | None, typer.Argument(metavar="ADDRESS", help="The address of a page. Default: all addresses.")
    ] = None,
    min_sim: Annotated[
        float | None,
        typer.Option(
            "--min-sim",
            min=0.0,
            max=1.0,
            help="Least similarity of a redundant capture to the one kept. Default: the index's own.",
            show_default=False,
        ),
    ] = None,
    collection: options.Collection = "default",
    *,
    output: CapturesOutput,
) -> None:
    """Print the captures of a page in WARC and ARC files: how it changed, and which are redundant.

    The output shows the similarity of each capture to the previous one. A capture is redundant if it has the same text
    as the last capture that is not redundant, or is at least --min-sim similar to it. The first capture is never
    redundant.

    The format cdxj is the index format of pywb. It has a line for each redundant capture.
    """
    with open_index(context) as index:
        found = _noted(index.captures(page, min_sim, collection), quiet=settings_of(context).quiet)
        if output.is_cdxj:
            _print_cdxj(found, output)
        else:
            columns = TABLE_COLUMNS if output.chosen == "table" else COLUMNS
            print_records(Listing(columns, ("id",), "capture"), found, output)


def _print_cdxj(found: Iterator[Capture], output: Output) -> None:
    from lshdb.answers.cdxj import cdxj_line

    # The first capture is never redundant. Without any captures, this raises before the file is opened.
    next(found)
    with output.opened() as out:
        out.writelines(f"{cdxj_line(capture)}\n" for capture in found if capture.redundant)


def _noted(found: Iterator[Capture], *, quiet: bool) -> Iterator[Capture]:
    """Yield the captures, and print a note if the index evidently keeps only the newest ones."""
    is_newest_only = True
    for capture in found:
        is_newest_only = is_newest_only and capture.id == capture.address
        yield capture
    if is_newest_only and not quiet:
        typer.echo(NEWEST_ONLY, err=True)
