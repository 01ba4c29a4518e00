"""Compute what an index would find and cost with other bands: the table, S-curve and measured points of `tune`.

Pure arithmetic over `choice`. The curve for the terminal is drawn here, the figure in `plot`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from lshdb.model.banding import DEFAULT_RECALL, SQLITE_SIZES, TYPICAL_CONTENTS, Banding, typical
from lshdb.model.params import DEFAULT_MIN_SIM
from lshdb.tuning.choice import Option, choose, option, options

if TYPE_CHECKING:
    from lshdb.model.reports import Measurement, Outlook

__all__ = ["Prospect", "prospect"]

WIDTH: Final = 50
STEPS: Final = 20


@dataclass(frozen=True, slots=True)
class Prospect:
    """The bandings that keep a promise, and the one that is shown.

    Args:
        options: by rows. now: the banding of the index; None without an index. chosen: the banding that `reband` takes.
        measured: the last measurement of the index, if any.
    """

    min_sim: float
    recall: float
    options: tuple[Option, ...]
    now: Option | None
    chosen: Banding
    measured: Measurement | None

    @property
    def shown(self) -> Banding:
        """The banding whose curve is shown: that of the index, or else the chosen one."""
        return self.chosen if self.now is None else self.now.banding

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Return (bands, rows, minima, recall, candidates, bytes, note) of each option and of the index."""
        listed = list(self.options)
        if self.now is not None and self.now.banding not in [each.banding for each in listed]:
            listed = [self.now, *listed]
        for each in listed:
            figures = (round(each.recall, 5), round(each.candidates, 2), round(each.bytes))
            yield each.banding.bands, each.banding.rows, each.num_perm, *figures, self._note(each)

    def curve_lines(self) -> Iterator[str]:
        """Return the S-curve, one line per step of similarity; ``o`` marks measured points."""
        points = {} if self.measured is None else {point.similarity: point for point in self.measured.points}
        yield f"similarity  found  with {self.shown.bands} bands of {self.shown.rows} rows"
        for step in range(1, STEPS + 1):
            similarity = step / STEPS
            probability = self.shown.candidate_probability(similarity)
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
            "measured": None if self.measured is None else asdict(self.measured),
        }

    def _as_json(self, each: Option) -> dict[str, object]:
        figures = {name: value for name, value in asdict(each).items() if name != "banding"}
        return {"bands": each.banding.bands, "rows": each.banding.rows, **figures, "note": self._note(each)}

    def _note(self, each: Option) -> str:
        notes = {
            "now": self.now is not None and each.banding == self.now.banding,
            "chosen": (each.banding.bands, each.banding.rows) == (self.chosen.bands, self.chosen.rows),
        }
        return ", ".join(name for name, applies in notes.items() if applies)


def prospect(
    outlook: Outlook | None,
    *,
    min_sim: float | None = None,
    recall: float | None = None,
    num_perm: int | None = None,
    num_contents: int | None = None,
) -> Prospect:
    """Return the bandings that keep a promise. By default this is the promise of the index, with a minimum recall.

    Args:
        outlook: of an index; None without an index, for typical values.
        num_perm: minima of a signature; by default those of the index, or else as many as the bands need.
        num_contents: the expected number of contents.

    Raises: PromiseUnreachable: no banding with this number of minima keeps it.
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
    chosen = choose(min_sim, recall, num_perm=num_perm, similarities=similarities)
    found = options(min_sim, recall, num_perm=num_perm, similarities=similarities, sizes=sizes)
    return Prospect(min_sim, recall, tuple(found), now, chosen, outlook.measured if outlook else None)
