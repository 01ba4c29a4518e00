"""A shell that runs the console examples of a page with this ``lshdb``, and compares their output with the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.docs import forking
from tests.docs.pages import ROOT, Block

__all__ = ["Shell", "agree", "commands", "run_section", "started"]

MARK = "\x1eended\x1e"
# Appended to each command: print the mark, and pass the status of the command to the next one.
ENDED = f"(ended=$?; printf '{MARK}'; exit $ended)"
# What the pages show in place of the folder of the test.
SHOWN_FOLDER = "/home/you"
HIDDEN = ("LSHDB_URL", "PYTHONWARNINGS")

# What differs from run to run.
TIMING = re.compile(r"[\d.,]+ (s|MB/s|/s)\b")


@dataclass(frozen=True)
class Shell:
    """Bash, with this lshdb and this Python on its path."""

    programs: Path

    def run(self, commands: Sequence[str], folder: Path) -> list[str]:
        """Run commands in sequence, in one process. Returns: the output of each."""
        path = os.pathsep.join([str(self.programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {name: value for name, value in os.environ.items() if name not in HIDDEN}
        environment |= {"PATH": path, "COLUMNS": "120", "TZ": "UTC", "LC_ALL": "C.UTF-8", "HOME": str(folder)}
        ended = subprocess.run(
            ["bash", "-c", "".join(f"{command}\n{ENDED}\n" for command in commands)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        return re.split(MARK, ended.stdout.replace(str(folder), SHOWN_FOLDER))[:-1]


@contextmanager
def started(folder: Path) -> Iterator[Shell]:
    """Start a shell whose ``lshdb`` and ``run-script FILE`` start quickly; `folder` is for its programs."""
    address = str(folder / "socket")
    with subprocess.Popen([sys.executable, forking.__file__, address], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            for name in ("lshdb", "run-script"):
                client = folder / name
                client.write_text(forking.CLIENT.format(python=sys.executable, address=address))
                client.chmod(0o755)
            yield Shell(folder)
        finally:
            server.kill()


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output it shows. Lines that begin with > continue a command."""
    found = re.findall(r"^\$ (.*\n(?:^> .*\n)*)((?:^(?!\$ ).*\n)*)", text, flags=re.MULTILINE)
    return [(re.sub(r"^> ", "", command, flags=re.MULTILINE).rstrip("\n"), shown) for command, shown in found]


def run_section(section: Sequence[Block], shell: Shell, folder: Path) -> list[tuple[str, str, str]]:
    """Run the commands of blocks in a folder that has the sample data and the files that the page has you write.

    Returns: each command, the output on the page, and the actual output.
    """
    shutil.copytree(ROOT / "sample_data", folder / "sample_data")
    for block in section:
        if block.title is not None and not block.title.startswith("/"):
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text)
    steps = [step for block in section if block.language == "console" for step in commands(block.text)]
    printed = shell.run([command for command, _ in steps], folder)
    assert len(printed) == len(steps), printed
    return [(command, shown, found) for (command, shown), found in zip(steps, printed, strict=True)]


def agree(shown: str, printed: str) -> bool:
    """Return whether an example allows this output: with other timings, and anything for a line of three dots."""
    escaped = re.escape(TIMING.sub(r"_ \1", shown))
    allowed = re.sub(r"^\\\.\\\.\\\.\\\n", r"(?:.*\\n)*?", escaped, flags=re.MULTILINE)
    return re.fullmatch(allowed, TIMING.sub(r"_ \1", printed)) is not None
