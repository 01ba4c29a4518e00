"""The links in the README and in docs/, and what the pages list."""

from __future__ import annotations

import re

from tests.docs.pages import PAGES, ROOT


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_exit_code_of_the_usage_page_belongs_to_an_error_and_every_error_has_a_row() -> None:
    from lshdb import errors

    page = (ROOT / "docs" / "usage.md").read_text()
    codes: set[int] = set()
    for row in re.findall(r"^\| ([\d, to]+) \|", page, flags=re.MULTILINE):
        for part in row.split(","):
            first, _, last = part.partition(" to ")
            codes |= set(range(int(first), int(last or first) + 1))
    general = {errors.LshdbError, errors.StoreError, errors.SourceError, errors.OutputError}
    raised = {kind.exit_code for name in errors.__all__ if (kind := getattr(errors, name)) not in general}
    assert codes - {0, 1, 130, 143} == raised
