"""The text of pages that were made to keep the parser busy, and of those that only look like it."""

from __future__ import annotations

import os
import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

import pytest

from lshdb.readers import Rejection
from lshdb.readers.base import Unfit
from lshdb.readers.extraction import Extractor, page_text, processor_seconds
from tests.readers.reading_files import read

# The parser's time grows with the square of the size of these. Each is between 100 kB and 1 MB.
QUADRATIC = {
    "annotations outside ruby": "<rt>" * 60_000,
    "bases outside ruby": "<rb>" * 60_000,
    "nested groups of options": "<select><optgroup>" * 50_000,
    "nested lists": "<ul>" * 60_000,
    "nested blocks": "<div>" * 60_000 + "word",
    "blocks that close in comments only": "<div><!--</div>-->" * 40_000,
    "blocks that close in titles only": "<div><title></div></title>" * 40_000,
    "attributes": "<p " + " ".join(f"a{i}" for i in range(60_000)) + ">word",
    "attributes with quotes": "<p " + " ".join(f"a{i}='>'" for i in range(60_000)) + ">word",
    "a list of options": "<select>" + "<option>" * 60_000,
    "a body that opens again and again": "".join(f"<body a{i}=1>" for i in range(40_000)),
}

HARMLESS = {
    "paragraphs that never close": "<p>word " * 60_000,
    "cells that never close": "<table>" + "<tr><td>word" * 40_000,
    "emphasis in every paragraph": "<p>a <b>word</b> in <i>other</i> <a href=x>words</a></p>" * 10_000,
    "one long attribute": "<p data-words='" + "word > " * 50_000 + "'>word</p>",
    "signs that are not tags": "<pre>" + "a < b and word " * 50_000 + "</pre>",
    "NUL characters": "<p>word\0two" * 10_000,
    "only angle brackets": "word" + "<" * 1_000_000,
    "comments that never close": "word" + "<!--" * 250_000,
    "quotes that never close": "word" + "<p a='" * 200_000,
}


def seconds_of(page: str) -> float:
    """Return the processor time of a process that extracts the text of one page, or is killed."""
    before, extractor = _children_seconds(), Extractor()
    try:
        extractor.extract(page, "main")
    except Unfit:
        pass
    finally:
        extractor.close()
    return _children_seconds() - before


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.slow
@pytest.mark.parametrize("page", QUADRATIC.values(), ids=QUADRATIC.keys())
def test_a_page_costs_no_more_than_the_limit_for_its_size(page: str) -> None:
    # 0.5 s for the start of the process, which imports the parser.
    assert seconds_of(page) < processor_seconds(page) + 0.5


@pytest.mark.parametrize("page", HARMLESS.values(), ids=HARMLESS.keys())
def test_an_ordinary_page_keeps_its_text(page: str) -> None:
    assert "word" in page_text(page, "all")


@pytest.mark.slow
def test_a_page_that_takes_too_long_is_rejected_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<rt>" * 60_000)
    reason = "takes too long to parse: more than 0.7 s of processor time"
    assert read(path) == [Rejection(path.as_uri(), "", reason)]


@pytest.mark.slow
def test_a_page_that_takes_too_much_memory_is_rejected() -> None:
    page = "<p>" + "".join(f"<b a{i}>" for i in range(500)) + "<p>word" * 100_000
    with pytest.raises(Unfit, match=r"^(the parser failed|crashes the parser|takes too long to parse): "):
        page_text(page, "main")


@pytest.mark.parametrize("page", ["<rt>" * 1_000, "<p>" + "<b a=1>" * 250 + "<p>" * 700, "<ul>" * 1_000])
def test_a_page_small_enough_for_this_process_is_cheap(page: str) -> None:
    assert len(page) <= 4_000
    assert seconds_of(page) < processor_seconds(page) + 0.5


@pytest.mark.slow
def test_pages_after_a_rejected_one_have_their_own_text() -> None:
    extractor = Extractor()
    with pytest.raises(Unfit):
        extractor.extract("<rt>" * 60_000, "main")
    assert extractor.extract("<p>first", "all") == "first"
    assert extractor.extract("<p>second", "all") == "second"
    extractor.close()


def test_pages_after_an_interrupted_one_have_their_own_text() -> None:
    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    extractor = Extractor()
    assert extractor.extract("<p>first", "all") == "first"
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            extractor.extract("<div>" * 400_000, "main")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert extractor.extract("<p>second", "all") == "second"
    extractor.close()


def test_threads_get_the_text_of_their_own_page() -> None:
    texts = [f"{number} " + "word " * 1_000 for number in range(40)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda text: page_text(f"<p>{text}", "all"), texts)) == [t.strip() for t in texts]


def test_a_forked_process_extracts_on_its_own() -> None:
    page = "<p>" + "word " * 1_000
    text = page_text(page, "all")
    if (child := os.fork()) == 0:
        os._exit(0 if page_text(page, "all") == text else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert page_text(page, "all") == text


def test_a_panic_of_the_parser_costs_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """As compiled Rust raises it."""

    def panic(*_arguments: object, **_options: object) -> str:
        raise PanicException("index out of bounds")

    monkeypatch.setattr("lshdb.readers.extractor.extract_plain_text", panic)
    path = tmp_path / "a.html"
    path.write_text("<p>word")
    assert read(path) == [Rejection(path.as_uri(), "", "the parser failed: index out of bounds")]
