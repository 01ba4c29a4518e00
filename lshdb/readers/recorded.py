"""Read options as text, as the index keeps them with each source: read otherwise, a file is another source.

Owns which options matter to what a source gives; those of the index (`html`, `kind`) are kept with it once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from lshdb.readers.base import DEFAULT_MAX_TEXT, ReadOptions

__all__ = ["record", "recorded"]


class _Recorded(msgspec.Struct, frozen=True, omit_defaults=True):
    id_field: str = "id"
    text_field: str = "text"
    input_format: str | None = None
    base: str | None = None
    max_text: int = DEFAULT_MAX_TEXT
    id_prefix: str = ""


def record(options: ReadOptions) -> str:
    """The options as a JSON object; those at their defaults are left out."""
    base = None if options.base is None else str(options.base)
    kept = _Recorded(
        options.id_field, options.text_field, options.input_format, base, options.max_text, options.id_prefix
    )
    return msgspec.json.encode(kept).decode()


def recorded(text: str, options: ReadOptions) -> ReadOptions:
    """`options` with what `record` wrote in place of its own."""
    kept = msgspec.json.decode(text, type=_Recorded)
    base = None if kept.base is None else Path(kept.base)
    return replace(options, **(msgspec.structs.asdict(kept) | {"base": base}))
