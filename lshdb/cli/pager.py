"""Show long output in a pager, as git does.

The pager is the command in LSHDB_PAGER, else PAGER, else less. An empty command, or ``cat``, means none. Unless LESS is
set, less gets the options FRX: it exits if the output fits on one screen, keeps colours, and does not clear the screen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, TextIO, cast

__all__ = ["paged"]

NO_PAGERS: Final = ("", "cat")


@contextmanager
def paged(*, allowed: bool) -> Iterator[TextIO]:
    """Yield a text file whose content is shown in a pager; standard output if that is not a terminal.

    If the user quits the pager before everything is written, the block ends without an error.
    """
    command = _command() if allowed and sys.stdout.isatty() else None
    if command is None:
        yield sys.stdout
        return
    sys.stdout.flush()
    environment = {"LESS": "FRX", **os.environ}
    # Run it in a shell, because PAGER may contain options.
    pager = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environment, encoding="utf-8",
                             errors="backslashreplace")  # fmt: skip
    assert pager.stdin is not None
    try:
        with suppress(BrokenPipeError):
            yield cast(TextIO, pager.stdin)
    finally:
        with suppress(BrokenPipeError):
            pager.stdin.close()
        _wait(pager)


def _command() -> str | None:
    """Return the command of the pager, or None if there is none."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return None
    for variable in ("LSHDB_PAGER", "PAGER"):
        if (chosen := os.environ.get(variable)) is not None:
            return None if chosen.strip() in NO_PAGERS else chosen
    return shutil.which("less")


def _wait(pager: subprocess.Popen[str]) -> None:
    """Wait until the user quits the pager, which handles Ctrl-C itself."""
    while True:
        with suppress(KeyboardInterrupt):
            pager.wait()
            return
