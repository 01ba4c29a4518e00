"""Readers from other distributions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lshdb import Index
from lshdb.errors import SourceError
from lshdb.model.values import Document
from lshdb.readers import ReadOptions, readers, registry
from tests.readers.reading_files import read, texts

READER = """
from lshdb import Document

class Shouting:
    name = {name!r}
    suffixes = (".shout", ".txt")
    textual = True
    holds_records = False

    def recognises(self, head):
        return head.startswith(b"SHOUT")

    def read(self, source, stream, options):
        yield Document("a", stream.read().decode().upper(), source=source.uri)

class Silent:
    pass
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    def installed(target: str, name: str = "shout") -> None:
        site = tmp_path / "site"
        metadata = site / "lshdb_shout-1.2.dist-info"
        metadata.mkdir(parents=True)
        (site / "lshdb_shout.py").write_text(READER.format(name=name))
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: lshdb-shout\nVersion: 1.2\n")
        (metadata / "entry_points.txt").write_text(f"[lshdb.readers]\nshout = {target}\n")
        monkeypatch.syspath_prepend(site)

    def forget() -> None:
        readers.cache_clear()
        registry._readers_by_suffix.cache_clear()
        sys.modules.pop("lshdb_shout", None)

    forget()
    yield installed
    forget()


def test_a_reader_serves_its_ending_its_content_and_its_name(tmp_path: Path, install: Install) -> None:
    install("lshdb_shout:Shouting")
    for name in ("a.shout", "a.shout.gz", "README"):
        (tmp_path / name).write_text("SHOUT: word")
        assert texts(tmp_path / name) == ["SHOUT: WORD"]
    (tmp_path / "a.html").write_text("word")
    assert texts(tmp_path / "a.html", ReadOptions(input_format="shout")) == ["WORD"]


def test_it_does_not_take_an_ending_of_ours(tmp_path: Path, install: Install) -> None:
    install("lshdb_shout:Shouting")
    (tmp_path / "a.txt").write_text("SHOUT: word")
    [item] = read(tmp_path / "a.txt")
    assert isinstance(item, Document)
    assert item.text == "SHOUT: word"


def test_a_file_that_is_one_document_is_no_file_of_sets(tmp_path: Path, install: Install) -> None:
    install("lshdb_shout:Shouting")
    (tmp_path / "a.shout").write_text("SHOUT: word")
    assert not any(isinstance(item, Document) for item in read(tmp_path / "a.shout", ReadOptions(kind="set")))


@pytest.mark.sqlite
def test_a_file_that_is_one_document_is_one_rejection_among_many(tmp_path: Path, install: Install) -> None:
    install("lshdb_shout:Shouting")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "good.shout").write_text("SHOUT: word")
    (folder / "bad.shout").write_bytes(b"\xff")
    with Index.create(str(tmp_path / "index.db")) as index:
        report = index.ingest(folder)
    assert (report.counts.num_added, report.counts.num_rejected) == (1, 1)
    assert report.rejected_sources == ()


@pytest.mark.parametrize(
    ("target", "name", "reason"),
    [
        ("lshdb_shout:Missing", "shout", "AttributeError: module 'lshdb_shout' has no attribute 'Missing'"),
        ("nowhere:Shouting", "shout", "ModuleNotFoundError: No module named 'nowhere'"),
        ("lshdb_shout:Silent", "shout", "it has no name, suffixes, textual, holds_records, recognises, read"),
        ("lshdb_shout:Shouting", "html", "there is a reader 'html' already"),
    ],
)
def test_a_broken_one_is_one_error_that_names_its_distribution(
    tmp_path: Path, install: Install, target: str, name: str, reason: str
) -> None:
    install(target, name)
    (tmp_path / "README").write_text("word")
    with pytest.raises(SourceError) as caught:
        read(tmp_path / "README")
    assert str(caught.value) == (
        f"the reader 'shout' ({target}) of lshdb-shout 1.2 does not load: {reason}. "
        "Upgrade that distribution or uninstall it."
    )


def test_nothing_is_loaded_before_a_file_is_to_be_read() -> None:
    program = "import sys, lshdb.readers; print('pyarrow' in sys.modules, lshdb.readers.readers.cache_info().currsize)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert answer.stdout == "False 0\n"
