"""``lshdb serve``."""

from __future__ import annotations

import os
from typing import Annotated, Final

import typer

from lshdb.cli.options import require_installed, settings_of, size

__all__ = ["EPILOG", "serve"]

NEEDED: Final = ("fastapi", "uvicorn", "httptools", "jinja2")

EPILOG = """[bold]Examples[/bold]\n
  lshdb serve\n
  lshdb --db postgresql://me@host/crawl serve --writable --port 9000\n
  LSHDB_TOKEN=$(cat secret) lshdb serve --host 0.0.0.0\n
  curl -s localhost:8080/v1/query --json '{"text": "a text"}'"""


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 8080,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let clients add and remove documents, and decide.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Processes that answer.")] = 1,
    max_body: Annotated[str, typer.Option(metavar="SIZE", help="Largest request, such as 16MB.")] = "16MB",
    timeout: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How long an answer may take.")] = 30.0,
) -> None:
    """Serve the index over HTTP, with pages for people and a REST interface for programs.

    Only this machine can reach the service, unless --host says otherwise. Then LSHDB_TOKEN must hold a secret, which
    programs send as Authorization: Bearer, and browsers as a password.

    On Ctrl-C or SIGTERM, the service finishes the running requests and exits.
    """
    require_installed("serve", NEEDED, "web")
    from lshdb.web.options import TOKEN_VARIABLE, Limits, ServeOptions
    from lshdb.web.service import serve

    limits = Limits(body=size("--max-body", max_body), seconds=timeout)
    options = ServeOptions(host, port, writable, os.environ.get(TOKEN_VARIABLE) or None, workers, limits)
    serve(settings_of(context).db, options, lambda line: typer.echo(line, err=True))
