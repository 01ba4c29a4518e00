"""The choice of lines does not depend on how a file is split into blocks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lshdb.clusters.rows.lines import Lines, judged_lines
from lshdb.clusters.rows.verdicts import DROPPED, KEPT, OTHER, REJECTED, UNKNOWN, Verdicts

VERDICTS = (UNKNOWN, KEPT, DROPPED, REJECTED)
MASKS = st.lists(st.booleans(), min_size=5, max_size=5)
FILES = st.lists(st.sampled_from([b"\n", b" \r\n", b"ab\n", b"  c \n", b"\t", b"d", b"\xef\xbb\xbf"]), max_size=12).map(
    b"".join
)


def expected(raw: bytes, verdicts: list[int], mask: list[bool]) -> tuple[bytes, list[int]]:
    """Return the chosen lines and the counts, line by line."""
    chosen, counts = b"", [0] * 5
    for number, one in enumerate(_lines(raw), start=1):
        verdict = verdicts[number] if number < len(verdicts) else UNKNOWN
        bare = one.removeprefix(b"\xef\xbb\xbf") if number == 1 else one
        if verdict == UNKNOWN and not bare.strip():
            verdict = OTHER
        else:
            counts[verdict] += 1
        chosen += one if mask[verdict] else b""
    return chosen, counts


def _lines(raw: bytes) -> list[bytes]:
    *complete, last = raw.split(b"\n")
    return [line + b"\n" for line in complete] + ([last] if last else [])


@given(FILES, st.lists(st.sampled_from(VERDICTS), max_size=9), MASKS, st.integers(3, 9))
def test_blocks_of_any_size_give_the_lines_of_the_whole(
    raw: bytes, verdicts: list[int], mask: list[bool], size: int
) -> None:
    about = Verdicts(np.asarray(verdicts, dtype=np.uint8), {})
    lines = Lines(about, np.asarray(mask))
    blocks = [raw[begin : begin + size] for begin in range(0, len(raw), size)]
    chosen = b"".join(lines.chosen(iter(blocks)))
    assert (chosen, lines.counts.tolist()) == expected(raw, verdicts, mask)
    counts = np.zeros(5, dtype=np.int64)
    chosen = b"".join(line for line, verdict in judged_lines(iter(blocks), about, counts) if mask[verdict])
    assert (chosen, counts.tolist()) == expected(raw, verdicts, mask)
