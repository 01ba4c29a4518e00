"""Draw the S-curve. This is the only module that uses matplotlib (extra ``plot``)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lshdb.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lshdb.tuning.prospect import Prospect

__all__ = ["draw"]

STEPS: Final = 200
SUFFIXES: Final = (".svg", ".png", ".html")

PAGE: Final = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>lshdb tune</title></head>
<body>
{figure}
</body>
</html>
"""


def draw(prospect: Prospect, path: Path) -> None:
    """Write the figure to a file: SVG, PNG, or an HTML page that contains the SVG.

    Raises: UsageError: another suffix, no matplotlib, or a file that cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(reason=f"--plot {path}: the name must end with {', '.join(SUFFIXES)}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(reason="--plot needs matplotlib. Run: pip install 'lshdb[plot]'") from None
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    _paint(figure, prospect)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png" if suffix == ".png" else "svg", dpi=150)
    written = drawn.getvalue() if suffix != ".html" else _page(drawn.getvalue())
    try:
        path.write_bytes(written)
    except OSError as error:
        raise UsageError(reason=f"--plot {path}: {error.strerror}") from None


def _paint(figure: Figure, prospect: Prospect) -> None:
    """Draw the curve, the pairs it misses above the requested similarity, and the candidates it adds below."""
    axes, banding = figure.add_subplot(), prospect.shown
    below = [prospect.min_sim * step / STEPS for step in range(STEPS + 1)]
    above = [prospect.min_sim + (1 - prospect.min_sim) * step / STEPS for step in range(STEPS + 1)]
    found_below, found_above = (list(map(banding.candidate_probability, part)) for part in (below, above))
    axes.plot(
        below + above, found_below + found_above, color="C0", label=f"{banding.bands} bands of {banding.rows} rows"
    )
    axes.fill_between(below, found_below, color="C1", alpha=0.35, label="false positives: candidates below")
    axes.fill_between(above, found_above, 1.0, color="C3", alpha=0.6, label="false negatives: pairs missed")
    axes.axvline(prospect.min_sim, color="0.5", linestyle=":")
    if prospect.measured is not None and prospect.measured.points:
        points = prospect.measured.points
        shares = [point.num_found / point.num_pairs for point in points]
        axes.scatter([point.similarity for point in points], shares, color="black", zorder=3, label="measured")
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="Jaccard similarity of a pair", ylabel="probability that it is found")
    recall = banding.candidate_probability(prospect.min_sim)
    axes.set_title(f"found at {prospect.min_sim:g}: {recall:.4f}")
    axes.legend(loc="upper left")


def _page(svg: bytes) -> bytes:
    """Return a page that contains the drawing, without the header that only an SVG file needs."""
    drawn = svg.decode()
    return PAGE.format(figure=drawn[drawn.index("<svg") :]).encode()
