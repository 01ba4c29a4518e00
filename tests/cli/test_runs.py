"""The last runs, for people, scripts and Prometheus."""

from __future__ import annotations

import json
from pathlib import Path

from lshdb import Document, Index
from tests.cli.conftest import TEN, Run


def test_runs_are_listed_and_written_for_prometheus(lshdb: Run, url: str, tmp_path: Path) -> None:
    with Index.create(url) as index:
        index.add(Document("a", TEN), 'a "quoted" name')
        index.add([Document("a", TEN), Document("b", TEN)])
    assert [row[1:4] for row in lshdb(url, "runs").rows] == [
        ["add", "default", "finished"],
        ["add", 'a "quoted" name', "finished"],
    ]
    (newest,) = json.loads(lshdb(url, "runs", "--json", "--limit", 1).out)["runs"]
    assert (newest["verb"], newest["num_added"], newest["run"]) == ("add", 2, 2)
    metrics = tmp_path / "lshdb.prom"
    for _ in range(2):
        assert lshdb(url, "runs", "--prometheus", metrics).code == 0
    lines = metrics.read_text().splitlines()
    assert "lshdb_documents 3" in lines
    assert 'lshdb_last_run_finished{verb="add",collection="a \\"quoted\\" name"} 1' in lines
    assert 'lshdb_last_run_documents{verb="add",collection="default",what="added"} 2' in lines
    assert [path.name for path in tmp_path.iterdir() if "prom" in path.name] == ["lshdb.prom"]
