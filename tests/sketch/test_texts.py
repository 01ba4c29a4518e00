"""The stored form of texts."""

from __future__ import annotations

import multiprocessing
from functools import partial
from multiprocessing.connection import Connection

from lshdb.sketch.texts import beside, pack, unpack


def packed_in_a_child(connection: Connection) -> None:
    connection.send(beside(partial(pack, b"after")).result(timeout=10))


def test_a_process_that_was_forked_after_a_text_was_packed_packs_too() -> None:
    assert unpack(beside(partial(pack, b"before")).result()) == "before"
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=packed_in_a_child, args=[theirs])
    child.start()
    child.join(20)
    child.kill()
    assert ours.poll()
    assert unpack(ours.recv()) == "after"
