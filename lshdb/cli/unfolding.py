"""Turn a function into a verb of the command line.

Typer reads the options of a verb from the signature of a function. A verb here may also take groups of options, each a
dataclass. `unfolded` replaces a group by its members, and adds the global options to every verb.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import typer

from lshdb.cli.settings import Settings

__all__ = ["unfolded"]

# The metavar for an option that does not name one. A flag takes no value.
METAVARS: Final = {bool: "", int: "N", float: "X", str: "TEXT", Path: "FILE"}


def unfolded(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the verb with each parameter that is a group of options replaced by these options.

    A verb with a parameter ``context`` also takes the global options; they become its ``context.obj``.
    """
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        found = [parameter.replace(annotation=hints[name])] if name not in groups else _members(groups[name])
        parameters += (one.replace(kind=Parameter.KEYWORD_ONLY) for one in found)
    if "context" in hints:
        parameters += _members(Settings)

    @wraps(verb)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = _made(group, given)
        if "context" in given:
            _settle(given["context"], _made(Settings, given))
        verb(**given)

    shown = [parameter.replace(annotation=_with_metavar(parameter.annotation)) for parameter in parameters]
    called.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called


def _settle(context: typer.Context, settings: Settings) -> None:
    """Combine the global options before and after the verb into the settings of the call."""
    root = context.find_root()
    root.obj = settings if root.obj is None else settings.over(root.obj)
    context.obj = root.obj


def _made(group: Any, given: dict[str, Any]) -> Any:
    """Return a group made from its options, which are removed from `given`."""
    return group(**{one.name: given.pop(one.name) for one in fields(group)})


# Cached, because evaluating the annotations of the global options for each verb took two thirds of this module's time.
@cache
def _members(group: Any) -> list[Parameter]:
    """Return the options of a group."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name])
        for one in fields(group)
    ]


def _default(one: Field[Any]) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory()


def _with_metavar(annotation: Any) -> Any:
    """Return the annotation of an option with a metavar, because Typer's default metavars are names of types."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, info = get_args(annotation)
    if info.metavar is not None:
        return annotation
    info = copy(info)
    info.metavar = _metavar(kind)
    return Annotated[kind, info]


def _metavar(kind: Any) -> str:
    """Return the metavar of a type: the choices of a Literal, and that of X for ``X | None`` and ``list[X]``."""
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    inner = [one for one in get_args(kind) if one is not NoneType]
    return METAVARS[kind] if not inner else _metavar(inner[0])
