"""Charts of the overview, as coordinates of an SVG of 440 by 190. The page draws them without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from lshdb.model.params import Params
from lshdb.model.reports import Measurement, Point

__all__ = ["Bar", "Curve", "Tick", "bars", "curve", "drawn", "ticks"]

WIDTH: Final = 440.0
# The axis, and the height above it.
BASE: Final = 165.0
HEIGHT: Final = 155.0
STEPS: Final = 110


class Bar(Struct, frozen=True):
    """One bar of a histogram."""

    x: float
    y: float
    width: float
    height: float
    title: str


class Tick(Struct, frozen=True):
    """A label of the axis."""

    x: float
    text: str
    anchor: str


class Curve(Struct, frozen=True):
    """The S-curve. Args: mark: where the promised similarity is. points: the measured recall."""

    path: str
    mark: float
    points: tuple[tuple[float, float], ...]


def drawn(params: Params, recall: Measurement | None, numbers: Sequence[int]) -> dict[str, Any]:
    """Return what the template ``charts.html`` shows. Args: numbers: of pairs, by similarity."""
    return {
        "params": params,
        "recall": recall,
        "num_pairs": sum(numbers),
        "bars": bars(numbers, params.floor),
        "ticks": ticks(params.floor),
        "highest": max(numbers),
        "curve": curve(params, recall.points if recall else ()),
    }


def bars(numbers: Sequence[int], floor: float) -> list[Bar]:
    """Return the bars of pairs by similarity, on a logarithmic scale. Returns: none if there are no pairs."""
    highest = math.log1p(max(numbers, default=0))
    if not highest:
        return []
    width, step = WIDTH / len(numbers), (1 - floor) / len(numbers)
    return [
        Bar(
            x=round(place * width, 1),
            y=round(BASE - HEIGHT * math.log1p(number) / highest, 1),
            width=round(width - 2, 1),
            height=round(HEIGHT * math.log1p(number) / highest, 1),
            title=f"{floor + place * step:.2f} to {floor + (place + 1) * step:.2f}: {number:,}",
        )
        for place, number in enumerate(numbers)
    ]


def ticks(floor: float) -> list[Tick]:
    """Return the ends and the middle of the axis of similarities."""
    middle = (1 + floor) / 2
    return [
        Tick(0.0, f"{floor:g}", "start"),
        Tick(WIDTH / 2, f"{middle:.3g}", "middle"),
        Tick(WIDTH, "1", "end"),
    ]


def curve(params: Params, measured: Sequence[Point]) -> Curve:
    """Return the probability that a pair is found, by its similarity."""
    steps = [step / STEPS for step in range(STEPS + 1)]
    places = [_place(similarity, params.banding.candidate_probability(similarity)) for similarity in steps]
    path = "M" + "L".join(f"{x} {y}" for x, y in places)
    points = tuple(_place(one.similarity, one.num_found / one.num_pairs) for one in measured if one.num_pairs)
    return Curve(path, _place(params.min_sim, 0.0)[0], points)


def _place(similarity: float, share: float) -> tuple[float, float]:
    return round(WIDTH * similarity, 1), round(BASE - HEIGHT * share, 1)
