"""``lshdb init``."""

from __future__ import annotations

import typer

from lshdb.cli import options
from lshdb.cli.options import chosen, settings_of
from lshdb.tuning.choice import params_of

__all__ = ["register"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb init --shingle char:10 --floor 0.7\n
  lshdb init --min-sim 0.6 --recall 0.99                 bands and rows follow from these\n
  lshdb --db features.db init --shingle set --bands 500 --rows 20"""


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("init", epilog=EPILOG)(init)


def init(
    context: typer.Context,
    shingle: options.Shingle = None,
    multiset: options.Multiset = None,
    scheme: options.Scheme = None,
    promise: options.Promise = None,
    recall: options.PromisedRecall = None,
    num_perm: options.Minima = None,
    bands: options.Bands = None,
    rows: options.Rows = None,
    seed: options.Seed = None,
    floor: options.Floor = None,
    keep_text: options.KeepText = None,
    html: options.Html = None,
) -> None:
    """Make an empty index. The first [bold]ingest[/bold] does it too, with the same options."""
    from lshdb.index import Index

    given = chosen(
        shingle=shingle, multiset=multiset, scheme=scheme, bands=bands, rows=rows,
        min_sim=promise, recall=recall, num_perm=num_perm, seed=seed, floor=floor, keep_text=keep_text, html=html,
    )  # fmt: skip
    with Index.create(settings_of(context).db, params_of(given)) as index:
        params = index.params
        typer.echo(f"{index.url}: {params.shingle}, {params.scheme}, {params.bands} bands of {params.rows} rows")
        typer.echo(f"a pair at {params.min_sim} is found with probability {params.recall:.4f}")
