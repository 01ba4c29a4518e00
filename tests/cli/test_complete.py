"""``lshdb dupes --complete`` and ``lshdb query`` on an index with oversized buckets."""

from __future__ import annotations

from itertools import combinations

import pytest

from lshdb import Document
from lshdb.model.expansion import Expansion
from tests.cli.conftest import Run
from tests.expanding import index_with

PAGES = [f"page{number}" for number in range(8)]
TEMPLATE = " ".join(f"word{number}" for number in range(40))
NOTE = "note  comparing up to 28 pairs of 8 texts in oversized buckets\n"


@pytest.fixture
def site(url: str) -> str:
    """An index of eight pages of one template, of whose pairs linking computed only some."""
    with index_with(Expansion(cap=3, hubs=1), url) as index:
        index.add(Document(page, f"{TEMPLATE} {page}") for page in PAGES)
    return url


def test_dupes_lists_the_pairs_that_oversized_buckets_left_out_if_asked(lshdb: Run, site: str) -> None:
    stored = lshdb(site, "dupes")
    assert 0 < len(stored.rows) < 28
    assert stored.err == ""
    complete = lshdb(site, "dupes", "--complete")
    assert complete.err == NOTE
    assert complete.rows[: len(stored.rows)] == stored.rows
    assert sorted(tuple(row[:2]) for row in complete.rows) == list(combinations(PAGES, 2))
    # Nothing was stored.
    assert lshdb(site, "dupes").rows == stored.rows


def test_a_complete_list_has_an_order_and_a_limit_like_any_other(lshdb: Run, site: str) -> None:
    by_id = lshdb(site, "dupes", "--complete", "--sort", "id").rows
    assert [tuple(row[:2]) for row in by_id] == list(combinations(PAGES, 2))
    assert lshdb(site, "dupes", "--complete", "--sort", "id", "--limit", "5").rows == by_id[:5]


def test_without_oversized_buckets_a_list_is_complete_and_nothing_is_said(lshdb: Run, url: str) -> None:
    with index_with(Expansion(cap=100, hubs=1), url) as index:
        index.add(Document(page, f"{TEMPLATE} {page}") for page in PAGES)
    ended = lshdb(url, "dupes", "--complete")
    assert (len(ended.rows), ended.err) == (28, "")


def test_query_by_id_lists_every_page_of_the_template(lshdb: Run, site: str) -> None:
    assert sorted(row[0] for row in lshdb(site, "query", "--id", "page5").rows) == [
        page for page in PAGES if page != "page5"
    ]
