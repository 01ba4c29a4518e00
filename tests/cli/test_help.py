"""The command line accepts every example in a help text."""

from __future__ import annotations

import inspect
import pkgutil
import re
import shlex
from collections.abc import Iterator
from importlib import import_module

import pytest
import typer.main
from typer.testing import CliRunner

import lshdb.cli
from lshdb.cli.app import PANELS, app
from lshdb.readers import READERS

# The rest belongs to the shell, or explains the example after two blanks.
END = re.compile(r"  +| [|>&#]|$")


def examples() -> Iterator[str]:
    """Return the commands in the epilogs of the program and its verbs."""
    program = typer.main.get_command(app)
    for command in (program, *program.commands.values()):
        for line in command.epilog.splitlines():
            for call in re.finditer(r"(?<![\w./:])lshdb (?=[a-z-])", line.replace("\\[", "[")):
                text = line[call.start() :]
                yield text[: END.search(text).start()]


def test_there_are_examples_of_every_verb() -> None:
    verbs = set(typer.main.get_command(app).commands)
    assert verbs == {verb for example in examples() for verb in verbs if f" {verb}" in example}


def test_the_help_of_a_verb_begins_with_one_short_sentence() -> None:
    for name, verb in typer.main.get_command(app).commands.items():
        first = verb.help.split("\n\n")[0]
        assert first.endswith("."), name
        assert len(first) <= 100, name
        assert ". " not in first, name
        assert "\n" not in verb.help.replace("\n\n", ""), "Typer would keep the line ends"


@pytest.mark.parametrize("example", list(examples()))
def test_an_example_is_understood(example: str) -> None:
    program = typer.main.get_command(app)
    arguments = shlex.split(example)[1:]
    context = program.make_context("lshdb", arguments)
    _, verb, rest = program.resolve_command(context, [*context._protected_args, *context.args])
    verb.make_context(verb.name, rest, parent=context)


def test_the_help_of_the_input_format_names_every_reader() -> None:
    parameters = typer.main.get_command(app).commands["ingest"].params
    [option] = (parameter for parameter in parameters if "--input-format" in parameter.opts)
    assert {reader.name for reader in READERS} <= set(re.findall(r"\w+", option.help))


def test_every_verb_is_in_one_panel() -> None:
    modules = [import_module(f"lshdb.cli.{each.name}") for each in pkgutil.iter_modules(lshdb.cli.__path__)]
    verbs = [module.__name__ for module in modules if hasattr(module, "EPILOG") and module is not lshdb.cli.app]
    listed = [f"lshdb.cli.{name}" for names in PANELS.values() for name in names]
    assert sorted(listed) == sorted(verbs)


def test_the_help_names_no_types_of_python() -> None:
    for verb in (None, *typer.main.get_command(app).commands):
        shown = CliRunner().invoke(app, [verb, "--help"] if verb else ["--help"], env={"COLUMNS": "200"}).output
        assert not re.findall(r"<\w+( range)?>|list\[", shown), verb


def test_every_example_fits_in_80_columns() -> None:
    program = typer.main.get_command(app)
    for command in (program, *program.commands.values()):
        # Typer takes away the common indentation, and leaves a blank column on either side.
        shown = inspect.cleandoc(command.epilog).replace("\\[", "[").splitlines()
        examples = [line for line, raw in zip(shown, command.epilog.splitlines(), strict=True) if raw.startswith(" ")]
        assert [example for example in examples if len(example) > 78] == []
