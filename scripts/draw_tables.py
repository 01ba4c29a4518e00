"""Draw the table of `lshdb dupes` on terminals of 80, 100 and 160 columns, as SVG files for the documentation.

    python scripts/draw_tables.py [FOLDER]

The ids have 90 characters and more, in Latin and Chinese script.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from lshdb.cli.table import Listing, write_table

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
WIDTHS = (80, 100, 160)

SITE = "https://archive.example.org/crawl/2024-05/"
PAIRS = Listing(("left", "right", "similarity", "exact"), ("left", "right"), "pair", limit=6)
ROWS = [
    (f"{SITE}{left}", f"{SITE}{right}", similarity, True)
    for left, right, similarity in (
        (
            "gazette/local-news/2023/footbridge-over-the-river-reopens.html",
            "gazette/print-edition/2023/footbridge-over-the-river-reopens.html",
            1.0,
        ),
        (
            "新聞/地方/二〇二三年/川にかかる歩道橋が九か月ぶりに再開.html",
            "新聞/速報/二〇二三年/川にかかる歩道橋が再開-訂正版.html",
            0.9708,
        ),
        (
            "recipes/soups/lentil-soup-with-lemon-and-cumin-from-the-mountains.html",
            "mirror/recipes/lentil-soup-with-lemon-and-cumin-from-the-mountains.html",
            0.9412,
        ),
        ("烹饪/汤/山里的柠檬小茴香扁豆汤.html", "mirror/烹饪/汤/山里的柠檬小茴香扁豆汤-打印版.html", 0.9032),
        (
            "docs/tidebox/1.0/installing-the-box-for-the-first-time.html",
            "docs/tidebox/2.0/installing-the-box-for-the-first-time.html",
            0.8216,
        ),
        ("about.html", "gazette/local-news/about-the-people-who-write-for-the-gazette.html", 0.8),
    )
]


def lines(width: int) -> list[str]:
    """Return the lines of the table on a terminal of this width."""
    out = io.StringIO()
    write_table(PAIRS, ROWS, out, width)
    return out.getvalue().splitlines()


def picture(width: int) -> str:
    """Return the table as an SVG image."""
    console = Console(record=True, width=width, file=io.StringIO(), legacy_windows=False)
    for line in ["$ lshdb dupes --limit 6", *lines(width)]:
        console.print(Text(line), no_wrap=True, overflow="ignore", crop=False)
    return console.export_svg(title=f"{width} columns", unique_id=f"dupes-{width}")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    for width in WIDTHS:
        (folder / f"dupes-{width}.svg").write_text(picture(width))


if __name__ == "__main__":
    main()
