"""``from lshdb import ...`` has every class that a caller of `Index` needs."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Iterator

import pytest
from msgspec import Struct

import lshdb
from lshdb import Index, LshdbError, errors

OURS = "lshdb."
# `Auditing.faults` takes an open transaction.
PRIVATE = {"Transaction", "Dialect", "Expansion"}
# What a module imports only for its annotations. A class that is not public is not found here.
FOR_ANNOTATIONS = {name: getattr(lshdb, name) for name in lshdb.__all__} | {"Iterator": Iterator}


def classes_in(annotation: object) -> Iterator[type]:
    """Return the classes of lshdb in an annotation, at any depth."""
    for part in typing.get_args(annotation):
        yield from classes_in(part)
    if inspect.isclass(annotation) and annotation.__module__.startswith(OURS):
        yield annotation


def annotations_of(kind: type) -> Iterator[object]:
    """Return the annotations of the public methods, properties and fields of a class."""
    if dataclasses.is_dataclass(kind) or issubclass(kind, Struct):
        yield from typing.get_type_hints(kind).values()
    for name, member in inspect.getmembers_static(kind):
        if isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        if isinstance(member, property):
            member = member.fget
        if inspect.isfunction(member) and (not name.startswith("_") or name in {"__iter__", "__enter__"}):
            yield from typing.get_type_hints(member, localns=FOR_ANNOTATIONS).values()


def reachable(start: type) -> set[type]:
    """Return the classes of lshdb that users of a class need."""
    met, waiting = set[type](), [start]
    while waiting:
        one = waiting.pop()
        if one not in met:
            met.add(one)
            waiting += [found for annotation in annotations_of(one) for found in classes_in(annotation)]
    return met


def test_every_class_that_a_user_of_an_index_meets_is_public() -> None:
    met = {kind.__name__ for kind in reachable(Index)}
    assert met >= {"Scope", "Explanation", "Rejection", "Measurement", "Thoroughness", "CopiedTable", "Hunk"}
    assert met - set(lshdb.__all__) == PRIVATE


def test_no_public_class_is_one_of_the_store() -> None:
    public = [getattr(lshdb, name) for name in lshdb.__all__ if name != "__version__"]
    assert [kind for kind in public if kind.__module__.startswith("lshdb.store")] == []


def test_every_error_is_public() -> None:
    assert set(errors.__all__) <= set(lshdb.__all__)
    assert issubclass(lshdb.BelowFloor, LshdbError)


def test_every_name_of_the_package_is_there() -> None:
    assert sorted(lshdb.__all__) == sorted([*lshdb._HOMES, *errors.__all__, "__version__"])
    for name in lshdb.__all__:
        assert getattr(lshdb, name).__name__ == name if name != "__version__" else lshdb.__version__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lshdb.nothing  # type: ignore[attr-defined]
