"""Compute what an index would find and cost with other bands: the table, S-curve and measured points of `tune`.

Pure arithmetic over `choice`. The curve for the terminal is drawn here, the figure in `plot`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import asdict

from lshdb.model.banding import (
    DEFAULT_RECALL,
    SQLITE_SIZES,
    TYPICAL_CONTENTS,
    Banding,
    Similarities,
    Sizes,
    typical,
)
from lshdb.model.params import DEFAULT_MIN_SIM, MAX_PERMUTATIONS, check_range
from lshdb.tuning.choice import Option, choose, option, options, signed

if TYPE_CHECKING:
    from lshdb.model.reports import Measurement
    from lshdb.model.upkeep import Outlook

__all__ = ["COLUMNS", "Prospect", "prospect"]

# Of the table.
COLUMNS: Final = (
    "bands",
    "rows",
    "minima",
    "recall",
    "candidates",
    "bytes",
    "threshold",
    "false_positives",
    "false_negatives",
    "note",
)

WIDTH: Final = 50
STEPS: Final = 20


class Prospect(Struct, frozen=True):
    """Bandings and their consequences: those that keep a promise, or those that were named.

    Args:
        options: by rows, or in the order in which they were named.
        now: the banding of the index; None without an index.
        chosen: the banding that `reband` takes; None if bandings were named.
        measured: the last measurement of the index, if any.
    """

    min_sim: float
    recall: float
    options: tuple[Option, ...]
    now: Option | None
    chosen: Banding | None
    measured: Measurement | None

    @property
    def shown(self) -> tuple[Option, ...]:
        """The options whose curves are shown: those named, else that of the index, else the chosen one."""
        if self.chosen is None:
            return self.options
        return (self.now or next(each for each in self.options if self._is_chosen(each)),)

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Return the values of `COLUMNS` for each option and for the index."""
        listed = list(self.options)
        if self.now is not None and self.now.banding not in [each.banding for each in listed]:
            listed = [self.now, *listed]
        for each in listed:
            areas = (round(each.false_positive_area, 4), round(each.false_negative_area, 4))
            figures = (round(each.recall, 5), round(each.candidates, 2), round(each.bytes), round(each.threshold, 3))
            yield each.banding.bands, each.banding.rows, each.num_perm, *figures, *areas, self._note(each)

    def curve_lines(self) -> Iterator[str]:
        """Return the S-curves, one line per step of similarity; ``o`` marks measured points."""
        for number, each in enumerate(self.shown):
            if number:
                yield ""
            yield from self._curve(each.banding)

    def _curve(self, banding: Banding) -> Iterator[str]:
        points = {} if self.measured is None else {point.similarity: point for point in self.measured.points}
        yield f"similarity  found  with {banding.bands} bands of {banding.rows} rows"
        for step in range(1, STEPS + 1):
            similarity = step / STEPS
            probability = banding.candidate_probability(similarity)
            near = [point for at, point in points.items() if abs(at - similarity) <= 0.5 / STEPS]
            shares = [point.num_found / point.num_pairs for point in near]
            bar = list("#" * round(probability * WIDTH) + " " * (WIDTH + 1 - round(probability * WIDTH)))
            for share in shares:
                bar[round(share * WIDTH)] = "o"
            mark = " <" if abs(similarity - self.min_sim) < 0.5 / STEPS else ""
            yield f"{similarity:10.2f}  {probability:.3f}  {''.join(bar).rstrip()}{mark}"

    def as_json(self) -> dict[str, object]:
        """Return the object that ``tune --json`` prints."""
        return {
            "min_sim": self.min_sim,
            "recall": self.recall,
            "options": [self._as_json(each) for each in self.options],
            "now": None if self.now is None else self._as_json(self.now),
            "measured": None if self.measured is None else self.measured.as_json(),
        }

    def _as_json(self, each: Option) -> dict[str, object]:
        figures = {name: value for name, value in asdict(each).items() if name != "banding"}
        return {"bands": each.banding.bands, "rows": each.banding.rows, **figures, "note": self._note(each)}

    def _note(self, each: Option) -> str:
        notes = {
            "now": self.now is not None and each.banding == self.now.banding,
            "chosen": self._is_chosen(each),
        }
        return ", ".join(name for name, applies in notes.items() if applies)

    def _is_chosen(self, each: Option) -> bool:
        return each.banding == self.chosen


def prospect(
    outlook: Outlook | None,
    *,
    min_sim: float | None = None,
    recall: float | None = None,
    num_perm: int | None = None,
    num_contents: int | None = None,
    named: Sequence[Banding] = (),
) -> Prospect:
    """Return the bandings that keep a promise. By default this is the promise of the index, with a minimum recall.

    Args:
        outlook: of an index; None without an index, for typical values.
        num_perm: minima of a signature; by default those of the index, or else as many as the bands need.
        num_contents: the expected number of contents.
        named: look at these bandings instead; the promise does not matter.

    Raises: PromiseUnreachable: no banding with this number of minima keeps it; InvalidParams: a named banding needs
        more minima than there are.
    """
    recall = DEFAULT_RECALL if recall is None else recall
    if outlook is None:
        similarities, sizes, now = typical(num_contents or TYPICAL_CONTENTS), SQLITE_SIZES, None
        min_sim = DEFAULT_MIN_SIM if min_sim is None else min_sim
    else:
        params, similarities, sizes = outlook.params, outlook.similarities, outlook.sizes
        if num_contents is not None:
            similarities = similarities.of_contents(num_contents)
        min_sim = params.min_sim if min_sim is None else min_sim
        now = option(Banding(params.bands, params.rows), min_sim, params.num_perm, similarities, sizes)
        num_perm = num_perm or params.num_perm
    measured = outlook.measured if outlook else None
    if named:
        asked = tuple(_named(each, min_sim, num_perm, similarities, sizes) for each in named)
        return Prospect(min_sim, recall, asked, now, None, measured)
    chosen = choose(min_sim, recall, num_perm=num_perm, similarities=similarities)
    found = options(min_sim, recall, num_perm=num_perm, similarities=similarities, sizes=sizes)
    return Prospect(min_sim, recall, tuple(found), now, chosen, measured)


def _named(banding: Banding, min_sim: float, num_perm: int | None, similarities: Similarities, sizes: Sizes) -> Option:
    check_range("bands * rows", banding.bands * banding.rows, 1, num_perm or MAX_PERMUTATIONS)
    return option(banding, min_sim, num_perm or signed(banding), similarities, sizes)
