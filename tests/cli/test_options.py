"""Verbs take a group of options as one value."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer.main
from typer.testing import CliRunner

from lshdb.cli.app import Commands, app
from lshdb.cli.options import Making
from lshdb.cli.unfolding import unfolded

CHOSEN = typer.Option("--size", help="How large.")


@dataclass(frozen=True)
class Shape:
    """A group."""

    size: Annotated[int, CHOSEN] = 3
    names: Annotated[list[str], typer.Option("--name")] = field(default_factory=list)


def verb(where: str, shape: Shape, loud: bool = False) -> None:
    """A verb with an argument, a group and another option."""
    typer.echo(f"{where} {shape} {loud}")


def test_the_options_of_a_group_stand_in_its_place() -> None:
    assert list(inspect.signature(unfolded(verb)).parameters) == ["where", "size", "names", "loud"]


def test_the_verb_gets_the_group_as_one_value() -> None:
    app = typer.Typer()
    app.command()(unfolded(verb))
    run = CliRunner().invoke
    assert run(app, ["here"]).output == "here Shape(size=3, names=[]) False\n"
    said = run(app, ["here", "--size", "5", "--name", "a", "--name", "b", "--loud"]).output
    assert said == "here Shape(size=5, names=['a', 'b']) True\n"


def test_only_the_parameters_that_were_given_are_chosen() -> None:
    assert Making().chosen() == {}
    assert Making(bands=30, keep_text=False).chosen() == {"bands": 30, "keep_text": False}


@pytest.mark.parametrize("verb", [None, *Commands()])
def test_typer_would_not_change_a_value_that_is_not_checked(verb: str | None) -> None:
    program = typer.main.get_command(app)
    command = program if verb is None else program.commands[verb]
    context = typer.Context(command)
    for each in command.get_params(context):
        unchecked = each.get_runtime_param()
        text = ["some text"] if each.multiple or each.nargs != 1 else "some text"
        is_text = each.type_descriptor.annotation in (str, list[str])
        for value in (each.get_default(context), text if is_text else None):
            if value is not None:
                assert unchecked.coerce(value, each, context) is value
                assert unchecked.checked().coerce(value, each, context) == value
