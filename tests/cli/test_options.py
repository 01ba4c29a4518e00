"""Verbs take a group of options as one value."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import typer
from typer.testing import CliRunner

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
