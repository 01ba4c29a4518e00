"""Forge texts that the hashes of ``unicode14-1`` cannot tell apart, by lattice reduction.

    pip install fpylll; python -m tests.sketch.forge

rewrites tests/sketch/forged.json, in about a minute. The tests read that file and need no fpylll.

Words: the token hash is a polynomial mod 2**64 with a public base. A short vector of the lattice of its zeros is the
difference of two words with the same hash.

Texts: xxh3_128 adds up, for each of 8 lanes of a block of 1024 bytes, the 16 pairs of code points of that lane and the
product of both, after an XOR with public constants. A short vector that keeps both sums gives other letters for the
same digest.
Source: Lenstra, Lenstra, Lovasz 1982; the constants: Collet, xxHash, the default secret.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from lshdb.model.params import Shingling
from lshdb.sketch.kernels.constants import TOKEN_BASE
from lshdb.sketch.normalization import normalise

FORGED = Path(__file__).parent / "forged.json"
WORD_LENGTH, NUM_WORDS = 20, 60
BLOCK = 256  # code points
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
VICTIM = """
The village library closed its doors on a Thursday, and nobody in the square noticed until the following Monday, when
the baker went to return a novel about lighthouses. A note behind the glass said that the roof had begun to leak over
the shelves of local history, and that the council would meet in the spring to discuss a repair. By Tuesday there was a
queue of people who wanted to help: a retired carpenter with a van full of planks, two sisters who owned a tarpaulin
from the harbour, and a schoolteacher who had once climbed the tower to count the swifts. They carried nine hundred
books across the road in fruit crates and stacked them in the empty cinema, under a poster for a comedy that had never
arrived. The carpenter found that the beams were sound and that only the lead above the north window had split. It took
him four evenings to mend it, with the baker holding the lamp. When the council met in the spring, the clerk read out a
letter of thanks to persons unknown, and the chairman asked whether the library might stay in the cinema after all,
because the seats there were more comfortable and the children had learned to whisper.
"""


def main() -> None:
    """Forge texts and write them to the file."""
    random = Random(14)
    pairs = forged_words(random)
    text = "".join(map(chr, normalise([VICTIM], Shingling("word", 5)).codepoints.tolist()))
    forged = {
        "words": [" ".join(word for word, _ in pairs), " ".join(word for _, word in pairs)],
        "texts": [text, forged_text(text, random)],
    }
    FORGED.write_text(json.dumps(forged, indent=1) + "\n")


def forged_words(random: Random) -> list[tuple[str, str]]:
    """Return pairs of words with the same token hash."""
    powers = [pow(int(TOKEN_BASE), WORD_LENGTH - i, 2**64) for i in range(WORD_LENGTH)]
    rows = [[*(int(i == j) for j in range(WORD_LENGTH)), powers[i] << 20] for i in range(WORD_LENGTH)]
    reduced = _reduced([*rows, [0] * WORD_LENGTH + [2**64 << 20]])
    delta = next(row[:-1] for row in reduced if not row[-1] and any(row) and max(map(abs, row)) <= 24)
    pairs = []
    for _ in range(NUM_WORDS):
        word = [random.randint(max(97, 97 - step), min(122, 122 - step)) for step in delta]
        pairs.append((bytes(word).decode(), bytes(a + b for a, b in zip(word, delta, strict=True)).decode()))
    return pairs


def forged_text(text: str, random: Random) -> str:
    """Return another text with the same digest: in each whole block, the letters of one lane are exchanged."""
    points = [ord(character) for character in text]
    for block in range((4 * len(points) - 1) // 1024):
        lanes = (_exchange(points, BLOCK * block, lane, random) for lane in range(8))
        found = max((lane for lane in lanes if lane), key=len, default={})
        for place, letter in found.items():
            points[place] = letter
    return "".join(map(chr, points))


def _exchange(points: list[int], begin: int, lane: int, random: Random) -> dict[int, int]:
    """Return letters for places of a lane that keep its sums; an empty result means that the search failed."""
    places = [begin + 16 * stripe + 2 * lane for stripe in range(16)]
    places = [place for place in places if 97 <= points[place] <= 122]
    stripes = [(place - begin) // 16 for place in places]
    keys = [SECRET[8 * (stripe + lane) : 8 * (stripe + lane) + 8] for stripe in stripes]
    factors = [points[place + 1] ^ int.from_bytes(key[4:], "little") for place, key in zip(places, keys, strict=True)]
    masks = [key[0] & 31 for key in keys]
    rows = [[*(int(i == j) for j in range(len(places))), factors[i] << 40] for i in range(len(places))]
    short = [row[:-1] for row in _reduced(rows) if not row[-1] and any(row)] if len(places) > 8 else []
    for _ in range(15_000 if short else 0):
        delta = [0] * len(places)
        for row in random.sample(short, min(random.choice((1, 2, 2, 3, 3, 4)), len(short))):
            sign = random.choice((-1, 1))
            delta = [a + sign * b for a, b in zip(delta, row, strict=True)]
        letters = [
            ((points[place] & 31 ^ mask) + step) ^ mask for place, mask, step in zip(places, masks, delta, strict=True)
        ]
        kept = sum(letters) == sum(points[place] & 31 for place in places)
        if kept and any(delta) and all(1 <= letter <= 26 for letter in letters):
            return {place: letter + 96 for place, letter in zip(places, letters, strict=True)}
    return {}


def _reduced(rows: list[list[int]]) -> list[list[int]]:
    """Return a reduced basis of the lattice."""
    from fpylll import LLL, IntegerMatrix

    matrix: Any = IntegerMatrix(len(rows), len(rows[0]))
    for i, j in product(range(len(rows)), range(len(rows[0]))):
        matrix[i, j] = rows[i][j]
    LLL.reduction(matrix)
    return [[int(matrix[i, j]) for j in range(len(rows[0]))] for i in range(len(rows))]


if __name__ == "__main__":
    main()
