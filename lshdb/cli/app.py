"""The command line: global options, the verbs, and the one place where an error becomes a line and an exit status."""

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
    filter,
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
from lshdb.cli.options import Settings, unfolded
from lshdb.errors import LshdbError
from lshdb.store import interrupts

__all__ = ["app", "main"]

INTERRUPTED = 130
SWITCH_SECONDS = 0.0005
# The status that a shell reports for a program ended by SIGPIPE.
BROKEN_PIPE = 141


class Verbs(TyperGroup):
    """Turns an error of a verb into a line and an exit status; Typer explains wrong usage."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except LshdbError as error:
            _end(str(error), error.exit_code)
        except KeyboardInterrupt:
            _end("interrupted. Everything committed is kept; run the same command again to continue.", INTERRUPTED)
        except BrokenPipeError:
            # The reader has closed the pipe, as in `lshdb dupes | head`; leave nothing to flush at exit.
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
    help="Find near-duplicate documents, and keep track of them as your collection grows.",
    epilog="""[bold]Examples[/bold]\n
      lshdb ingest ./crawl            first time, and every night from cron\n
      lshdb dupes --min-sim 0.8       pairs with their exact similarity\n
      lshdb query page.html           near-duplicates of this page\n
      lshdb --db postgresql://me@host/crawl ingest ./crawl""",
)


def _paragraphs(text: str) -> str:
    """Return the text with each paragraph in one line, because Typer keeps line ends."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


VERBS = (
    init,
    ingest,
    dupes,
    clusters,
    contaminated,
    export,
    filter,
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
)
for module in VERBS:
    # A module has the name of its verb.
    name = module.__name__.rpartition(".")[2]
    verb = vars(module)[name]
    app.command(name, help=_paragraphs(verb.__doc__ or ""), epilog=module.EPILOG)(unfolded(verb))


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
            help="The index: a database URL, or a path for SQLite.",
        ),
    ] = "lshdb.db",
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The Postgres schema of the index. Default: lshdb, or ?schema= in the URL.",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only, no progress and no notes.")] = False,
    show_version: Annotated[  # noqa: ARG001
        bool,
        # Eager, so that it needs no verb.
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    context.obj = Settings(db, quiet, schema)


def main() -> None:
    """Run the command line, and end the process with its exit status."""
    # The thread that sketches and the one that writes take turns with the interpreter; by default a turn is 5 ms.
    sys.setswitchinterval(SWITCH_SECONDS)
    # We create almost no cycles, and Python's usual search for them took 10 % of the time of a link.
    gc.set_threshold(100_000)
    # A driver also logs a lost connection, but the user already gets it as an error.
    logging.getLogger().addHandler(logging.NullHandler())
    interrupts.listen()
    app()


def _end(message: str, code: int) -> NoReturn:
    typer.echo(f"lshdb: {message}", err=True)
    raise typer.Exit(code) from None
