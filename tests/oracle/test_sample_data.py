"""The sample crawl matches its truth file."""

from __future__ import annotations

from benchmarks.corpora.truth import SAMPLE_DATA, read_truth, true_pairs


def test_the_truth_of_the_sample_crawl_is_what_the_oracle_computes() -> None:
    assert read_truth() == true_pairs()


def test_the_sample_crawl_holds_pages_and_nothing_else() -> None:
    suffixes = [path.suffix for path in (SAMPLE_DATA / "crawl").rglob("*") if path.is_file()]
    assert len(suffixes) == 30
    assert set(suffixes) == {".html", ".md", ".txt"}
