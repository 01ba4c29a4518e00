"""``lshdb spark``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lshdb.cli.options import Exclude, Include, Making, Reading, settings_of
from lshdb.errors import UsageError

__all__ = ["EPILOG", "spark"]

EPILOG = """[bold]Examples[/bold]\n
  lshdb spark --work /nfs/work /nfs/crawl  # on this machine, with all cores\n
  lshdb spark --work /nfs/work --master spark://head:7077 /nfs/crawl\n
  lshdb spark --work /nfs/night --against /nfs/work /nfs/new"""


def spark(
    context: typer.Context,
    reading: Reading,
    making: Making,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders that every machine sees.")],
    work: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the result, which every machine sees.", show_default=False)
    ],
    master: Annotated[
        str, typer.Option(metavar="URL", help="The cluster: local[N], spark://HOST:PORT, yarn or k8s://URL.")
    ] = "local[*]",
    conf: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Setting of Spark, such as spark.executor.memory=8g.")
    ] = None,
    until: Annotated[
        Literal["sketches", "pairs", "clusters"], typer.Option(help="Stop after this stage.")
    ] = "clusters",
    against: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="An earlier work folder, whose documents are not read again."),
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
) -> None:
    """Sketch and link on Apache Spark, for a crawl larger than one machine.

    The result is what [bold]ingest[/bold] computes, as Parquet files. [bold]load[/bold] puts it into an index. If it is
    killed, run the same command again to continue. Below some 100 million documents, ingest is faster.
    """
    try:
        from lshdb.spark.engine import session
        from lshdb.spark.run import failures_named, run
    except ImportError:
        raise UsageError(reason="lshdb spark needs pyspark: pip install 'lshdb[spark]'") from None
    from lshdb.stages.work import params_and_options, work_folder

    settings = dict(one.partition("=")[::2] for one in conf or [])
    if "" in settings or "" in settings.values():
        raise UsageError(reason="--conf takes a name and a value, such as spark.executor.memory=8g")
    params, options = params_and_options(making.chosen(), reading.options(), against)
    folder = work_folder(work, paths, params, options, include=include or (), exclude=exclude or (), against=against)
    quiet = settings_of(context).quiet
    with failures_named(), session(master, settings) as engine:
        run(engine, folder, until, began=lambda stage: None if quiet else typer.echo(f"stage {stage}", err=True))
    if not quiet:
        counts = ", ".join(f"{number:,} {stage}" for stage, number in folder.manifest.counts.items())
        typer.echo(f"{folder.path}: {counts}")
