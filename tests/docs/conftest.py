"""Fixtures: a shell that knows ``lshdb``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.docs.shell import Shell, started


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell whose ``lshdb`` starts quickly."""
    with started(tmp_path_factory.mktemp("bin")) as found:
        yield found
