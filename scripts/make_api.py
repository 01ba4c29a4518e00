"""Write docs/api.md from the docstrings of the public package: ``python scripts/make_api.py``."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

import lshdb
from lshdb import Index, LshdbError

__all__ = ["PAGE", "page"]

PAGE: Final = Path(__file__).parents[1] / "docs" / "api.md"

HEADER: Final = """# API reference

This page is generated from the docstrings by `python scripts/make_api.py`. [python.md](python.md) is the introduction.
"""

# The methods of Index by purpose.
METHODS: Final = {
    "Open and close": "open create ensure close upgrade",
    "Change": "ingest load add put buffered remove remove_collection link",
    "Ask": "pairs query query_at_once query_many query_file query_files query_id clusters catalogue members explain "
    "captures",
    "Check for contamination": "contaminated contaminated_files nearest",
    "Deduplicate": "export filter filter_lines wanted_files delete_files decide decisions undo import_decisions",
    "Look up": "get page meant collections stats histogram runs state hottest rejections",
    "Tune and maintain": "measure outlook reband verify check repair backup copy vacuum",
}
# A parameter that begins a line of a section.
NAMED: Final = re.compile(r"^ {4}[a-z_]+(, [a-z_]+)*: ")
SECTION: Final = re.compile(r"^(Args|Returns|Raises|Yields|Source): ?(.*)$")


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEADER, *_index(), *_values(), *_errors()]).rstrip("\n") + "\n"


def _index() -> Iterator[str]:
    yield "## Index\n"
    yield _prose(Index)
    for heading, names in METHODS.items():
        yield f"### {heading}\n"
        for name in names.split():
            if hasattr(Index, name):
                yield _method(name, getattr(Index, name))
    others = [
        name for name in vars(Index) if _is_method(name) and not any(name in each.split() for each in METHODS.values())
    ]
    yield "### Others\n"
    for name in others:
        yield _method(name, inspect.getattr_static(Index, name))
    yield "`len(index)` is the number of documents of all collections. `doc_id in index` looks into `default`.\n"


def _is_method(name: str) -> bool:
    found = inspect.getattr_static(Index, name)
    return not name.startswith("_") and (callable(found) or isinstance(found, (property, staticmethod, classmethod)))


def _method(name: str, found: Any) -> str:
    if isinstance(found, property):
        return f"#### `index.{name}`\n\n{_prose(found)}"
    return f"#### `{name}`\n\n```py\n{_signature(name, found)}\n```\n\n{_prose(found)}"


def _signature(name: str, call: Callable[..., Any]) -> str:
    """Return a signature in one line, or with a line for each parameter."""
    signature = inspect.signature(call)
    signature = signature.replace(parameters=[each for key, each in signature.parameters.items() if key != "self"])
    line = f"{name}{signature}".replace("'", "")
    if len(line) <= 100:
        return line
    parameters, returned = str(signature).replace("'", "").removeprefix("(").rsplit(")", 1)
    each = re.split(r", (?=\*|[a-z_]+:)", parameters)
    return f"{name}(\n" + "".join(f"    {one},\n" for one in each) + f"){returned}"


def _values() -> Iterator[str]:
    yield "## Values\n"
    names = [name for name in lshdb.__all__ if inspect.isclass(kind := getattr(lshdb, name)) and kind is not Index]
    for name in names:
        kind = getattr(lshdb, name)
        if not issubclass(kind, LshdbError):
            yield f"### `{name}`\n"
            if dataclasses.is_dataclass(kind) or issubclass(kind, Struct):
                yield "```py\n" + "\n".join(map(_field, inspect.signature(kind).parameters.values())) + "\n```\n"
            yield _prose(kind)


def _field(field: inspect.Parameter) -> str:
    kind = field.annotation.__name__ if isinstance(field.annotation, type) else str(field.annotation)
    simple = isinstance(field.default, (str, int, float, bool, type(None), tuple))
    # With double quotes, as ruff formats the page.
    default = f'"{field.default}"' if isinstance(field.default, str) else repr(field.default)
    return f"{field.name}: {kind}" + (f" = {default}" if simple else "")


def _errors() -> Iterator[str]:
    yield "## Errors\n"
    yield "Every error is a subclass of `LshdbError`, with the exit status of the command line as `exit_code`.\n"
    yield "| error | exit code | subclass of | message |\n|---|---:|---|---|"
    for name in lshdb.__all__:
        kind = getattr(lshdb, name)
        if inspect.isclass(kind) and issubclass(kind, LshdbError):
            message = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
            yield f"| `{name}` | {kind.exit_code} | `{kind.__bases__[0].__name__}` | {message} |"


def _prose(found: Any) -> str:
    """Return a docstring as Markdown: its sections are lists."""
    lines = (inspect.getdoc(found) or "").replace("``", "`").splitlines()
    written: list[str] = []
    section = ""
    for line in lines:
        if match := SECTION.match(line):
            section = "inline" if match[2] else "block"
            written += ["", f"**{match[1]}**", "", *([f"- {match[2]}"] if match[2] else [])]
        elif not line.strip() or not section or not line.startswith(" "):
            section = section if line.startswith(" ") or not line else ""
            written.append(line if line.strip() != "::" else "")
        else:
            is_item = NAMED.match(line) if section == "inline" else not line.startswith("     ")
            written.append(f"{'- ' if is_item else '  '}{line.strip()}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(written)).strip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
