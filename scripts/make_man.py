"""Write the manual page from the command line: ``python scripts/make_man.py``, which writes man/lshdb.1.

A test fails if the page is not current.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer.main

from lshdb import errors
from lshdb.cli.app import EPILOG, HELP, PANELS, app
from lshdb.cli.settings import Settings

PAGE = Path(__file__).parent.parent / "man" / "lshdb.1"
GLOBAL = frozenset(Settings.__dataclass_fields__)

OTHER_STATUSES = {
    0: "Success.",
    1: "query or passages found nothing, or contaminated found more than --max-share allows.",
    2: "Wrong usage.",
    130: "Interrupted (Ctrl-C).",
    70: "A defect of lshdb; the traceback says where.",
    141: "The reader of the output has closed the pipe.",
    143: "Terminated (SIGTERM).",
}


def page() -> str:
    """Return the page in the language of man."""
    program = typer.main.get_command(app)
    lines = [
        '.\\" Written by scripts/make_man.py. Do not edit.',
        f'.TH LSHDB 1 "" "lshdb {version("lshdb")}" "User Commands"',
        ".SH NAME",
        "lshdb \\- find near-duplicate documents as a collection grows",
        ".SH SYNOPSIS",
        ".B lshdb",
        "[OPTIONS] VERB [OPTIONS] [ARGUMENTS]",
        ".SH DESCRIPTION",
        _roff(HELP),
        ".SH VERBS",
        *_panels(program.commands),
        ".SH OPTIONS",
        "These options may stand before or after the verb.",
        *(line for each in program.params if each.name in GLOBAL for line in _option(each)),
        *(line for name, verb in sorted(program.commands.items()) for line in _verb(name, verb)),
        ".SH EXIT STATUS",
        *_statuses(),
        ".SH ENVIRONMENT",
        ".TP",
        ".B LSHDB_URL",
        "The index, if --db is not given.",
        ".TP",
        ".B NUMBA_CACHE_DIR",
        "A folder for compiled code, if that of the package and of the user cannot be written.",
        ".SH EXAMPLES",
        *_epilog(EPILOG),
    ]
    return "\n".join(lines) + "\n"


def _panels(verbs: Mapping[str, Any]) -> Iterator[str]:
    for panel, names in PANELS.items():
        yield f".SS {panel}"
        for name in names:
            yield from (".TP", f".B {name}", _roff(verbs[name].help.split("\n\n")[0]))


def _verb(name: str, verb: Any) -> Iterator[str]:
    """Yield the section of a verb."""
    yield f'.SH "lshdb {name}"'
    first, *others = verb.help.split("\n\n")
    yield _roff(first)
    for paragraph in others:
        yield from (".PP", _roff(paragraph))
    own = [each for each in verb.params if each.name not in GLOBAL]
    for each in own:
        yield from _argument(each) if each.param_type_name == "argument" else _option(each)
    yield from _epilog(verb.epilog)


def _argument(each: Any) -> Iterator[str]:
    yield from (".TP", f"\\fI{_roff(each.metavar or each.name.upper())}\\fR", _roff(each.help or ""))


def _option(each: Any) -> Iterator[str]:
    names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in [*each.opts, *each.secondary_opts])
    value = f" \\fI{_roff(each.metavar)}\\fR" if each.metavar else ""
    yield from (".TP", f"{names}{value}", _roff(each.help or ""))


def _epilog(epilog: str) -> Iterator[str]:
    """Yield the examples, line by line, and the paragraphs after them."""
    lines = epilog.splitlines()
    examples = [_roff(line.strip()) for line in lines if line.startswith(" ")]
    yield from (".PP", "Examples:", ".RS", ".nf", *examples, ".fi", ".RE")
    for line in lines:
        if line.strip() and not line.startswith((" ", "[bold]Example")):
            yield from (".PP", _roff(line))


def _statuses() -> Iterator[str]:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.LshdbError)]
    named = {kind.exit_code: kind.__name__ for kind in kinds if kind.exit_code != errors.UsageError.exit_code}
    words = {code: re.sub(r"(?<!^)(?=[A-Z])", " ", name).capitalize() + "." for code, name in named.items()}
    for code, meaning in sorted((words | OTHER_STATUSES).items()):
        yield from (".TP", f".B {code}", _roff(meaning))


def _roff(text: str) -> str:
    """Return a text with the markup of rich, for man."""
    text = text.replace("\\[", "\0").replace("\\", "\\e").replace("-", "\\-")
    text = text.replace("[bold]", "\\fB").replace("[/bold]", "\\fR").replace("\0", "[")
    # A dot or a quote at the beginning of a line would be a request.
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
