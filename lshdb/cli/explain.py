"""``lshdb explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lshdb.cli import options
from lshdb.cli.options import open_index
from lshdb.cli.render import print_json, visible
from lshdb.errors import UsageError

if TYPE_CHECKING:
    from lshdb.answers.explain import Explanation, Side

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb explain https://example.org/ https://example.org/index.html\n
  lshdb explain /srv/crawl/page.html ./draft.html --no-diff\n
  lshdb explain --collection train --collection test 17 17\n
  curl -s https://example.org | lshdb explain /srv/crawl/page.html - --input-format html\n
\n
A name is an id of the index, else a file; --files takes it for a file even so, as does ./ before a relative one."""

# Why two documents are no pair.
REASONS = {
    "empty": "no: a document without a single shingle is like nothing",
    "not_in_index": "no: what is not in the index has no pairs; ingest it",
    "not_linked": "not computed yet: run lshdb link",
    "below_floor": "no: {similarity:.4f} is below {floor}, the lowest similarity that this index keeps",
    "no_shared_band": "no: LSH missed it. Two documents of this similarity share no band with P = {missed:.4f}",
    "ruled_out": "no: the estimate, {estimate:.4f}, ruled it out before the texts were compared",
    "hot_bucket": "no: they meet only in buckets too hot to expand; both were compared with the first ones there",
    "missing": "no, and it should be one: the index contradicts itself",
    "same_content": "the same content: they differ at most in case, punctuation and white space",
}


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("explain", epilog=EPILOG)(explain)


def explain(
    context: typer.Context,
    left: Annotated[str, typer.Argument(metavar="A", help="An id, else a file; - is standard input.")],
    right: Annotated[str, typer.Argument(metavar="B", help="As A.")],
    collection: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="The namespace of the ids; given twice, that of A and that of B."),
    ] = None,
    files: Annotated[bool, typer.Option("--files", help="A and B are files, not ids.")] = False,
    no_diff: Annotated[bool, typer.Option("--no-diff", help="Leave out which words differ.")] = False,
    json: options.Json = False,
    input_format: options.InputFormat = None,
) -> None:
    """Print why two documents are a pair, or why they are none, and what differs between their texts."""
    from lshdb.cli.worddiff import print_diff
    from lshdb.readers import ReadOptions

    ways = ReadOptions(input_format=input_format)
    with open_index(context) as index:
        found = index.explain(left, right, _both(collection), ways, files=files, with_diff=not no_diff)
    if json:
        print_json(found.as_json())
        return
    typer.echo("\n".join(_lines(found)))
    if found.word_diff is not None:
        typer.echo()
        print_diff(found.word_diff)


def _both(collections: list[str] | None) -> tuple[str, str]:
    given = collections or ["default"]
    if len(given) > 2:
        raise UsageError(reason="--collection is given once, or twice: for A and for B")
    return given[0], given[-1]


def _lines(found: Explanation) -> list[str]:
    compared, bands = found.comparison, found.params.bands
    rows = {"left": _named(found.left), "right": _named(found.right)}
    estimate = f"{found.estimate:.4f} estimated from {found.params.num_perm} minima"
    if compared is None:
        rows["similarity"] = f"{estimate}; a text is gone, so it cannot be computed"
    else:
        rows["similarity"] = f"{compared.similarity:.4f} exact, {estimate}"
        rows["containment"] = (
            f"{compared.left_in_right:.4f} of left is in right, {compared.right_in_left:.4f} of right is in left"
        )
        rows["shingles"] = (
            f"{compared.left_shingles:,} and {compared.right_shingles:,} distinct, {compared.shared_shingles:,} in both"
        )
    which = f": {', '.join(map(str, found.shared_bands))}" if found.shared_bands else ""
    hot = f" ({len(found.hot_bands)} in buckets too hot to expand)" if found.hot_bands else ""
    rows["bands"] = f"{len(found.shared_bands)} of {bands} shared{which}{hot}"
    rows["pair"] = _pair(found)
    return [f"{name:13}{value}" for name, value in rows.items()]


def _named(side: Side) -> str:
    notes = ["a file" if side.is_file else ""]
    if side.is_file and side.content_key is not None:
        notes.append("the index has its content")
    if side.kept_of is not None:
        notes.append(f"its text as in {visible(side.kept_of)}")
    if side.is_gone:
        notes.append("its text is gone: not kept, and no longer where it was read from")
    said = ", ".join(note for note in notes if note)
    return visible(side.name) + (f" ({said})" if said else "")


def _pair(found: Explanation) -> str:
    if found.pair is None or found.status == "same_content":
        return REASONS[found.status].format(
            similarity=found.similarity,
            estimate=found.estimate,
            floor=found.params.floor,
            missed=1.0 - found.probability,
        )
    run = "outside of a run" if found.pair.run is None else f"by run {found.pair.run}"
    return f"yes: {found.pair.similarity:.4f}, {'exact' if found.pair.exact else 'estimated'}, linked {run}"
