"""Find every pair of documents with an exact Jaccard similarity of at least s, by brute force.

    python -m benchmarks.corpora.oracle FILE.jsonl|FOLDER --min-sim 0.8 [--out pairs.jsonl]

Writes one line ``{"left", "right", "similarity"}`` for every pair of *documents*, including exact duplicates, with
left < right as strings. The similarity |A & B| / |A | B| is the float64 quotient of two integers. A summary goes to
stderr.

The oracle shares one thing with lshdb: its readers convert the files of a folder to texts, because the oracle does not
check extraction. Documents without words have no pairs. A repeated doc_id is an error.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from benchmarks.corpora.allpairs import Found, similar_pairs
from benchmarks.corpora.definition import ExactSets, shingle_sets
from benchmarks.corpora.extraction import folder_texts


class Pair(NamedTuple):
    """Two documents and their Jaccard similarity; left < right as strings."""

    left: str
    right: str
    similarity: float

    @classmethod
    def of(cls, one: str, other: str, similarity: float) -> Pair:
        """Return the pair of two documents in either order."""
        return cls(min(one, other), max(one, other), similarity)


class Groups(NamedTuple):
    """The distinct shingle sets of a corpus, and the ids of the documents with each set."""

    sets: ExactSets
    ids: list[list[str]]


def all_pairs(documents: Iterable[tuple[str, str]], min_sim: Fraction) -> Iterator[Pair]:
    """Yield every pair of (id, text) documents whose shingle sets have Jaccard >= min_sim, in no particular order."""
    return group_pairs(grouped(documents), min_sim)


def group_pairs(groups: Groups, min_sim: Fraction) -> Iterator[Pair]:
    """Yield every pair of documents: at 1.0 within a group, at the similarity of the groups otherwise."""
    for ids in groups.ids:
        yield from (Pair.of(one, other, 1.0) for one, other in combinations(ids, 2))
    for found in similar_pairs(groups.sets, min_sim):
        yield from expanded(found, groups.ids)


def grouped(documents: Iterable[tuple[str, str]]) -> Groups:
    """Group the documents by their shingle set, without those that have no words."""
    ids: list[str] = []
    sets = shingle_sets(noting_ids(documents, ids))
    if len(set(ids)) < len(ids):
        raise ValueError("two documents have the same id")
    rows_of: defaultdict[bytes, list[int]] = defaultdict(list)
    for row in np.flatnonzero(sets.sizes).tolist():
        rows_of[sets[row].tobytes()].append(row)
    distinct = only(sets, [rows[0] for rows in rows_of.values()])
    return Groups(distinct, [[ids[row] for row in rows] for rows in rows_of.values()])


def noting_ids(documents: Iterable[tuple[str, str]], ids: list[str]) -> Iterator[str]:
    """Yield the texts of the documents, and append their ids to a list."""
    for document_id, text in documents:
        ids.append(document_id)
        yield text


def only(sets: ExactSets, rows: Sequence[int]) -> ExactSets:
    """Return the sets of these rows."""
    members = np.concatenate([sets[row] for row in rows] or [sets.members[:0]])
    offsets = np.concatenate(([0], np.cumsum(sets.sizes[np.asarray(rows, np.int64)]))).astype(np.int64)
    return ExactSets(members, offsets, sets.bound)


def expanded(found: Found, ids: Sequence[Sequence[str]]) -> Iterator[Pair]:
    """Yield the pairs of documents for the given pairs of sets."""
    for row, similarity in zip(found.left.tolist(), found.similarity.tolist(), strict=True):
        yield from (Pair.of(one, other, similarity) for one, other in product(ids[row], ids[found.right]))


def read_documents(path: Path, base: Path | None) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of each document of a folder, or of a JSON lines file."""
    if path.is_dir():
        yield from folder_texts(path, base)
        return
    with path.open("rb") as lines:
        for line in lines:
            record = msgspec.json.decode(line)
            yield record["id"], record["text"]


def write_pairs(pairs: Iterable[Pair], path: Path | None) -> int:
    """Write one JSON object per line to the file or to stdout. Return the number of lines."""
    encoder, num_pairs = msgspec.json.Encoder(), 0
    with nullcontext(sys.stdout.buffer) if path is None else path.open("wb") as out:
        for pair in pairs:
            out.write(encoder.encode(pair._asdict()) + b"\n")
            num_pairs += 1
    return num_pairs


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.oracle", description=__doc__.split("\n")[0])
    parser.add_argument("corpus", type=Path, metavar="FILE.jsonl|FOLDER")
    parser.add_argument("--min-sim", type=Fraction, default=Fraction("0.8"), help="in (0, 1] (default 0.8)")
    parser.add_argument(
        "--base", type=Path, help="for a folder: its ids are relative to this one (default: absolute paths)"
    )
    parser.add_argument("--out", type=Path, help="file for the pairs (default stdout)")
    asked = parser.parse_args(arguments)
    if not 0 < asked.min_sim <= 1:
        parser.error("--min-sim must be above 0 and at most 1")
    return asked


def main(arguments: Sequence[str] | None = None) -> int:
    """Write all pairs of the corpus, and a summary to stderr."""
    asked, started = parsed(arguments), time.perf_counter()
    groups = grouped(read_documents(asked.corpus, asked.base))
    read = time.perf_counter()
    num_pairs = write_pairs(group_pairs(groups, asked.min_sim), asked.out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{asked.corpus}: {sum(map(len, groups.ids))} documents with words, {len(groups.ids)} distinct sets, "
        f"{len(groups.sets.members)} shingles; {num_pairs} pairs with similarity >= {float(asked.min_sim):g}; "
        f"sets {read - started:.0f} s, pairs {time.perf_counter() - read:.0f} s, peak {peak:.2f} GB",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
