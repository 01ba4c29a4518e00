"""``lshdb query``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import READING, asked_index
from lshdb.cli.render import Listing, Output, print_records, print_rows
from lshdb.errors import UsageError
from lshdb.model.choices import MIN_CONTAINMENT, Comparing, TextFormat

if TYPE_CHECKING:
    from lshdb.answers.many import Answer
    from lshdb.answers.query import Match
    from lshdb.index import Index
    from lshdb.readers import ReadOptions
    from lshdb.web.remote import Remote

__all__ = ["EPILOG", "query"]

NO_MATCH = 1
NOUN = "near-duplicate"
COLUMNS = ("id", "similarity", "exact")

EPILOG = """[bold]Examples[/bold]\n
  lshdb query page.html\n
  curl -s https://example.org | lshdb query - --input-format html\n
  lshdb query --id https://example.org/ --min-sim 0.6\n
  lshdb query new.jsonl --format jsonl -k 1\n
  zcat new.jsonl.gz | lshdb query - --only-new > unseen.jsonl\n
  lshdb query quote.txt --measure containment            # what contains it\n
  lshdb query page.html --measure containment --reverse  # what it contains\n
\n
Exits with status 1 if it finds nothing, as grep does."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How the files of a question are read."""

    input_format: options.InputFormat = None
    id_field: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="As in ingest.", rich_help_panel=READING, show_default=False),
    ] = None
    text_field: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="As in ingest.", rich_help_panel=READING, show_default=False),
    ] = field(default_factory=list)
    text_format: Annotated[TextFormat, typer.Option(help="As in ingest.", rich_help_panel=READING)] = "text"

    def options(self) -> ReadOptions:
        """Return them in the form that readers expect. Raises: InvalidParams."""
        from lshdb.answers.query import MAX_ASKED_TEXT
        from lshdb.readers import ReadOptions

        return ReadOptions(
            input_format=self.input_format,
            id_field=self.id_field,
            text_field=tuple(self.text_field) or "text",
            text_format=self.text_format,
            max_text=MAX_ASKED_TEXT,
        )


def query(
    context: typer.Context,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE|-", help="Documents, in the index or not.", show_default=False)
    ] = None,
    doc_id: Annotated[str | None, typer.Option("--id", help="A document of the index.", show_default=False)] = None,
    min_sim: options.MinSim = None,
    most: Annotated[
        int | None, typer.Option("-k", min=1, metavar="N", help="Print only the N most similar.", show_default=False)
    ] = None,
    only_new: Annotated[
        bool, typer.Option("--only-new", help="Pass through the lines of documents without a near-duplicate.")
    ] = False,
    collection: options.Collection = "default",
    measure: Annotated[
        Comparing,
        typer.Option(help="containment: print the documents that contain a document, or most of it."),
    ] = "jaccard",
    reverse: Annotated[
        bool, typer.Option("--reverse", help="For containment: print the documents that this one contains.")
    ] = False,
    *,
    asking: Asking,
    output: Output,
) -> None:
    """Print the near-duplicates of documents, the most similar first.

    For a file of records, several files or a folder, the first column is the id of the document that was asked about.
    Nothing is added to the index, and the documents are not compared with each other: if two new documents are alike,
    --only-new passes both through.

    With --measure containment, it prints the share of the document's shingles that each other document has, if that is
    at least --min-sim (default: 0.9). The index must have passages (lshdb passages --build).
    """
    if bool(files) == (doc_id is not None):
        raise UsageError(reason="query takes FILEs (or -), or --id ID")
    if only_new and doc_id is not None:
        raise UsageError(reason="--only-new reads FILEs; a document of the index is never new")
    if reverse and measure != "containment":
        raise UsageError(reason="--reverse belongs to --measure containment")
    if measure == "containment" and (only_new or len(files or [""]) > 1):
        raise UsageError(reason="--measure containment takes one FILE, or --id ID")
    with asked_index(context) as index:
        if measure == "containment":
            least = MIN_CONTAINMENT if min_sim is None else min_sim
            if doc_id is not None:
                held = index.containing_id(index.meant(doc_id, collection), least, collection, reverse=reverse)
            else:
                held = index.containing_file((files or [])[0], least, asking.options(), reverse=reverse)
            columns = ["id", "containment", *_collection_column(index)]
            is_found = print_records(Listing(columns, ("id",), "document"), held[:most], output)
        elif doc_id is not None:
            found = index.query_id(index.meant(doc_id, collection), min_sim, collection)
            is_found = _print_matches(index, found[:most], output)
        elif only_new:
            answers = index.query_files(files or [], min_sim, 1, asking.options(), with_lines=True)
            is_found = _pass_through(answers, output)
        else:
            answers = index.query_files(files or [], min_sim, most, asking.options())
            is_found = _print_answers(index, answers, files or [], output)
    if not is_found:
        raise typer.Exit(NO_MATCH)


def _print_answers(index: Index | Remote, answers: Iterator[Answer], files: Sequence[str], output: Output) -> bool:
    """Print the matches of one document, or those of many after its id. Returns: whether there are any."""
    first = list(islice(answers, 2))
    if len(files) == len(first) == 1 and not first[0].locator and not Path(files[0]).is_dir():
        return _print_matches(index, first[0].matches, output)
    columns = [*COLUMNS, *_collection_column(index)]
    rows = (
        [answer.question, *(getattr(match, name) for name in columns)]
        for answer in chain(first, answers)
        for match in answer.matches
    )
    return print_rows(Listing(["question", *columns], ("question", "id"), NOUN), rows, output)


def _print_matches(index: Index | Remote, found: Sequence[Match], output: Output) -> bool:
    return print_records(Listing([*COLUMNS, *_collection_column(index)], ("id",), NOUN), found, output)


def _collection_column(index: Index | Remote) -> list[str]:
    return ["collection"] if len(index.collections()) > 1 else []


def _pass_through(answers: Iterator[Answer], output: Output) -> bool:
    """Write the lines of documents that are like nothing in the index. Returns: whether there are any."""
    has_written = False
    with output.opened_for_lines() as out:
        for answer in answers:
            if answer.is_new and answer.line is not None:
                out.write(answer.line)
                has_written = True
        out.flush()
    return has_written
