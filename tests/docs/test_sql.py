"""The queries in docs/sql.md run on both databases, give the same rows, and give what the page shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest
from sqlalchemy import text

from lshdb import Index
from lshdb.store.store import Store
from tests.docs.pages import ROOT
from tests.store.test_views import ingest_sample

PAGE = ROOT / "docs" / "sql.md"
# A query, and its output where the page shows it.
EXAMPLE = re.compile(r"^```sql\n(.*?);\n```\n(?:\n```text\n(.*?)```)?", flags=re.MULTILINE | re.DOTALL)


def shown(url: str, statement: str) -> str:
    """Return the rows of a statement as a table of text."""
    with Store.open(url) as store, store.reading() as transaction:
        result = transaction.execute(text(statement))
        rows = [tuple(result.keys()), *(tuple(map(as_text, row)) for row in result)]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return "".join("  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip() + "\n"
                   for row in rows)  # fmt: skip


def as_text(value: object) -> str:
    """Return a value as both databases print it."""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


@pytest.mark.sqlite
@pytest.mark.postgres
def test_the_queries_of_the_page_give_the_same_rows_on_both_databases_and_those_shown(
    tmp_path: Path, new_postgres_url: Callable[[], str]
) -> None:
    urls = (str(tmp_path / "crawl.db"), new_postgres_url())
    for url in urls:
        with Index.create(url) as index:
            ingest_sample(index)
    examples = EXAMPLE.findall(PAGE.read_text())
    assert len(examples) == 11
    for statement, expected in examples:
        sqlite, postgres = (shown(url, statement) for url in urls)
        assert sqlite == postgres, statement
        assert sqlite.count("\n") > 1, statement
        assert expected in ("", sqlite), statement
