"""The destination and format of rows: the options that all verbs with rows share."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Final, TextIO, TypeAlias, cast, get_args

import typer

from lshdb.cli.escapes import shown_on
from lshdb.cli.options import Format, FormatOption
from lshdb.cli.pager import paged
from lshdb.errors import UsageError
from lshdb.store.files import replacing, require_free, writing

__all__ = ["STDOUT", "Output", "RawOption"]

STDOUT: Final = "-"
# The formats that hold JSON.
JSON: Final = ("jsonl", "cdxj")

RawOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Do not change ids and texts: in CSV those that a spreadsheet would run as formulas, on a terminal those "
        "with control characters.",
    ),
]


@dataclass(frozen=True, slots=True)
class Output:
    """The options ``--format``, ``--out``, ``--force``, ``--no-pager`` and ``--raw``."""

    form: FormatOption = None
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE|-", help="Default: -, standard output.", show_default=False),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Print a table on a terminal without a pager.")] = False
    raw: RawOption = False

    @property
    def is_chosen(self) -> bool:
        """Whether a format or a file was given."""
        return self.form is not None or self._file is not None

    def refuse_with_json(self, json: bool) -> None:
        """Raises: UsageError: ``--json`` is given together with a format or a file for rows."""
        if json and self.is_chosen:
            raise UsageError(reason="use either --json, or --format and --out")

    @property
    def chosen(self) -> Format:
        """The requested format, else that of the file suffix, else a table on a terminal, else tsv."""
        if self.form is not None:
            return self.form
        if self._file is None:
            return "table" if sys.stdout.isatty() else "tsv"
        suffix = self._file.suffix.lower().removeprefix(".")
        return cast(Format, suffix) if suffix in get_args(Format) else "tsv"

    @property
    def width(self) -> int | None:
        """The width of a line: that of the terminal, or COLUMNS. None off a terminal, where nothing is shortened."""
        if self._file is None and (sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()):
            return shutil.get_terminal_size().columns
        return None

    @contextmanager
    def opened(self) -> Iterator[TextIO]:
        """Yield the file to write to. It appears complete or not at all.

        Raises: OutputExists, OutputFailed.
        """
        file = self._file
        if file is None:
            is_table = self.chosen == "table"
            with paged(allowed=is_table and not self.no_pager) as out:
                yield out if is_table or self.raw else shown_on(out, as_json=self.chosen in JSON)
            return
        require_free(file, force=self.force)
        with writing(file) as out:
            yield out

    @contextmanager
    def opened_for_lines(self) -> Iterator[BinaryIO]:
        """Like `opened`, for lines that are passed through. Raises: UsageError: a format is requested."""
        if self.form is not None:
            raise UsageError(reason="lines are passed through as they are; --format cannot change them")
        if (file := self._file) is None:
            yield sys.stdout.buffer
            return
        require_free(file, force=self.force)
        with replacing(file) as part, part.open("wb") as out:
            yield out
            out.flush()

    @property
    def _file(self) -> Path | None:
        return None if self.out is None or str(self.out) == STDOUT else self.out
