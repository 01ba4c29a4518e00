"""Draw S-curves. This is the only module that uses matplotlib (extra ``plot``)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lshdb.errors import UsageError
from lshdb.store.files import replacing, require_free

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lshdb.tuning.choice import Option
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

    Raises: UsageError: another suffix, or no matplotlib; OutputFailed: the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(reason=f"--plot {path}: the name must end with {', '.join(SUFFIXES)}")
    require_free(path, force=True)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(reason="--plot needs matplotlib. Run: pip install matplotlib") from None
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    _paint(figure, prospect)
    written = _drawn(figure, "png") if suffix == ".png" else _drawn(figure, "svg")
    with replacing(path) as part:
        part.write_bytes(_page(written) if suffix == ".html" else written)


def _drawn(figure: Figure, form: str) -> bytes:
    """Return the file. The same figure gives the same bytes."""
    import matplotlib as mpl

    drawn = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "lshdb"}):
        figure.savefig(drawn, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    return drawn.getvalue()


def _paint(figure: Figure, prospect: Prospect) -> None:
    """Draw the curves, with their thresholds. A single curve also gets its two areas and the measured points."""
    axes = figure.add_subplot()
    for number, option in enumerate(prospect.shown):
        _draw_curve(axes, option, f"C{number}")
    if len(prospect.shown) == 1:
        _draw_areas(axes, prospect.shown[0], prospect.min_sim)
    axes.axvline(prospect.min_sim, color="0.5", linestyle=":", label=f"requested similarity: {prospect.min_sim:g}")
    if prospect.measured is not None and prospect.measured.points:
        points = prospect.measured.points
        shares = [point.num_found / point.num_pairs for point in points]
        axes.scatter([point.similarity for point in points], shares, color="black", zorder=3, label="measured")
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="Jaccard similarity of a pair", ylabel="probability that it is found")
    axes.legend(loc="upper left")


def _draw_curve(axes: Axes, option: Option, color: str) -> None:
    """Draw a curve, and a mark where its threshold is."""
    banding, steps = option.banding, [step / STEPS for step in range(STEPS + 1)]
    label = f"{banding.bands} bands of {banding.rows} rows"
    axes.plot(steps, list(map(banding.candidate_probability, steps)), color=color, label=label)
    height = banding.candidate_probability(option.threshold)
    mark = f"threshold (1/{banding.bands})^(1/{banding.rows}) = {option.threshold:.3f}"
    axes.plot([option.threshold], [height], color=color, marker="D", linestyle="", label=mark)


def _draw_areas(axes: Axes, option: Option, min_sim: float) -> None:
    """Fill the area of the candidates below a similarity, and that of the missed pairs above."""
    below = [min_sim * step / STEPS for step in range(STEPS + 1)]
    above = [min_sim + (1 - min_sim) * step / STEPS for step in range(STEPS + 1)]
    found_below, found_above = (list(map(option.banding.candidate_probability, part)) for part in (below, above))
    positives = f"false positives: candidates below, area {option.false_positive_area:.4f}"
    negatives = f"false negatives: pairs missed, area {option.false_negative_area:.4f}"
    axes.fill_between(below, found_below, color="C1", alpha=0.35, label=positives)
    axes.fill_between(above, found_above, 1.0, color="C3", alpha=0.6, label=negatives)
    axes.set_title(f"found at {min_sim:g}: {option.recall:.4f}")


def _page(svg: bytes) -> bytes:
    """Return a page that contains the drawing, without the header that only an SVG file needs."""
    drawn = svg.decode()
    return PAGE.format(figure=drawn[drawn.index("<svg") :]).encode()
