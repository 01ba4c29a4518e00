"""``lshdb init``."""

from __future__ import annotations

from secrets import randbits
from typing import Annotated

import typer

from lshdb.cli.options import MAKING, Making, settings_of
from lshdb.errors import InvalidParams

__all__ = ["EPILOG", "init"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb init --shingle char:10 --floor 0.7\n
  lshdb init --secret-seed                # for documents by strangers\n
  lshdb init --min-sim 0.6 --recall 0.99  # bands and rows follow from these\n
  lshdb --db features.db init --shingle set --bands 500 --rows 20"""


def init(
    context: typer.Context,
    making: Making,
    secret_seed: Annotated[
        bool,
        typer.Option(
            "--secret-seed",
            help="Draw the seed at random, so that nobody can write documents that collide.",
            rich_help_panel=MAKING,
        ),
    ] = False,
) -> None:
    """Create an empty index.

    The first [bold]ingest[/bold] also creates one, with the same options.
    """
    from lshdb.index import Index

    chosen = making.chosen()
    if secret_seed:
        if "seed" in chosen:
            raise InvalidParams(name="seed", value=chosen["seed"], reason="--secret-seed draws it")
        chosen["seed"] = randbits(63)
    with Index.create(settings_of(context).db, chosen) as index:
        params = index.params
        typer.echo(f"{index.url}: {params.shingle}, {params.scheme}, {params.bands} bands of {params.rows} rows")
        typer.echo(f"a pair at {params.min_sim} is found with probability {params.recall:.4f}")
