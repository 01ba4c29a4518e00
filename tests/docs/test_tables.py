"""The pictures of tables in docs/figures show what lshdb prints today."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from scripts.draw_tables import FIGURES, ROWS, WIDTHS, lines, main, picture

# The place and content of a text in an SVG of rich.
TEXT = re.compile(r'<text class="[\w-]+-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')


def shown(svg: str) -> list[str]:
    """Return the lines in a picture. The version of rich decides everything else in it."""
    by_line: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in TEXT.findall(svg):
        by_line.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    joined = ("".join(text for _, text in sorted(parts)).rstrip() for _, parts in sorted(by_line.items()))
    return list(joined)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_picture_is_current(width: int) -> None:
    there = shown((FIGURES / f"dupes-{width}.svg").read_text())
    assert there == shown(picture(width)), "run python scripts/draw_tables.py"
    assert [line for line in there[1:] if line] == [line for line in lines(width) if line]
    assert max(map(cell_len, there)) <= width


def test_the_pictures_show_long_ids_and_characters_of_double_width() -> None:
    ids = [one for row in ROWS for one in row[:2]]
    assert sum(cell_len(one) >= 90 for one in ids) >= 6
    assert any(cell_len(one) > len(one) for one in ids)


def test_the_script_writes_the_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["draw_tables.py", str(tmp_path)])
    main()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"dupes-{width}.svg" for width in WIDTHS)
