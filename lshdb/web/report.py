"""A report of an index: one page that needs no service, to mail or to keep with a build.

It loads nothing, runs no script, and has at most 2 MB, whatever the index holds. Limitation: it asks several questions
one after another, so what another process writes meanwhile may be in the later answers only.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from lshdb.answers.worddiff import Hunk, Limits, WordDiff, diff
from lshdb.clusters.catalogue import Catalogue
from lshdb.clusters.clusters import ClusterOptions
from lshdb.clusters.members import Member
from lshdb.errors import UsageError
from lshdb.index import Index
from lshdb.model.reports import RunRow
from lshdb.web import charts
from lshdb.web.templating import assets, environment
from lshdb.web.texts import text_of

__all__ = ["report"]

# A character takes up to 6 bytes where it is spelled out or escaped, and a hunk up to 35 more: 27 kB for a diff, 8 kB
# for the documents of a cluster, and 0.9 MB for all clusters.
CLUSTERS: Final = 25
MEMBERS: Final = 8
DIFF_CHARACTERS: Final = 3_000
DIFF_HUNKS: Final = 250
RUNS: Final = 12
REJECTIONS: Final = 10
# Characters of two texts that are compared. With these limits, a diff takes less than a second.
COMPARED_TEXT: Final = 100_000
LIMITS: Final = Limits(equal_context=8, changed_context=40, far_searches=2, all_pairs=1_000_000)


class _Shown(Struct, frozen=True):
    """A cluster in the report.

    Args:
        size: the number of its documents; `members` are the first of them.
        compared: the least similar of these, and what differs from the kept one; None if no text differs or is known.
    """

    size: int
    num_members: int
    members: list[Member]
    compared: Member | None
    diff: WordDiff | None


def report(index: Index, collection: str | None = None, run: int | None = None) -> str:
    """Return the report as an HTML page.

    Args:
        collection: only documents of this collection.
        run: only what this run brought.

    Raises: CollectionUnknown; UsageError: there is no such run.
    """
    row = None if run is None else _run(index, run)
    # First, because it links what is not linked yet.
    every = index.catalogue(None, ClusterOptions(within=collection))
    found = every if run is None else every.brought_by(run)
    stats = index.stats()
    num_documents = stats.figures.num_documents if collection is None else stats.collections[collection]
    style, digest = _style()
    return (
        environment()
        .get_template("report.html")
        .render(
            index=index,
            made_at=datetime.now(UTC).isoformat(),
            style=style,
            digest=digest,
            collection=collection,
            run=row,
            rejections=[] if run is None else list(islice(index.rejections(run), REJECTIONS)),
            figures=stats.figures,
            num_documents=num_documents,
            found=found,
            num_clusters=len(every),
            redundant=every.num_redundant / num_documents if num_documents else 0.0,
            clusters=list(_clusters(index, every, found)),
            most={"members": MEMBERS, "characters": DIFF_CHARACTERS, "compared": COMPARED_TEXT},
            collections=stats.collections,
            runs=index.runs(RUNS),
            **charts.drawn(index.params, stats.recall, index.histogram(within=collection)),
        )
    )


def _run(index: Index, number: int) -> RunRow:
    """Return the row of a run. Raises: UsageError."""
    found = index.runs(1, before=number + 1)
    if not found or found[0].run != number:
        raise UsageError(reason=f"there is no run {number}; lshdb runs lists them")
    return found[0]


def _clusters(index: Index, every: Catalogue, found: Catalogue) -> Iterator[_Shown]:
    """Yield the largest clusters. Args: every: the clusters with all their documents."""
    for one in found.listed(range(min(CLUSTERS, len(found)))):
        place, whole = found.place(one.cluster), every.place(one.cluster)
        assert place is not None
        assert whole is not None
        members = found.members(place, MEMBERS)
        if members:
            yield _Shown(every.size(whole), found.size(place), members, *_compared(index, members))


def _compared(index: Index, members: list[Member]) -> tuple[Member | None, WordDiff | None]:
    """Return the member that is least similar to the kept one, and what differs; None if all have its text."""
    farthest = min(members, key=lambda member: member.similarity)
    if farthest.similarity == 1.0:
        return None, None
    left = text_of(index, farthest.keep, farthest.keep_collection)
    right = text_of(index, farthest.document, farthest.collection)
    if left is None or right is None:
        return farthest, None
    by_line = index.params.shingle == "set"
    return farthest, _bounded(diff(left[:COMPARED_TEXT], right[:COMPARED_TEXT], by_line=by_line, limits=LIMITS))


def _bounded(found: WordDiff) -> WordDiff:
    """Return the beginning of a diff that is too long to show."""
    hunks, room = list[Hunk](), DIFF_CHARACTERS
    for hunk in found.hunks[:DIFF_HUNKS]:
        hunks.append(hunk if len(hunk.text) <= room else replace(hunk, text=f"{hunk.text[:room]} …"))
        room -= len(hunk.text)
        if room <= 0:
            break
    left_out = sum(hunk.num_words for hunk in found.hunks[len(hunks) :])
    return replace(found, hunks=(*hunks, Hunk("elided", "", left_out)) if left_out else tuple(hunks))


def _style() -> tuple[Markup, str]:
    """Return the style of the pages, and the digest by which a browser lets this one pass."""
    style = assets()["style.css"][0]
    # What stands between the tags, byte for byte.
    return Markup(style.decode()), base64.b64encode(hashlib.sha256(style).digest()).decode()
