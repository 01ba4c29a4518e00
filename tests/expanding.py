"""Indexes with another cap, so that a few documents fill an oversized bucket."""

from __future__ import annotations

from typing import Any

from lshdb import Index
from lshdb.model.expansion import Expansion
from lshdb.store.store import Store

__all__ = ["index_with"]


def index_with(expansion: Expansion, url: str, **chosen: Any) -> Index:
    """Open the index at `url`, made with the chosen parameters if there is none."""
    Index.ensure(url, chosen).close()
    store = Store.open(url)
    store.expansion = expansion
    return Index(store)
