"""Texts held in a temporary file."""

from __future__ import annotations

import numpy as np

from lshdb.linking.spool import Spool


def test_a_spool_gives_the_texts_asked_for_by_ascending_key() -> None:
    spool = Spool([(7, b"seven"), (2, b""), (2**40, b"many" * 10_000), (3, b"three")])
    assert list(spool.texts(np.array([2, 3, 5, 2**40]))) == [(2, b""), (3, b"three"), (2**40, b"many" * 10_000)]
    assert list(spool.texts(np.array([7]))) == [(7, b"seven")]


def test_of_two_texts_of_one_content_a_spool_keeps_the_first() -> None:
    assert list(Spool([(2, b"one"), (2, b"two")]).texts(np.array([2]))) == [(2, b"one")]


def test_an_empty_spool_has_no_text() -> None:
    assert list(Spool([]).texts(np.array([1, 2]))) == []
