"""``lshdb contaminated``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from lshdb.cli.options import Reading, open_index, settings_of
from lshdb.cli.render import Listing, Output, counted, print_note, print_records, print_rows
from lshdb.clusters.tabular import Row
from lshdb.errors import IndexMissing, UsageError
from lshdb.model.choices import Measure

if TYPE_CHECKING:
    from lshdb.answers.contamination import Nearest
    from lshdb.index import Index
    from lshdb.model.overlap import Overlap, OverlapOptions

__all__ = ["EPILOG", "contaminated"]

CONTAMINATED = 1
COLUMNS = ("test", "train", "share", "longest", "num_words", "num_train")

EPILOG = """[bold]Examples[/bold]\n
  lshdb contaminated --train ./corpus --test questions.jsonl\n
  lshdb contaminated --train crawl --test questions.jsonl --ngram 8 --show\n
  lshdb contaminated --train crawl --test mmlu --test gsm8k --max-share 0.01\n
  lshdb contaminated --train crawl --test held-out --measure jaccard\n
\n
Exits with status 1 if more documents than --max-share allows are contaminated, so you can use it in CI."""


def contaminated(
    context: typer.Context,
    train: Annotated[
        list[str], typer.Option(metavar="NAME|PATH", help="Documents to search, such as training data. Repeat it.")
    ],
    test: Annotated[list[str], typer.Option(metavar="NAME|PATH", help="Documents to search for. Repeat it.")],
    measure: Annotated[
        Measure, typer.Option(help="overlap: shared runs of words. jaccard: documents that are alike as a whole.")
    ] = "overlap",
    ngram: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Words in a row that must be the same. Default: 13. Use 8 for short questions."
        ),
    ] = None,
    min_sim: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="For jaccard: least similarity. Default: the index's own."),
    ] = None,
    max_share: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Share of the documents of a --test that may be contaminated."),
    ] = 0.0,
    everything: Annotated[bool, typer.Option("--all", help="Also print test documents without a match.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the longest shared passage of each document.")] = False,
    most: Annotated[
        int | None,
        typer.Option("-k", min=1, metavar="N", help="Training documents to list in JSON lines. Default: 10."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that read training files. Default: by their format.")
    ] = None,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Print test documents that share a run of words with training data: copied text, not paraphrases.

    It finds a question inside a page a hundred times as long. It does not find rewritten or translated text, or a copy
    in which every few words have changed. Case, punctuation and white space do not matter. A test document of fewer
    words than --ngram must occur as a whole.

    For each test document, it prints the share of its words that occur in such a run, the length of the longest run
    with the training document that has it, and how many training documents have one.

    --train and --test each name a collection of the index, or a file or folder: a name with a slash is a path, and so
    is one that is not a collection but exists as a file. Files are read as by ingest, but not added to the index. If
    both sides are files, no index is needed.

    JSON lines have all shared runs, with their words and bytes in both documents.
    """
    if measure == "jaccard":
        _refuse_with_jaccard({"--ngram": ngram, "--show": show or None, "-k": most, "--workers": workers}, train, test)
        tallies = _print_nearest(context, train[0], test[0], min_sim, output, everything=everything)
    else:
        if min_sim is not None:
            raise UsageError(reason="--min-sim belongs to --measure jaccard; an overlap has --ngram")
        listed = most if output.chosen == "jsonl" else 0
        chosen = _Chosen(train, test, _options(ngram, listed, workers), reading)
        tallies = _print_overlaps(context, chosen, output, everything=everything, show=show)
    if any(tally.share > max_share for tally in tallies):
        raise typer.Exit(CONTAMINATED)


class _Chosen(Struct, frozen=True):
    """What to search, as it was given."""

    train: Sequence[str]
    test: Sequence[str]
    options: OverlapOptions
    reading: Reading


class _Tally(Struct):
    """Figures of one collection or path of test documents."""

    num_documents: int = 0
    num_contaminated: int = 0
    num_words: int = 0
    num_covered: int = 0
    longest: int = 0

    def count(self, found: Overlap) -> None:
        """Count one more document."""
        self.num_documents += 1
        self.num_contaminated += found.is_contaminated
        self.num_words += found.num_words
        self.num_covered += found.num_covered
        self.longest = max(self.longest, found.longest)

    @property
    def share(self) -> float:
        """The share of the documents that is contaminated."""
        return self.num_contaminated / max(self.num_documents, 1)


def _refuse_with_jaccard(given: dict[str, object], train: Sequence[str], test: Sequence[str]) -> None:
    """Raises: UsageError: something was given that only an overlap has."""
    for name, value in given.items():
        if value is not None:
            raise UsageError(reason=f"{name} belongs to --measure overlap")
    if len(train) > 1 or len(test) > 1:
        raise UsageError(reason="--measure jaccard compares two collections; name one --train and one --test")


def _options(ngram: int | None, most: int | None, workers: int | None) -> OverlapOptions:
    from lshdb.model.overlap import OverlapOptions

    given = {"ngram": ngram, "k": most, "workers": workers}
    return OverlapOptions(**{name: value for name, value in given.items() if value is not None})


def _print_overlaps(
    context: typer.Context, chosen: _Chosen, output: Output, *, everything: bool, show: bool
) -> list[_Tally]:
    """Print the overlaps. Returns: the figures of each test side."""
    names = [*chosen.train, *chosen.test]
    with _opened(context, names) as index:
        known = frozenset(index.collections()) if index is not None else frozenset[str]()
        train, test = ([_place(name, known) for name in side] for side in (chosen.train, chosen.test))
        tallies = {str(place): _Tally() for place in test}
        found = _overlaps(context, index, train, test, chosen)
        columns = [*COLUMNS, *(["collection"] if len(tallies) > 1 else []), *(["passage"] if show else [])]
        if output.chosen == "jsonl":
            columns.append("matches")
        rows = _rows(found, tallies, columns, everything=everything, show=show)
        print_rows(Listing(columns, ("test", "train")), rows, output)
    if not settings_of(context).quiet:
        for place, tally in tallies.items():
            print_note(_summary(place, tally, chosen))
    return list(tallies.values())


def _overlaps(
    context: typer.Context,
    index: Index | None,
    train: Sequence[str | Path],
    test: Sequence[str | Path],
    chosen: _Chosen,
) -> Iterator[Overlap]:
    if index is not None:
        return index.contaminated(train, test, chosen.options, chosen.reading.options())
    from lshdb.cli.display import display_of
    from lshdb.index import Index

    return Index.contaminated_files(train, test, chosen.options, chosen.reading.options(), display_of(context))


def _opened(context: typer.Context, names: Sequence[str]) -> Any:
    """Return the index as a context manager; of None if there is none, and all names are paths."""
    if all(map(_is_path, names)):
        return nullcontext()
    try:
        return open_index(context)
    except IndexMissing:
        if not all(_is_path(name) or os.path.lexists(name) for name in names):
            raise
        return nullcontext()


def _is_path(name: str) -> bool:
    return os.sep in name


def _place(name: str, collections: frozenset[str]) -> str | Path:
    """Return a collection by its name, or else a path."""
    if _is_path(name) or (name not in collections and os.path.lexists(name)):
        return Path(name)
    return name


def _rows(
    found: Iterator[Overlap], tallies: dict[str, _Tally], columns: Sequence[str], *, everything: bool, show: bool
) -> Iterator[Row]:
    """Yield the rows to print, and count all documents as they pass."""
    for one in found:
        tallies[one.collection].count(one)
        if one.is_contaminated or everything:
            yield [_matches(one, show=show) if name == "matches" else getattr(one, name) for name in columns]


def _matches(found: Overlap, *, show: bool) -> list[dict[str, Any]]:
    matches = [asdict(match) for match in found.matches]
    for run in () if show else (run for match in matches for run in match["runs"]):
        del run["passage"]
    return matches


def _summary(place: str, tally: _Tally, chosen: _Chosen) -> str:
    covered = tally.num_covered / max(tally.num_words, 1)
    return (
        f"{tally.num_contaminated:,} of {counted(tally.num_documents, 'document')} of {place} "
        f"({100 * tally.share:.3g} %) share {counted(chosen.options.ngram, 'word')} in a row with "
        f"documents of {', '.join(chosen.train)}; "
        f"{100 * covered:.3g} % of all words are covered, at most {tally.longest:,} in a row"
    )


def _print_nearest(
    context: typer.Context, train: str, test: str, min_sim: float | None, output: Output, *, everything: bool
) -> list[_Tally]:
    """Print the nearest training document of each test document. Returns: the figures of the test collection."""
    tally = _Tally()
    with open_index(context) as index:
        found = _counted(index.nearest(train, test, min_sim), tally, everything=everything)
        print_records(Listing(("test", "train", "similarity", "exact"), ("test", "train")), found, output)
        least = index.params.min_sim if min_sim is None else min_sim
    if not settings_of(context).quiet:
        print_note(
            f"{tally.num_contaminated:,} of {counted(tally.num_documents, 'document')} of {test} "
            f"({100 * tally.share:.3g} %) are near-duplicates of documents of {train} at {least}"
        )
    return [tally]


def _counted(found: Iterator[Nearest], tally: _Tally, *, everything: bool) -> Iterator[Nearest]:
    """Yield those with a near-duplicate, or all of them, and count them as they pass."""
    for one in found:
        tally.num_documents += 1
        tally.num_contaminated += one.train is not None
        if one.train is not None or everything:
            yield one
