"""The command line: global options, the verbs, and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import gc
import logging
import os
import sys
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from lshdb.cli import (
    backup,
    check,
    clusters,
    contaminated,
    copy,
    dupes,
    explain,
    export,
    ingest,
    init,
    link,
    query,
    reband,
    remove,
    stats,
    tune,
    upgrade,
    vacuum,
    verify,
)
from lshdb.cli.options import Settings
from lshdb.errors import LshdbError
from lshdb.store import interrupts

__all__ = ["app", "main"]

INTERRUPTED = 130
SWITCH_SECONDS = 0.0005
# What a shell reports for a program that SIGPIPE ended.
BROKEN_PIPE = 141


class Verbs(TyperGroup):
    """The verbs, each of whose errors becomes a line and an exit code; wrong usage is Typer's to explain."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except LshdbError as error:
            _end(str(error), error.exit_code)
        except KeyboardInterrupt:
            _end("interrupted. What was committed is kept; run the same command again to go on.", INTERRUPTED)
        except BrokenPipeError:
            # The reader has gone, as in `lshdb dupes | head`; nothing is left to flush at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        return result


app = typer.Typer(
    name="lshdb",
    cls=Verbs,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A near-duplicate database: what in this growing pile of text is nearly the same?",
    epilog="""[bold]Examples[/bold]\n
      lshdb ingest ./crawl            first time, and every night from cron\n
      lshdb dupes --min-sim 0.8       pairs with their exact similarity\n
      lshdb query page.html           what is like this page?\n
      lshdb --db postgresql://me@host/crawl ingest ./crawl""",
)
for module in (
    init,
    ingest,
    dupes,
    clusters,
    contaminated,
    export,
    query,
    explain,
    verify,
    check,
    stats,
    tune,
    reband,
    link,
    remove,
    upgrade,
    backup,
    copy,
    vacuum,
):
    module.register(app)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"lshdb {version('lshdb')}")
        raise typer.Exit


@app.callback()
def settings(
    context: typer.Context,
    db: Annotated[
        str,
        typer.Option(
            "--db",
            envvar="LSHDB_URL",
            metavar="URL|PATH",
            help="The index: a database URL, or a plain path for SQLite.",
        ),
    ] = "lshdb.db",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings, only errors.")] = False,
    show_version: Annotated[  # noqa: ARG001
        bool,
        # Eager: it needs no verb.
        typer.Option("--version", help="Print the version and end.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    context.obj = Settings(db, quiet)


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    # The thread that sketches and the one that writes hand the interpreter to each other; 5 ms is a long wait.
    sys.setswitchinterval(SWITCH_SECONDS)
    # Almost nothing that we make is a cycle: looking for cycles as often as Python does cost a link 10 % of its time.
    gc.set_threshold(100_000)
    # What a driver logs of a lost connection reaches us as an error, and is said once.
    logging.getLogger().addHandler(logging.NullHandler())
    interrupts.listen()
    app()


def _end(message: str, code: int) -> NoReturn:
    typer.echo(f"lshdb: {message}", err=True)
    raise typer.Exit(code) from None
