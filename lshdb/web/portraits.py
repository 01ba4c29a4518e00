"""Charts of one cluster, as coordinates: how similar its texts are, and when its documents are dated."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Final

from msgspec import Struct

from lshdb.clusters.portrait import Compared, Portrait
from lshdb.web.templating import date_of

__all__ = ["Cell", "Dot", "HeatMap", "Timeline", "heat_map", "timeline"]

# Texts whose similarities are written out, and the widths of a cell with and without a number.
NUMBERED: Final = 10
WIDE: Final = 34
NARROW: Final = 16
# The least similar pairs, which have links.
FARTHEST: Final = 5
# The width of a timeline, its middle, and its columns. Documents in one column are one dot.
WIDTH: Final = 440.0
MIDDLE: Final = 16.0
MARGIN: Final = 12.0
COLUMNS: Final = 60
RADIUS: Final = 4.0
MAX_RADIUS: Final = 11.0


class Cell(Struct, frozen=True):
    """A pair of texts, whose numbers count from 1. Args: strength: of the colour, 0 to 1."""

    x: int
    y: int
    strength: float
    number: str
    title: str


class HeatMap(Struct, frozen=True):
    """The pairs below the diagonal, where the numbers of the texts stand.

    Args:
        cell: the width of a cell.
        is_numbered: whether the cells show their similarity.
        num_apart: how many pairs are less similar than those of clusters.
        farthest: the least similar pairs.
    """

    num_texts: int
    cell: int
    is_numbered: bool
    cells: tuple[Cell, ...]
    num_apart: int
    farthest: tuple[Compared, ...]


class Dot(Struct, frozen=True):
    """Documents of about the same date."""

    x: float
    radius: float
    title: str


class Timeline(Struct, frozen=True):
    """The documents with a date. Args: kept: where the kept document is; None if it has no date."""

    dots: tuple[Dot, ...]
    kept: Dot | None
    first: str
    last: str
    num_dated: int


def heat_map(found: Portrait, floor: float, min_sim: float) -> HeatMap | None:
    """Return the heat map of a cluster, None if it has one or two texts, whose similarity is in the table anyway.

    Args: floor: the similarity whose colour is the weakest.
    """
    if len(found.pairs) < 2:
        return None
    num_texts = found.pairs[-1].right + 1
    is_numbered = num_texts <= NUMBERED
    width = WIDE if is_numbered else NARROW
    farthest = sorted(found.pairs, key=lambda pair: pair.similarity)[:FARTHEST]
    num_apart = sum(pair.similarity < min_sim for pair in found.pairs)
    cells = tuple(_cell(pair, width, floor) for pair in found.pairs)
    return HeatMap(num_texts, width, is_numbered, cells, num_apart, tuple(farthest))


def timeline(found: Portrait) -> Timeline | None:
    """Return the timeline of a cluster, None if fewer than two documents are dated."""
    dated = sorted((date, member) for member, date in enumerate(found.dates) if date is not None)
    if len(dated) < 2:
        return None
    first, last = dated[0][0], dated[-1][0]
    columns = defaultdict[int, list[int]](list)
    for date, _ in dated:
        columns[round(COLUMNS * _share(date, first, last))].append(date)
    dots = tuple(_dot(dates, first, last) for dates in columns.values())
    kept = None if found.dates[0] is None else _dot([found.dates[0]], first, last)
    return Timeline(dots, kept, date_of(first), date_of(last), len(dated))


def _cell(pair: Compared, width: int, floor: float) -> Cell:
    about = "" if pair.exact else " (estimated)"
    return Cell(
        x=pair.left * width,
        y=pair.right * width,
        strength=round(max(0.0, (pair.similarity - floor) / (1.0 - floor)), 2) if floor < 1.0 else 1.0,
        number=f"{math.floor(100 * pair.similarity) / 100:.2f}",
        title=f"{pair.left + 1} and {pair.right + 1}: {pair.similarity:.4f}{about}",
    )


def _dot(dates: list[int], first: int, last: int) -> Dot:
    begin, end = date_of(dates[0]), date_of(dates[-1])
    number = f"{len(dates):,} documents" if len(dates) > 1 else "1 document"
    return Dot(
        x=round(MARGIN + (WIDTH - 2 * MARGIN) * _share(dates[0], first, last), 1),
        radius=round(min(MAX_RADIUS, RADIUS * math.sqrt(len(dates))), 1),
        title=f"{begin}: {number}" if begin == end else f"{begin} to {end}: {number}",
    )


def _share(date: int, first: int, last: int) -> float:
    """Return where a date is between the first and the last."""
    return (date - first) / (last - first) if last > first else 0.5
