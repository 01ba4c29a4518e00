"""Corpora larger than their source."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from benchmarks.corpora import histories, repeated

TEXTS = [
    "one two three four five six seven eight nine ten " * 20,
    "alpha beta gamma delta epsilon zeta eta theta " * 20,
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.jsonl"
    path.write_bytes(
        b"".join(msgspec.json.encode({"id": f"d{row}", "text": text}) + b"\n" for row, text in enumerate(TEXTS))
    )
    return path


def test_the_first_round_is_the_file_and_the_later_ones_are_edited(source: Path) -> None:
    records = list(islice(repeated.documents(source), 5))
    assert [record.id for record in records] == ["d0", "d1", "d0#2", "d1#2", "d0#3"]
    assert [record.text for record in records[:2]] == TEXTS
    assert len({record.text for record in records}) == 5
    words = TEXTS[0].split(" ")
    swapped = sum(one != other for one, other in zip(words, records[2].text.split(" "), strict=True))
    assert 0 < swapped < 0.2 * len(words)


def test_the_same_seed_gives_the_same_documents(source: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        repeated.write_jsonl(source, tmp_path / name, 7)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert (tmp_path / "one").read_bytes().count(b"\n") == 7


def test_longer_texts_are_left_out_of_every_round(source: Path) -> None:
    longest = len(TEXTS[0]) if len(TEXTS[0]) < len(TEXTS[1]) else len(TEXTS[1])
    kept = "d0" if len(TEXTS[0]) == longest else "d1"
    records = list(islice(repeated.documents(source, max_bytes=longest), 3))
    assert [record.id for record in records] == [kept, f"{kept}#2", f"{kept}#3"]


def test_each_version_of_each_text_file_of_a_repository_is_written_once(tmp_path: Path) -> None:
    repository = tmp_path / "site"

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
        subprocess.run(("git", "-C", str(repository), *who, *arguments), check=True, capture_output=True)

    repository.mkdir()
    git("init")
    for page in (b"first", b"second", b"first", b"too long for it", b"\xff", b"\0"):
        (repository / "page.md").write_bytes(page)
        (repository / "copy.md").write_bytes(page)
        git("add", ".")
        git("commit", "--message", "change", "--allow-empty")
    found = list(histories.versions(repository, max_bytes=10))
    assert sorted(text for _, text in found) == ["first", "second"]
    assert {name.partition("@")[0] for name, _ in found} <= {"page.md", "copy.md"}
