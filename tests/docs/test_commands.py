"""What the pages show but the tests cannot run, such as calls in services and containers, is at least understood."""

from __future__ import annotations

import re
import shlex
import sys
from configparser import ConfigParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
import yaml

from lshdb.cli.app import app
from tests.docs.pages import PAGES, ROOT, Block, blocks

# Pages of measurements, whose commands need large data.
EXEMPT = ("benchmarks.md", "measurements.md")

# A call of lshdb: up to a pipe, a comment, or the end of the line or string.
CALL = re.compile(r'(?:^|[ /])lshdb ((?:(?!\\n| [|&>#] | #|"|\|\|).)*)')


def files(page: str) -> dict[str, Block]:
    """Return the blocks of a page that have a title."""
    return {block.title: block for block in blocks(ROOT / "docs" / page) if block.title is not None}


def shown_calls(page: Path) -> list[str]:
    """Return the calls of lshdb in indented blocks, crontabs and units."""
    unfenced = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (.*)$", unfenced, flags=re.MULTILINE)
    titled = [line for block in blocks(page) if block.language in ("ini", "text") for line in block.text.splitlines()]
    lines = [line for line in [*indented, *titled] if not line.startswith(("-", "pip", "#"))]
    return [match[1] for line in lines for match in CALL.finditer(line) if not match[1].startswith(("VERB", "{"))]


def understood(call: str) -> None:
    """Parse a call as the command line does. Raises: click.UsageError."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("lshdb", shlex.split(call))
    name, verb, rest = group.resolve_command(context, [*context._protected_args, *context.args])
    verb.make_context(name, rest, parent=context)


CALLS = [(page.name, call) for page in PAGES if page.name not in EXEMPT for call in shown_calls(page)]


@pytest.mark.parametrize(("page", "call"), CALLS)
def test_a_call_that_is_only_shown_is_understood(page: str, call: str) -> None:
    assert page
    understood(call)


def test_there_are_calls_to_understand_and_a_wrong_one_is_not() -> None:
    assert len(CALLS) > 10
    with pytest.raises(Exception, match="No such option"):
        understood("ingest --prun crawl")


def test_the_compose_file_declares_what_it_uses() -> None:
    shown = files("recipes.md")
    compose = yaml.safe_load(shown["compose.yaml"].text)
    database, job = compose["services"]["db"], compose["services"]["lshdb"]
    assert set(database["secrets"]) | {secret["source"] for secret in job["secrets"]} == set(compose["secrets"])
    assert database["volumes"][0].split(":")[0] in compose["volumes"]
    assert set(job["depends_on"]) <= set(compose["services"])
    environment = database["environment"]
    place = f"postgresql://{environment['POSTGRES_USER']}@db/{environment['POSTGRES_DB']}"
    assert job["environment"]["LSHDB_URL"] == place
    words = [line.split()[0] for line in shown["Dockerfile"].text.splitlines()]
    assert words == ["FROM", "COPY", "RUN", "USER", "ENTRYPOINT"]


def test_the_units_of_systemd_have_a_service_and_a_timer_of_one_name() -> None:
    units = {Path(name).name: block.text for name, block in files("cron.md").items()}
    assert set(units) == {"lshdb.service", "lshdb.timer"}
    parsed = {}
    for name, text in units.items():
        parsed[name] = ConfigParser(interpolation=None, strict=False)
        parsed[name].read_string(text)
    assert parsed["lshdb.service"]["Service"]["ExecStart"].startswith("/usr/local/bin/lshdb ")
    assert parsed["lshdb.timer"]["Timer"]["OnCalendar"]


def test_the_commands_of_the_airflow_tasks_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    class Anything:
        """Stands for a DAG and for an operator."""

        def __init__(self, *_: object, bash_command: str = "", **__: object) -> None:
            found.append(bash_command)

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

        def __rshift__(self, _: object) -> None: ...

    for name in ("airflow", "airflow.sdk", "airflow.providers.standard.operators.bash"):
        module: Any = ModuleType(name)
        module.DAG = module.BashOperator = Anything
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile(files("recipes.md")["crawl_dag.py"].text, "crawl_dag.py", "exec"), {})
    commands = [command.partition("/bin/lshdb ")[2] for command in found if command]
    assert len(commands) == 2
    for command in commands:
        understood(command)
