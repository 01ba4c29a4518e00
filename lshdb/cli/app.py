"""The command line: global options, the verbs, and the one place where an error becomes a line and an exit code."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import click
import typer

from lshdb.cli import dupes, ingest, init, link, query, remove, stats, upgrade, verify
from lshdb.cli.options import Settings
from lshdb.errors import LshdbError

__all__ = ["app", "main"]

INTERRUPTED = 130
# What a shell reports for a program that SIGPIPE ended.
BROKEN_PIPE = 141

app = typer.Typer(
    name="lshdb",
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
for module in (init, ingest, dupes, query, verify, stats, link, remove, upgrade):
    module.register(app)


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
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    if show_version:
        typer.echo(f"lshdb {version('lshdb')}")
        raise typer.Exit
    context.obj = Settings(db, quiet)


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except LshdbError as error:
        code = _complain(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = _complain("interrupted. What was committed is kept; run the same command again to go on.", INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone, as in `lshdb dupes | head`; nothing is left to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN_PIPE
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str, code: int) -> int:
    typer.echo(f"lshdb: {message}", err=True)
    return code
