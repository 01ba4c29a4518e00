"""``lshdb explain``. The word diff is in colours if the terminal has them, otherwise as ``git diff --word-diff``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import asked_index
from lshdb.cli.render import counted, named, print_report, visible

if TYPE_CHECKING:
    from lshdb.answers.explain import Explanation, Side
    from lshdb.answers.worddiff import Hunk, WordDiff

__all__ = ["EPILOG", "explain"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb explain https://example.org/ https://example.org/index.html\n
  lshdb explain /srv/crawl/page.html ./draft.html --no-diff\n
  lshdb explain --collection train --collection test 17 17\n
  curl -s example.org | lshdb explain /srv/page.html - --input-format html\n
\n
A name that is not an id in the index is a file. A relative path also stands for the absolute path, if that is an id.
If a file has the name of an id, use --files."""

MARKS = {"removed": ("[-", "-]"), "added": ("{+", "+}")}
STYLES = {"removed": "red", "added": "green", "elided": "dim"}
MOVED_STYLE = "blue"

# Passages that are shown, and words at both ends of a long one.
SHOWN_RUNS = 5
RUN_WORDS = 12
RUN_STYLE = "cyan"

# Why two documents are not a pair.
REASONS = {
    "empty": "no: a document without shingles has no duplicates",
    "not_in_index": "no: only documents in the index have pairs; ingest it first",
    "not_linked": "not computed yet: run lshdb link",
    "below_floor": "no: {similarity:.4f} is below {floor}, the lowest similarity that this index keeps",
    "no_shared_band": "no: LSH missed it. Two documents of this similarity share no band with P = {missed:.4f}",
    "ruled_out": "no: the estimate, {estimate:.4f}, ruled it out before the texts were compared",
    "hot_bucket": "no: they share only buckets too hot to expand; each was compared with the first documents there",
    "missing": "no, although they should be one: the index is inconsistent",
    "same_content": "the same content: they differ at most in case, punctuation and white space",
}


def explain(
    context: typer.Context,
    left: Annotated[str, typer.Argument(metavar="A", help="An id or a file; - is standard input.")],
    right: Annotated[str, typer.Argument(metavar="B", help="The same.")],
    collection: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Namespace of the ids. Give it twice, for A and for B."),
    ] = None,
    files: Annotated[bool, typer.Option("--files", help="A and B are files, not ids.")] = False,
    no_diff: Annotated[bool, typer.Option("--no-diff", help="Do not print which words differ.")] = False,
    json: options.Json = False,
    input_format: options.InputFormat = None,
) -> None:
    """Explain why two documents are a pair, or why not, and print which words differ."""
    from lshdb.readers import ReadOptions

    ways = ReadOptions(input_format=input_format)
    with asked_index(context) as index:
        both = options.both(collection)
        if not files:
            left, right = index.meant(left, both[0]), index.meant(right, both[1])
        found = index.explain(left, right, both, ways, files=files, with_diff=not no_diff)
    print_report(found, "\n".join(_lines(found)), as_json=json)
    if not json:
        _print_runs(found)
    if found.word_diff is not None and not json:
        typer.echo()
        _print_diff(found.word_diff)


def _lines(found: Explanation) -> list[str]:
    compared, bands = found.comparison, found.params.bands
    rows = {"left": _named(found.left), "right": _named(found.right)}
    estimate = f"{found.estimate:.4f} estimated from {found.params.num_perm} minima"
    if compared is None:
        rows["similarity"] = f"{estimate}; not exact, because a text is not available"
    else:
        rows["similarity"] = f"{compared.similarity:.4f} exact, {estimate}"
        rows["containment"] = (
            f"{compared.left_in_right:.4f} of left is in right, {compared.right_in_left:.4f} of right is in left"
        )
        rows["shingles"] = (
            f"{compared.left_shingles:,} and {compared.right_shingles:,} distinct, {compared.shared_shingles:,} in both"
        )
        if found.params.passages:
            rows["passages"] = _passages(found)
    which = f": {', '.join(map(str, found.shared_bands))}" if found.shared_bands else ""
    hot = f" ({len(found.hot_bands)} in buckets too hot to expand)" if found.hot_bands else ""
    rows["bands"] = f"{len(found.shared_bands)} of {bands} shared{which}{hot}"
    rows["pair"] = _pair(found)
    return [f"{name:13}{value}" for name, value in rows.items()]


def _passages(found: Explanation) -> str:
    """Return the lengths of the passages that both have, the longest first."""
    if not found.shared_runs:
        return f"no run of {found.params.passages} words is in both"
    lengths = sorted((run.num_words for run in found.shared_runs), reverse=True)
    more = f" and {len(lengths) - SHOWN_RUNS:,} more" if len(lengths) > SHOWN_RUNS else ""
    return f"runs of {', '.join(f'{length:,}' for length in lengths[:SHOWN_RUNS])} words{more} are in both"


def _print_runs(found: Explanation) -> None:
    """Print the longest passages that both have, in colour; nothing where there are no colours."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    if console.color_system is None or console.no_color:
        return
    for run in sorted(found.shared_runs, key=lambda run: -run.num_words)[:SHOWN_RUNS]:
        words = visible(run.text).split()
        shown = words if len(words) <= 2 * RUN_WORDS else [*words[:RUN_WORDS], "[...]", *words[-RUN_WORDS:]]
        console.print(Text(" " * 13) + Text(" ".join(shown), RUN_STYLE), soft_wrap=True)


def _named(side: Side) -> str:
    notes = ["a file" if side.is_file else ""]
    if side.is_file and side.content_key is not None:
        notes.append("the index has its content")
    if side.kept_of is not None:
        notes.append(f"its text as in {named(side.kept_of)}")
    if side.is_gone:
        notes.append("its text is neither kept nor still in its source")
    said = ", ".join(note for note in notes if note)
    return named(side.name) + (f" ({said})" if said else "")


def _pair(found: Explanation) -> str:
    if found.pair is None or found.status == "same_content":
        return REASONS[found.status].format(
            similarity=found.similarity,
            estimate=found.estimate,
            floor=found.params.floor,
            missed=1.0 - found.probability,
        )
    run = "outside a run" if found.pair.run is None else f"by run {found.pair.run}"
    return f"yes: {found.pair.similarity:.4f}, {'exact' if found.pair.exact else 'estimated'}, linked {run}"


def _print_diff(found: WordDiff) -> None:
    """Print the hunks, and below them the number of words."""
    from rich.console import Console
    from rich.text import Text

    from lshdb.answers.worddiff import Hunk

    console = Console(file=sys.stdout, highlight=False)
    # Without colours, only the marks show which words were removed.
    coloured = console.color_system is not None and not console.no_color
    before = Hunk("equal", "", 0)
    for hunk in found.hunks:
        space, words = _split(hunk, follows_removed=before.kind == "removed")
        begins = hunk.moved is not None and (hunk.moved, "elided") != (before.moved, before.kind)
        label = f"(moved {hunk.moved}) " if begins and hunk.kind != "elided" else ""
        if coloured:
            style = STYLES.get(hunk.kind, "") if hunk.moved is None else MOVED_STYLE
            console.print(Text(space) + Text(label + words, style), end="", soft_wrap=True)
        else:
            opened, closed = MARKS.get(hunk.kind, ("", ""))
            sys.stdout.write(f"{space}{opened}{label}{words}{closed}")
        before = hunk
    moved = f" ({found.num_moved:,} of them moved)" if found.num_moved else ""
    summary = (
        f"{counted(found.num_removed, 'word')} removed, {found.num_added:,} added{moved}, {found.num_equal:,} equal"
    )
    coarse = "; passages too different to compare word by word are shown as replaced" if found.is_coarse else ""
    sys.stdout.write(f"\n\n{summary}{coarse}\n" if found.hunks else f"{summary}\n")


def _split(hunk: Hunk, *, follows_removed: bool) -> tuple[str, str]:
    """Return the white space before a hunk, and its words. Words that replace removed ones follow without a space."""
    if hunk.kind == "elided":
        return " ", f"[... {counted(hunk.num_words, 'word')} ...]"
    words = hunk.text.lstrip()
    space = hunk.text[: len(hunk.text) - len(words)]
    if not space or (follows_removed and hunk.kind == "added"):
        return "", visible(words, keep="\n\t")
    return "\n" * min(2, space.count("\n")) or " ", visible(words, keep="\n\t")
