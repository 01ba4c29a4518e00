"""Rewrite the texts of records in their lines, and leave all other bytes unchanged.

A field keeps its notation. In the part that stays, no escape of JSON and no doubled quote of CSV is written in another
way, and bytes that are not UTF-8 stay.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from lshdb.clusters.rows.boilerplate import Edits, FrequentPassages, Tally
from lshdb.clusters.rows.verdicts import KEPT
from lshdb.model.batches import in_batches
from lshdb.readers import ReadOptions
from lshdb.readers.fields import field

__all__ = ["csv_fields", "json_fields", "rewritten"]

# Bytes of records whose words are held at a time.
HELD_BYTES: Final = 4_000_000

JSON_ESCAPE: Final = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.")
CSV_ESCAPE: Final = re.compile('""')
# An integer may have any number of digits, because its value is of no interest.
DECODER: Final = json.JSONDecoder(strict=False, parse_int=len)
# An unquoted cell has no escapes.
NOTHING: Final = re.compile(r"(?!)")
BLANKS: Final = re.compile(r"[ \t\r\n]*")


class Field(Struct, frozen=True):
    """A text field of a record.

    Args:
        value: its value.
        start, stop: where its notation is in the record, without quotes.
        escape: matches each part of the notation that stands for one character.
    """

    value: str
    start: int
    stop: int
    escape: re.Pattern[str]

    def places(self, record: str) -> Callable[[int], int]:
        """Return a function from the characters of the value to the characters of the record."""
        # The character after each escape, and how many characters of the record the escapes add before it.
        ends, added = list[int](), [0]
        for match in self.escape.finditer(record, self.start, self.stop):
            ends.append(match.start() - self.start - added[-1] + 1)
            added.append(added[-1] + len(match[0]) - 1)
        return lambda character: self.start + character + added[bisect_right(ends, character)]


def rewritten(
    records: Iterator[tuple[bytes, int]],
    fields_of: Callable[[str], Sequence[Field]],
    passages: FrequentPassages,
    tally: Tally,
) -> Iterator[bytes]:
    """Yield the records with their verdicts, without the passages in those that are kept. Emptied ones are left out.

    Args: fields_of: returns the text fields of a record.
    """
    for some in in_batches(records, lambda one: len(one[0]), HELD_BYTES):
        yield from _rewritten(some, fields_of, passages, tally)


def _rewritten(
    records: Sequence[tuple[bytes, int]],
    fields_of: Callable[[str], Sequence[Field]],
    passages: FrequentPassages,
    tally: Tally,
) -> Iterator[bytes]:
    # Lone surrogates stand for bytes that are not UTF-8.
    kept = [record.decode("utf-8", "surrogateescape") for record, verdict in records if verdict == KEPT]
    fields = [fields_of(record) for record in kept]
    edits = iter(passages.edits([[one.value for one in some] for some in fields], tally))
    texts = iter(zip(kept, fields, strict=True))
    for record, verdict in records:
        if verdict != KEPT:
            yield record
            continue
        (text, some), edit = next(texts), next(edits)
        if edit is None:
            yield record
        elif not edit.is_emptied:
            yield _edited(text, some, edit).encode("utf-8", "surrogateescape")


def _edited(record: str, fields: Sequence[Field], edits: Edits) -> str:
    """Return the record without the spans of its fields."""
    bounds = [0]
    for one, spans in sorted(zip(fields, edits.spans, strict=True), key=lambda both: both[0].start):
        place = one.places(record)
        bounds += [place(bound) for span in spans for bound in span]
    bounds.append(len(record))
    return edits.filler.join(record[start:stop] for start, stop in list(pairwise(bounds))[::2])


def json_fields(record: str, options: ReadOptions) -> list[Field]:
    """Return the text fields of a JSON object that is a document; none if it is nested too deeply."""
    try:
        members = _members(record, record.index("{"))
        places = dict.fromkeys(_place(record, members, name) for name in options.text_names)
    except RecursionError:
        return []
    return [_json_string(record, start) for start in places if start is not None and record[start] == '"']


def _place(record: str, members: Mapping[str, int], name: str) -> int | None:
    try:
        return field(members, name, lambda start: _members(record, start) if record[start] == "{" else None)
    except KeyError:
        return None


def _json_string(record: str, start: int) -> Field:
    value, stop = DECODER.raw_decode(record, start)
    return Field(value, start + 1, stop - 1, JSON_ESCAPE)


def _members(text: str, start: int) -> dict[str, int]:
    """Return where the value of each member of an object begins. Of members of one name, the last counts."""
    members, at = dict[str, int](), _after_blanks(text, start + 1)
    while text[at] != "}":
        name, at = DECODER.raw_decode(text, at)
        members[name] = value = _after_blanks(text, _after_blanks(text, at) + 1)
        at = _after_blanks(text, DECODER.raw_decode(text, value)[1])
        if text[at] == ",":
            at = _after_blanks(text, at + 1)
    return members


def _after_blanks(text: str, at: int) -> int:
    match = BLANKS.match(text, at)
    assert match is not None
    return match.end()


def csv_fields(header: bytes, delimiter: str, options: ReadOptions) -> Callable[[str], list[Field]]:
    """Return a function from a row to its text fields. Args: header: the first row."""
    cell = re.compile(rf'"([^"]*(?:""[^"]*)*)"|([^{delimiter}\r\n]*)')
    names = [one.value.strip() for one in _cells(header.decode("utf-8-sig", "replace"), cell)]
    columns = dict.fromkeys(names.index(name) for name in options.text_names)

    def fields_of(row: str) -> list[Field]:
        cells = list(_cells(row, cell))
        return [cells[column] for column in columns]

    return fields_of


def _cells(row: str, cell: re.Pattern[str]) -> Iterator[Field]:
    at = 0
    while match := cell.match(row, at):
        is_quoted = match[1] is not None
        # A quote within a bare cell could become its first character, and begin a quoted one.
        value = match[1].replace('""', '"') if is_quoted else match[2] if '"' not in match[2] else ""
        yield Field(value, *match.span(2 - is_quoted), CSV_ESCAPE if is_quoted else NOTHING)
        at = match.end() + 1
        if row[match.end() : at] in ("", "\r", "\n"):
            return
