"""``python -m tests.docs.renew PAGE...``: write what the console examples print into the pages. Read the diff."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs.pages import sections
from tests.docs.shell import Shell, agree, run_section, started

__all__ = ["renew"]


def renew(page: Path, shell: Shell) -> None:
    """Replace each output of a page that its command does not print."""
    done, text = "", page.read_text()
    for section in sections(page):
        if not any(block.language == "console" for block in section):
            continue
        with TemporaryDirectory() as folder:
            for command, shown, printed in run_section(section, shell, Path(folder)):
                written = command.replace("\n", "\n> ")
                before, found, text = text.partition(f"$ {written}\n{shown}")
                assert found, command
                done += f"{before}$ {written}\n{shown if agree(shown, printed) else printed}"
    page.write_text(done + text)


def main() -> None:
    with TemporaryDirectory() as folder, started(Path(folder)) as shell:
        for name in sys.argv[1:]:
            renew(Path(name).resolve(), shell)


if __name__ == "__main__":
    main()
