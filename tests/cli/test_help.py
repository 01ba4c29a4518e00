"""The command line accepts every example in a help text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
import typer.main

from lshdb.cli.app import app

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
