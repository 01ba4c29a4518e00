"""The kernels in plain Python and NumPy, written to be read. The tests compare the compiled ones with them.

Limitation: slow.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels import codepoints as entries
from lshdb.sketch.kernels.constants import (
    EMPTY_MINIMUM,
    EMPTY_SLOT,
    GOLDEN,
    LONGEST_CLUSTER,
)
from lshdb.sketch.kernels.reference_shingles import (
    LOW_64,
    Ragged,
    keyed_chars,
    keyed_lines,
    keyed_words,
    kind_of,
    mix,
    offsets_of,
    ragged,
    shingle_chars,
    shingle_lines,
    shingle_words,
)
from lshdb.sketch.kernels.reference_words import place_words, split_words

__all__ = [
    "agreements",
    "band_hashes",
    "contextual_spans",
    "equal_minima",
    "fold",
    "fss1_minima",
    "keyed_chars",
    "keyed_lines",
    "keyed_words",
    "mix",
    "number_occurrences",
    "place_words",
    "settle",
    "shared_in_families",
    "shingle_chars",
    "shingle_lines",
    "shingle_words",
    "split_words",
    "unite",
    "universal_minima",
    "winnow",
]


def contextual_spans(
    utf8: NDArray[np.uint8], offsets: NDArray[np.int64], table: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Return the spans that cannot be folded one code point at a time: bytes [start, stop), int64, shape (m, 2)."""
    spans: list[tuple[int, int]] = []
    for start, stop in pairwise(offsets.tolist()):
        text = _decoded(utf8[start:stop])
        for cluster in [] if text.isascii() else _clusters(text, table):
            end = start + len(cluster.encode("utf-8", "surrogatepass"))
            if _is_contextual(cluster, table):
                spans.append((start, end))
            start = end
    return np.array(spans, np.int64).reshape(-1, 2)


def _clusters(text: str, table: NDArray[np.uint32]) -> list[str]:
    """Split the text before each code point that does not join the one before it, or would make a cluster too long."""
    clusters = [""]
    for character in text:
        joins = _join(character, table) or kind_of(character, table) == entries.DROPPED
        if joins and len(clusters[-1].encode("utf-8", "surrogatepass")) < LONGEST_CLUSTER:
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _is_contextual(cluster: str, table: NDArray[np.uint32]) -> bool:
    kept = [character for character in cluster if kind_of(character, table) != entries.DROPPED]
    joins = [_join(character, table) for character in kept]
    out_of_order = any(after and after < before for before, after in pairwise(joins))
    return out_of_order or any(int(table[ord(character)]) >> entries.CONTEXTUAL_SHIFT & 1 for character in kept)


def _join(character: str, table: NDArray[np.uint32]) -> int:
    return int(table[ord(character)]) >> entries.JOIN_SHIFT


def _decoded(utf8: NDArray[np.uint8]) -> str:
    return utf8.tobytes().decode("utf-8", "surrogatepass")


def fold(
    utf8: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    table: NDArray[np.uint32],
    spans: NDArray[np.int64],
    settled: NDArray[np.uint8],
    settled_offsets: NDArray[np.int64],
    spaced: bool,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the normal forms of n texts: code points uint32, shape (C,), and offsets int64, shape (n + 1,).

    Texts that are `spaced` keep every separator.
    """
    content, forms = utf8.tobytes(), list[str]()
    replacements = [settled.tobytes()[start:stop] for start, stop in pairwise(settled_offsets.tolist())]
    for start, stop in pairwise(offsets.tolist()):
        text, at = b"", start
        for (first, last), replacement in zip(spans.tolist(), replacements, strict=True):
            if start <= first < stop:
                text, at = text + content[at:first] + replacement, last
        folded = _folded((text + content[at:stop]).decode("utf-8", "surrogatepass"), table)
        forms.append(folded if spaced else " ".join(run for run in folded.split(" ") if run))
    joined = "".join(forms).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, "<u4").astype(np.uint32), offsets_of([len(form) for form in forms])


def _folded(text: str, table: NDArray[np.uint32]) -> str:
    kept = [character for character in text if kind_of(character, table) != entries.DROPPED]
    return "".join(chr(int(table[ord(character)]) & entries.CODEPOINT_MASK) for character in kept)


def number_occurrences(hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the hashes, with the i-th repeat (i from 1) of a hash in a text replaced by a hash of both."""
    numbered: list[int] = []
    for start, stop in pairwise(offsets.tolist()):
        seen: Counter[int] = Counter()
        for x in hashes[start:stop].tolist():
            numbered.append(mix((x + seen[x] * int(GOLDEN)) & LOW_64) if seen[x] else x)
            seen[x] += 1
    return np.array(numbered, np.uint64)


def winnow(hashes: NDArray[np.uint64], offsets: NDArray[np.int64], window: int) -> Ragged:
    """Return the least hash of each window of n texts, without its repeats in consecutive windows."""
    return ragged([_least(hashes[start:stop].tolist(), window) for start, stop in pairwise(offsets.tolist())])


def _least(hashes: list[int], window: int) -> list[int]:
    least = [min(hashes[start : start + window]) for start in range(len(hashes) - window + 1)]
    return [one for one, before in zip(least, [None, *least], strict=False) if one != before]


def fss1_minima(
    hashes: NDArray[np.uint64], offsets: NDArray[np.int64], seeds: NDArray[np.uint64], num_perm: int
) -> NDArray[np.uint32]:
    """Return Fast Similarity Sketches: uint32, shape (n, num_perm). Args: seeds: uint64, shape (2 * num_perm,)."""
    rows = [_fss1_row(hashes[start:stop], seeds, num_perm) for start, stop in pairwise(offsets.tolist())]
    return np.array(rows, np.uint32).reshape(-1, num_perm)


def _fss1_row(hashes: NDArray[np.uint64], seeds: NDArray[np.uint64], num_perm: int) -> NDArray[np.uint32]:
    row = np.full(num_perm, EMPTY_MINIMUM, np.uint32)
    empty = np.full(num_perm, len(hashes) > 0)
    for number, seed in enumerate(seeds):
        if not empty.any():
            break
        values = _mixed(hashes + seed)
        slots = ((values >> np.uint64(32)) * np.uint64(num_perm)) >> np.uint64(32)
        if number >= num_perm:
            slots = np.full(len(hashes), number - num_perm, np.uint64)
        least = np.full(num_perm, EMPTY_SLOT)
        np.minimum.at(least, slots, values)
        filled = empty & (least != EMPTY_SLOT)
        row[filled] = (_mixed(least[filled] ^ seed) >> np.uint64(32)).astype(np.uint32)
        empty &= ~filled
    return row


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return np.array([mix(number) for number in numbers.tolist()], np.uint64)


def universal_minima(
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    multipliers: NDArray[np.uint64],
    addends: NDArray[np.uint64],
) -> NDArray[np.uint32]:
    """Return MinHash signatures by num_perm hashes a*x+b mod 2**64: uint32, shape (n, num_perm)."""
    minima = np.full((len(offsets) - 1, len(multipliers)), EMPTY_MINIMUM, np.uint32)
    for row, (start, stop) in enumerate(pairwise(offsets.tolist())):
        if start < stop:
            least = (multipliers[:, None] * hashes[None, start:stop] + addends[:, None]).min(axis=1)
            minima[row] = (_mixed(least) >> np.uint64(32)).astype(np.uint32)
    return minima


def band_hashes(minima: NDArray[np.uint32], bands: int, rows: int) -> NDArray[np.uint64]:
    """Return the bucket hash of each band of each signature: uint64, shape (n, bands)."""
    keys = [
        _band_hash(band, signature[band * rows : (band + 1) * rows])
        for signature in minima.tolist()
        for band in range(bands)
    ]
    return np.array(keys, np.uint64).reshape(-1, bands)


def _band_hash(band: int, minima: list[int]) -> int:
    key = mix((band + int(GOLDEN)) & LOW_64)
    for minimum in minima:
        key = mix(((key ^ minimum) + int(GOLDEN)) & LOW_64)
    return key


def shared_in_families(
    hashes: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    texts: NDArray[np.int64],
    families: NDArray[np.int64],
    pairs: NDArray[np.int64],
    pair_families: NDArray[np.int64],
    _multiplier: np.uint64,
    _matrix_words: int,
    _lookup_words: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many distinct hashes each pair shares, and how many each text of a family with pairs has."""
    sets = [set(hashes[start:stop].tolist()) for start, stop in pairwise(offsets.tolist())]
    left, right = texts[pairs].tolist()
    sizes = np.zeros(len(sets), np.int64)
    for place, pair_place in zip(pairwise(families.tolist()), pairwise(pair_families.tolist()), strict=True):
        if pair_place[0] < pair_place[1]:
            for text in texts[slice(*place)].tolist():
                sizes[text] = len(sets[text])
    return np.array([len(sets[i] & sets[j]) for i, j in zip(left, right, strict=True)], np.int64), sizes


def equal_minima(left: NDArray[np.uint32], right: NDArray[np.uint32], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many minima signatures ``left[pairs[i, 0]]`` and ``right[pairs[i, 1]]`` share: int64, shape (m,)."""
    equal: NDArray[np.int64] = np.count_nonzero(left[pairs[:, 0]] == right[pairs[:, 1]], axis=1)
    return equal


def agreements(
    minima: NDArray[np.uint32], others: NDArray[np.uint32], least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the equal minima of all signatures with all others. The pairs found are in no particular order.

    Returns:
        counts: int64, shape (num_perm + 1,). How many of the n * m pairs have each number of equal minima.
        found: int64, shape (f, 3). The pairs with `least` or more: number of the signature, of the other, equal minima.
    """
    equal = (minima[:, None, :] == others[None, :, :]).sum(axis=2)
    found = np.argwhere(equal >= least)
    counts = np.bincount(equal.ravel(), minlength=minima.shape[1] + 1)
    return counts, np.column_stack([found, equal[found[:, 0], found[:, 1]]])


def unite(parents: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Join, in place, the components of rows left[i] and right[i] of a settled forest, which stays settled."""
    for one, other in zip(left.tolist(), right.tolist(), strict=True):
        roots = parents[one], parents[other]
        parents[parents == max(roots)] = min(roots)


def settle(parents: NDArray[np.int64]) -> None:
    """Make every row the child of the least row of its component, in place."""
    while (parents != parents[parents]).any():
        parents[:] = parents[parents]
