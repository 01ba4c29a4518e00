"""The command line: global options, the verbs, and the one place where an error becomes a line and an exit status."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Annotated, Any, Final

import typer

from lshdb.cli.streams import guard
from lshdb.cli.unfolding import unfolded
from lshdb.cli.usage import SIGNALLED, Verb, Verbs
from lshdb.store import interrupts

__all__ = ["app", "main"]

# The verbs, by the panel of the help that lists them. A verb is the function in the module of its name.
PANELS: Final = {
    "Put in": ("ingest", "link", "init", "spark", "load"),
    "Ask": (
        *("dupes", "clusters", "query", "explain", "passages", "boilerplate"),
        *("captures", "contaminated", "stats", "runs", "serve", "report"),
    ),
    "Clean up": ("export", "filter", "decisions", "remove"),
    "Look after": ("tune", "reband", "verify", "check", "upgrade", "backup", "copy", "vacuum"),
}

SWITCH_SECONDS: Final = 0.0005

HELP: Final = "Find near-duplicate documents, and keep track of them as your collection grows."
EPILOG: Final = """[bold]Examples[/bold]\n
  lshdb ingest ./crawl       # first time, and every night from cron\n
  lshdb dupes --min-sim 0.8  # pairs with their exact similarity\n
  lshdb query page.html      # near-duplicates of this page\n
  lshdb --db postgresql://me@host/crawl ingest ./crawl"""


def _paragraphs(text: str) -> str:
    """Return the text with each paragraph in one line, because Typer keeps line ends."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _lines(epilog: str) -> str:
    """Return the examples, and the paragraphs after them, one per line."""
    return "\n".join(block.replace("\n", " ") for block in epilog.split("\n\n"))


class Commands(Mapping[str, Any]):
    """The verbs by name, each imported and built when it is asked for. All of them would take 50 ms."""

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(PANELS.values())

    def __len__(self) -> int:
        return sum(map(len, PANELS.values()))

    def __contains__(self, name: object) -> bool:
        return name in tuple(self)

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            raise KeyError(name)
        return _command(name)


@cache
def _command(name: str) -> Any:
    """Return a verb as a command of Typer."""
    module = import_module(f"lshdb.cli.{name}")
    verb = vars(module)[name]
    panel = next(panel for panel, names in PANELS.items() if name in names)
    single = typer.Typer(add_completion=False, rich_markup_mode="rich")
    made = single.command(
        name, cls=Verb, help=_paragraphs(verb.__doc__ or ""), epilog=_lines(module.EPILOG), rich_help_panel=panel
    )
    made(unfolded(verb))
    return typer.main.get_command(single)


class Program(Verbs):
    """The program, with all verbs."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"commands": Commands()})


app = typer.Typer(
    name="lshdb",
    cls=Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"lshdb {version('lshdb')}")
        raise typer.Exit


def settings(
    context: typer.Context,
    show_version: Annotated[
        bool,
        # Eager, so that it needs no verb.
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Keep the global options before the verb."""


app.callback(help=HELP, epilog=_lines(EPILOG))(unfolded(settings))


def main() -> None:
    """Run the command line, and end the process with its exit status."""
    # The thread that sketches and the one that writes take turns with the interpreter; by default a turn is 5 ms.
    sys.setswitchinterval(SWITCH_SECONDS)
    # We create almost no cycles, and Python's usual search for them took 10 % of the time of a link.
    gc.set_threshold(100_000)
    # Nothing is left to search for when the process ends: that search took 50 ms, a sixth of `lshdb stats`.
    atexit.register(gc.freeze)
    # NumPy would start a thread per core, for products of matrices, which we never compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A driver also logs a lost connection, but the user already gets it as an error.
    logging.getLogger().addHandler(logging.NullHandler())
    interrupts.listen()
    guard()
    try:
        app()
    except KeyboardInterrupt:
        # Before there was a verb that could say so.
        sys.exit(SIGNALLED + interrupts.last())
    except Exception:
        traceback.print_exc()
        # Python would end with 1, which `query` uses for "found nothing".
        sys.exit(os.EX_SOFTWARE)
