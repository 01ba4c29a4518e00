"""The API reference is that of the program, and every page is in the site."""

from __future__ import annotations

import re

from scripts import make_api
from tests.docs.pages import PAGES, ROOT


def test_the_api_reference_is_current() -> None:
    assert make_api.PAGE.read_text() == make_api.page(), "run: python scripts/make_api.py"


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r"^ +- (?:lshdb: )?(\w+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE)
    assert sorted(listed) == sorted(page.name if page.name != "README.md" else "index.md" for page in PAGES)


def test_no_page_names_a_package_index_or_installs_lshdb_from_one() -> None:
    for page in PAGES:
        assert not re.search(r"pip install [\"']?lshdb|pypi", page.read_text()), page.name
