"""Turns the errors of all verbs into a message line and an exit status."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any, Final, NoReturn, get_args

import typer
from msgspec import Struct
from typer.core import TyperCommand, TyperGroup

from lshdb.cli.outlets import Event, Outlet, TextLines, outlets_of
from lshdb.errors import LshdbError, OutputFailed, UsageError
from lshdb.store import interrupts

__all__ = ["SIGNALLED", "Verb", "Verbs"]

# An option that more verbs than this share, such as --json, is not attributed to verbs.
MAX_OWNERS: Final = 3

# The status that a shell reports for a program ended by a signal is this plus the number of the signal.
SIGNALLED: Final = 128
ENDED: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

# Typer exports only this child of its usage errors.
_Misuse: Final[Any] = typer.BadParameter.__base__
PLAIN_NUMBER: Final = {int: re.compile("[0-9]{1,9}"), float: re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")}
# Begins the messages of Typer's validator.
_VALIDATOR: Final = "Value error, "


class Unchecked(Struct, frozen=True):
    """Takes a default, text, paths, and plain numbers and names that are allowed. Pydantic takes 50 ms to load.

    Args: checked: returns what checks all values.
    """

    checked: Callable[[], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        wanted = param.type_descriptor.annotation
        if value is None or value is param.default or wanted in (str, list[str]) or value in get_args(wanted):
            return value
        if wanted in (int, float) and PLAIN_NUMBER[wanted].fullmatch(value):
            number, limits = wanted(value), param.type_descriptor.parameter_info
            if (limits.min is None or number >= limits.min) and (limits.max is None or number <= limits.max):
                return number
        # No option of ours says more about a path.
        if wanted is Path:
            return Path(value)
        if wanted == list[Path]:
            return [*map(Path, value)]
        return self.checked().coerce(value, param=param, ctx=ctx)


class Plain:
    """Keeps Python types out of help texts: a flag takes no value, and an argument has a name."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if isinstance(getattr(each, "get_runtime_param", None), MethodType):
                each.get_runtime_param = partial(Unchecked, each.get_runtime_param)
            if each.param_type_name == "argument":
                each.display_type_rich = lambda ctx: ""  # noqa: ARG005
            elif each.is_flag and each.metavar is None:
                each.metavar = ""
        return params


class Verb(Plain, TyperCommand):
    """One command."""


class Verbs(Plain, TyperGroup):
    """Turns an error of a verb, or a wrong call, into a message line and an exit status."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _explained(self, None), _flushed(), _explained(self, None):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        # The outer one explains why the rest of the output cannot be written.
        with _explained(self, ctx), _flushed(), _explained(self, ctx):
            _require_current_folder()
            return super().invoke(ctx)


def _require_current_folder() -> None:
    """Raises: UsageError: the current folder was deleted, so no relative path leads anywhere."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise UsageError(reason="the current folder no longer exists; change to another one") from None


@contextmanager
def _flushed() -> Iterator[None]:
    """Write the rest of the output, however the block ends."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as in `lshdb dupes | head`.
        raise typer.Exit(SIGNALLED + signal.SIGPIPE) from None


@contextmanager
def _explained(verbs: Verbs, context: typer.Context | None) -> Iterator[None]:
    try:
        yield
    except LshdbError as error:
        _end(context, str(error), error.exit_code)
    except (KeyboardInterrupt, SystemError) as error:
        if not interrupts.is_interruption(error):
            raise
        number = interrupts.last()
        message = f"{ENDED[number]}. Everything committed is kept; run the same command again to continue."
        _end(context, message, SIGNALLED + number)
    except _Misuse as error:
        # Typer has printed the help, which is the message of this error.
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        _end(context, _misuse(error, verbs), UsageError.exit_code)


def _misuse(error: Any, verbs: Verbs) -> str:
    """Return the message for a wrong call, with the help command to try."""
    what = error.format_message().replace(_VALIDATOR, "")
    advice = _advice(error, verbs)
    context = error.ctx
    verb = "" if context is None or context.parent is None else f" {context.info_name}"
    return f"{what}{'' if what.endswith(('.', '?')) else '.'}{advice} Try: lshdb{verb} --help"


def _advice(error: Any, verbs: Verbs) -> str:
    """Return a guess at what the caller meant; empty if there is none."""
    if error.ctx is None:
        return ""
    root = error.ctx.find_root()
    if (option := getattr(error, "option_name", None)) is not None:
        owners = [name for name, verb in verbs.commands.items() if any(option in each.opts for each in verb.params)]
        if owners and error.ctx is root:
            return f" Write {option} after the verb."
        return f" It is an option of {', '.join(owners)}." if owners and len(owners) <= MAX_OWNERS else ""
    if error.ctx is root and (taken := root.params.get("address")) in verbs.commands:
        return f" --db took the verb {taken} as its value; is a variable of your shell not set?"
    return ""


def _end(context: typer.Context | None, message: str, code: int) -> NoReturn:
    for outlet in _outlets(context):
        with suppress(BrokenPipeError):
            outlet.done()
            outlet.say(Event("error", message, {"status": code}))
    raise typer.Exit(code) from None


def _outlets(context: typer.Context | None) -> tuple[Outlet, ...]:
    """Return the outlets of a call; plain lines if its options are not known yet, or its log cannot be written."""
    if context is not None and context.obj is not None:
        with suppress(OutputFailed):
            return outlets_of(context)
    return (TextLines(None),)
