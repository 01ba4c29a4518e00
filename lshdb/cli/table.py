"""Lay out rows as a table for people.

The similarity comes first. The prefix that all ids share is printed once and removed from them, and ids are shortened
in the middle if a line would not fit. The column `exact` is left out if every similarity is exact.

Rows are held 500 at a time. If a later block does not fit the layout of the previous one, it gets a new header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Final, TextIO

from msgspec import Struct

from lshdb.cli.escapes import visible
from lshdb.clusters.tabular import Row, plain

__all__ = ["Listing", "counted", "write_table"]

# The number of rows that determine a layout.
BLOCK_ROWS: Final = 500

# The number of values of a list that a table shows.
SHOWN_VALUES: Final = 3

GAP: Final = "  "
ELLIPSIS: Final = "…"
# A shorter common prefix is not worth an extra line.
MIN_PREFIX: Final = 4
# Columns up to this width are never shortened: numbers, flags, names of clusters and collections.
MAX_FIXED: Final = 16
MIN_SHORTENED: Final = 8


class Listing(Struct, frozen=True):
    """What a list of rows shows.

    Args:
        columns: the names of the columns.
        ids: the columns that hold ids of documents, or lists of them.
        noun: what a row is, in the singular, for the count below a table; empty for no count.
        limit: the maximum number of rows, if any.
        below: lines below a table.
    """

    columns: Sequence[str]
    ids: Sequence[str] = ()
    noun: str = ""
    limit: int | None = None
    below: Sequence[str] = ()

    def counted(self, number: int) -> str:
        """Return the line below a table of `number` rows."""
        first = "the first " if number == self.limit else ""
        return f"{first}{counted(number, self.noun)}"


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with what it counts. Args: several: for other numbers than 1; by default `one` with an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def write_table(listing: Listing, rows: Iterable[Row], out: TextIO, width: int | None = None) -> None:
    """Write a table. Args: width: the width of a line in terminal cells; None for no limit."""
    iterator, layout, number = iter(rows), None, 0
    while block := list(islice(iterator, BLOCK_ROWS)):
        if layout is None or not layout.fits(block):
            out.write("\n" if number else "")
            layout = _Layout.of(listing, block, width)
            out.writelines(f"{line}\n" for line in layout.header())
        out.writelines(f"{layout.line(row)}\n" for row in block)
        number += len(block)
    if listing.noun:
        out.write(("\n" if number else "") + listing.counted(number) + "\n")
    out.writelines(f"{line}\n" for line in listing.below)


class _Layout(Struct, frozen=True):
    """The columns of a table: which are shown, their order and widths, and the common prefix of their ids.

    Args:
        places: the positions of the shown columns in a row.
        prefix: the common prefix of all ids, which is removed.
        widths: the widths of the shown columns, in cells.
        width: the largest width of a line.
    """

    listing: Listing
    places: tuple[int, ...]
    prefix: str
    widths: tuple[int, ...]
    width: int | None

    @classmethod
    def of(cls, listing: Listing, block: Sequence[Row], width: int | None) -> _Layout:
        """Return a layout that suits these rows."""
        natural = cls(listing, _places(listing, block), _prefix(listing, block), (), None)
        cells = [natural._names(), *map(natural._cells, block)]
        widths = [max(map(_num_cells, column)) for column in zip(*cells, strict=True)]
        return cls(listing, natural.places, natural.prefix, _fitted(widths, width), width)

    def fits(self, block: Sequence[Row]) -> bool:
        """Return whether this layout also suits other rows."""
        if self.places != _places(self.listing, block):
            return False
        if any(not one.startswith(self.prefix) or one == self.prefix for one in _ids(self.listing, block)):
            return False
        is_full = self.width is not None and sum(self.widths) + len(GAP) * (len(self.widths) - 1) >= self.width
        return is_full or all(
            _num_cells(cell) <= width
            for row in block
            for cell, width in zip(self._cells(row), self.widths, strict=True)
        )

    def header(self) -> list[str]:
        """Return the lines above the rows."""
        common = [f"ids begin with {visible(self.prefix)}"] if self.prefix else []
        return [*common, self._joined(self._names())]

    def line(self, row: Row) -> str:
        """Return a row as a line."""
        return self._joined(self._cells(row))

    def _joined(self, cells: Sequence[str]) -> str:
        shown = (
            _padded(_shortened(cell, width, in_middle=self._is_id(place)), width)
            for cell, width, place in zip(cells, self.widths, self.places, strict=True)
        )
        return GAP.join(shown).rstrip()

    def _names(self) -> list[str]:
        return [self._name(place) for place in self.places]

    def _name(self, place: int) -> str:
        return self.listing.columns[place]

    def _cells(self, row: Row) -> list[str]:
        return [_text(row[place], self.prefix if self._is_id(place) else "") for place in self.places]

    def _is_id(self, place: int) -> bool:
        return self._name(place) in self.listing.ids


def _places(listing: Listing, block: Sequence[Row]) -> tuple[int, ...]:
    """Return the positions of the columns to show, that of the similarity first."""
    columns = listing.columns
    hidden = set[int]()
    if "exact" in columns and not any(row[columns.index("exact")] is False for row in block):
        hidden.add(columns.index("exact"))
    shown = [place for place in range(len(columns)) if place not in hidden]
    # A stable sort leaves the other columns in their order.
    return tuple(sorted(shown, key=lambda place: columns[place] != "similarity"))


def _prefix(listing: Listing, block: Sequence[Row]) -> str:
    """Return the common prefix of all ids, up to a slash; empty if it is not worth a line."""
    found = set(_ids(listing, block))
    if len(found) < 2:
        return ""
    # In sorted order, a prefix that the first and last ids share is shared by all ids.
    same = takewhile(lambda pair: pair[0] == pair[1], zip(min(found), max(found), strict=False))
    # The shortest id must not become empty.
    common = "".join(character for character, _ in same)[: min(map(len, found)) - 1]
    end = common.rfind("/") + 1
    return common[:end] if end >= MIN_PREFIX else ""


def _ids(listing: Listing, block: Sequence[Row]) -> Iterator[str]:
    """Yield the ids that a table of these rows shows."""
    places = [place for place, name in enumerate(listing.columns) if name in listing.ids]
    for row in block:
        for place in places:
            value = row[place]
            if isinstance(value, str):
                yield value
            elif isinstance(value, (list, tuple)):
                yield from value[:SHOWN_VALUES]


def _text(value: object, prefix: str) -> str:
    """Return the displayed form of a value, without the prefix of an id."""
    if isinstance(value, float):
        return f"{value:.4f}"
    if not isinstance(value, (list, tuple)):
        return visible(plain(value).removeprefix(prefix))
    more = [f"and {len(value) - SHOWN_VALUES} more"] if len(value) > SHOWN_VALUES else []
    first = (plain(one).removeprefix(prefix) for one in value[:SHOWN_VALUES])
    return visible(", ".join(chain(first, more)))


def _fitted(widths: Sequence[int], width: int | None) -> tuple[int, ...]:
    """Return the widths. If a line would be wider than `width`, the widest columns are reduced to an equal share."""
    if width is None:
        return tuple(widths)
    available = width - len(GAP) * (len(widths) - 1)
    shares = dict(enumerate(widths))
    # The widest column that needs less than its share leaves more for the others.
    open_places = sorted((place for place in shares if shares[place] > MAX_FIXED), key=lambda place: shares[place])
    available -= sum(shares[place] for place in shares if place not in open_places)
    for number, place in enumerate(open_places):
        share = max(MIN_SHORTENED, available // (len(open_places) - number))
        shares[place] = min(shares[place], share)
        available -= shares[place]
    return tuple(shares.values())


def _shortened(text: str, width: int, *, in_middle: bool) -> str:
    """Return the text in at most `width` cells, with an ellipsis for the omitted part, in the middle or at the end."""
    if _num_cells(text) <= width:
        return text
    tail = width // 2 if in_middle else 0
    return _beginning(text, width - 1 - tail) + ELLIPSIS + _beginning(text[::-1], tail)[::-1]


def _beginning(text: str, width: int) -> str:
    """Return as many characters as fit into `width` cells."""
    filled = 0
    for place, character in enumerate(text):
        filled += _num_cells(character)
        if filled > width:
            return text[:place]
    return text


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _num_cells(text))


def _num_cells(text: str) -> int:
    """Return how many cells of a terminal the text takes; a Chinese character takes two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
