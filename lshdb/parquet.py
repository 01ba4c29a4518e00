"""Writes records as a Parquet file of two columns, ``id`` and ``text``. Needs the extra ``lshdb[parquet]`` (pyarrow).

Limitation: Parquet has no place for a lone surrogate; U+FFFD stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from lshdb.errors import UsageError

__all__ = ["require_pyarrow", "write_records"]

# Characters of a row group.
GROUP_CHARACTERS: Final = 32_000_000


def require_pyarrow() -> None:
    """Raises: UsageError: pyarrow is not there."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise UsageError(reason='writing Parquet needs pyarrow: pip install "lshdb[parquet]"') from None


def write_records(path: Path, records: Iterable[tuple[str, str]]) -> None:
    """Writes (id, text) records to a new file."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    schema = pyarrow.schema([("id", pyarrow.string()), ("text", pyarrow.string())])
    with ParquetWriter(path, schema, compression="zstd") as writer:
        for group in _groups(records):
            columns = [[_without_surrogates(value) for value in column] for column in zip(*group, strict=True)]
            table: Any = pyarrow.table(dict(zip(schema.names, columns, strict=True)), schema)
            writer.write_table(table)


def _groups(records: Iterable[tuple[str, str]]) -> Iterable[list[tuple[str, str]]]:
    group: list[tuple[str, str]] = []
    size = 0
    for record in records:
        group.append(record)
        size += len(record[1])
        if size >= GROUP_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
