"""Remove passages from the text columns of a table. Importing this module needs pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from lshdb.clusters.rows.boilerplate import Edits, FrequentPassages, Tally
from lshdb.readers import ReadOptions
from lshdb.readers.rows import bytes_of, find_column

__all__ = ["without_passages"]

# Rows whose words are held at a time.
HELD_ROWS: Final = 500


def without_passages(
    table: pa.Table, is_kept: NDArray[np.bool_], options: ReadOptions, passages: FrequentPassages, tally: Tally
) -> tuple[pa.Table, NDArray[np.bool_]]:
    """Return the table without the passages in the text of kept rows, and which rows have no words left, bool.

    Columns without such passages stay as they are.
    """
    is_emptied = np.zeros(len(table), np.bool_)
    if not is_kept.any():
        return table, is_emptied
    columns = [found for name in options.text_names if (found := find_column(table.schema, name, required=False))]
    (batch,) = table.combine_chunks().to_batches()
    texts = [_strings(column.of(batch)) for column in columns]
    edits = _edits(texts, np.flatnonzero(is_kept), passages, tally)
    for place, column in enumerate(columns):
        changed = {row: _edited(texts[place][row], edit, place) for row, edit in edits.items() if edit.spans[place]}
        if changed:
            at = table.schema.get_field_index(column.path[0])
            whole = table.column(at).combine_chunks()
            table = table.set_column(at, table.schema.field(at), _replaced(whole, column.path[1:], changed))
    is_emptied[[row for row, edit in edits.items() if edit.is_emptied]] = True
    return table, is_emptied


def _edits(
    texts: Sequence[Sequence[str]], rows: NDArray[np.int64], passages: FrequentPassages, tally: Tally
) -> dict[int, Edits]:
    """Return what to take out of each row that has passages."""
    found: dict[int, Edits] = {}
    for begin in range(0, len(rows), HELD_ROWS):
        some = rows[begin : begin + HELD_ROWS].tolist()
        edits = passages.edits([[column[row] for column in texts] for row in some], tally)
        found |= {row: edit for row, edit in zip(some, edits, strict=True) if edit is not None}
    return found


def _edited(text: str, edits: Edits, place: int) -> bytes:
    bounds = [0, *(bound for span in edits.spans[place] for bound in span), len(text)]
    rest = edits.filler.join(text[start:stop] for start, stop in zip(bounds[::2], bounds[1::2], strict=True))
    return rest.encode("utf-8", "surrogateescape")


def _strings(array: pa.Array) -> list[str]:
    """Return the values, "" for null. Lone surrogates stand for bytes that are not UTF-8."""
    return [(value or b"").decode("utf-8", "surrogateescape") for value in bytes_of(array).to_pylist()]


def _replaced(array: pa.Array, path: tuple[str, ...], values: dict[int, bytes]) -> pa.Array:
    """Return an array of the same type with other values in some rows, in the field at the end of the path."""
    if path:
        fields = [array.type.field(at) for at in range(array.type.num_fields)]
        inner = [
            _replaced(array.field(at), path[1:], values) if one.name == path[0] else array.field(at)
            for at, one in enumerate(fields)
        ]
        return pa.StructArray.from_arrays(inner, fields=fields, mask=array.is_null())
    before = bytes_of(array).to_pylist()
    plain = pa.array([values.get(row, value) for row, value in enumerate(before)], pa.large_binary())
    kind = array.type
    if types.is_dictionary(kind):
        return plain.cast(kind.value_type).dictionary_encode().cast(kind)
    return plain.cast(kind)
