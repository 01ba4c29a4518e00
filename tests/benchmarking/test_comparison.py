"""Peers are run, measured and compared with the oracle. Failures are recorded."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from benchmarks.corpora.synthetic import texts
from benchmarks.page.records import PeerRecord, read, write
from benchmarks.peers.comparison import (
    ENTRIES,
    PEERS,
    Corpus,
    Entry,
    call_of,
    corpus_of,
    in_the_middle,
    measure,
    measure_all,
)
from benchmarks.peers.shingles import hashes, strings, tokens
from benchmarks.runs import additions
from benchmarks.runs.ingest import StepError
from benchmarks.runs.processes import watch

TIMEOUT = 60.0


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 texts, some of them near-duplicates."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    records = ({"id": f"d{number}", "text": text} for number, text in enumerate(texts(200)))
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return path


@pytest.fixture(scope="module")
def corpus(file: Path) -> Corpus:
    return corpus_of(file, None, PEERS.min_sim, file.parent)


@pytest.mark.parametrize("entry", [Entry("lshdb", "lshdb", survives=True), Entry("NumPy", "bare_numpy")])
def test_a_peer_finds_the_pairs_of_the_oracle(entry: Entry, corpus: Corpus, tmp_path: Path) -> None:
    record = measure(corpus, entry, PEERS, None, "command", TIMEOUT)
    assert record.failure == ""
    assert record.num_true > 0
    assert record.found is not None
    assert record.found.recall == 1.0
    assert record.cpu_seconds > 0 < record.peak_bytes
    assert (record.disk_bytes > 0) == entry.survives
    write(tmp_path, record)
    assert read(tmp_path, PeerRecord) == [record]


def test_a_peer_that_is_not_installed_is_recorded_as_such(corpus: Corpus) -> None:
    record = measure(corpus, Entry("none", "lshdb", "no_such_module"), PEERS, None, "", TIMEOUT)
    assert (record.failure, record.found) == ("not installed", None)


def test_a_peer_that_fails_is_recorded_with_what_it_said(corpus: Corpus) -> None:
    record = measure(corpus, Entry("none", "no_such_adapter"), PEERS, None, "", TIMEOUT)
    assert "exit code 1" in record.failure
    assert "No module named benchmarks.peers.no_such_adapter" in record.failure


def test_rounds_are_runs_in_turn_and_the_record_is_that_of_the_median_time(corpus: Corpus, tmp_path: Path) -> None:
    entries = [Entry("fast", "bare_numpy"), Entry("none", "lshdb", "no_such_module")]
    runs = list(measure_all(corpus, entries, PEERS, tmp_path, "", TIMEOUT, rounds=3))
    # What fails once is not tried again.
    assert [run.peer for run in runs] == ["fast", "none", "fast", "fast"]
    seconds = sorted(run.seconds for run in runs if run.found)
    written = {record.peer: record for record in read(tmp_path, PeerRecord)}
    assert (written["fast"].seconds, written["fast"].num_runs) == (seconds[1], 3)
    assert (written["none"].failure, written["none"].num_runs) == ("not installed", 1)


def test_a_peer_that_fails_in_a_later_round_has_failed(corpus: Corpus) -> None:
    done = measure(corpus, Entry("peer", "bare_numpy"), PEERS, None, "", TIMEOUT)
    failed = measure(corpus, Entry("peer", "bare_numpy", "no_such_module"), PEERS, None, "", TIMEOUT)
    assert in_the_middle([done, failed]) == replace(failed, num_runs=2)


def test_a_command_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(StepError, match=r"no result after 0\.1 s"):
        watch(["sleep", "60"], timeout=0.1)


def test_equal_shingles_have_equal_hashes_and_a_short_text_is_one_shingle() -> None:
    first, second = hashes("One, two three. FOUR five six"), hashes("zero one two three four five")
    assert len(first) == len(second) == 2
    assert first[0] == second[1]
    assert len(hashes("one two")) == len(hashes("one two three four five")) == 1
    assert len(hashes(" .,- ")) == 0
    assert [len(token) for token in tokens("one two three four five six")] == [8, 8]


def test_the_documented_way_has_a_string_for_each_hash() -> None:
    text = "One, two three. FOUR five six"
    assert strings(text) == [b"one two three four five", b"two three four five six"]
    assert (strings("one two"), strings(" .,- ")) == ([b"one two"], [])
    assert len(strings(text)) == len(hashes(text))


def test_a_documented_entry_passes_its_flag_and_says_so_in_its_name() -> None:
    for entry in ENTRIES:
        call = call_of(Path("file"), entry, PEERS, Path("room"), "")
        assert ("--documented" in call) == entry.documented == entry.name.endswith(", as documented")


def test_an_index_in_two_parts_holds_what_one_made_at_once_holds(file: Path, tmp_path: Path) -> None:
    record = additions.measure(file, str(tmp_path / "parts.db"), str(tmp_path / "once.db"), "corpus", "command")
    assert (record.documents, record.added, record.same_pairs) == (200, 2, True)
