"""The parameters of an index, which are chosen when it is created. Only `reband` changes some of them later.

There is one frozen `Params`; the stages take its parts (`shingling`, `permutations`, `banding`). Nothing here computes
on documents. Limitation: only parameters that change an answer belong here. Batch sizes, worker counts and the like are
options of a run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, get_args

from lshdb.errors import InvalidParams
from lshdb.model.banding import MAX_BANDS, Banding
from lshdb.model.choices import HtmlText, Scheme, ShingleKind, TableVersion

__all__ = [
    "FORGEABLE_DIGESTS",
    "FORGEABLE_HASHES",
    "SAFE_DIGESTS",
    "TABLE_VERSION",
    "Banding",
    "HtmlText",
    "Params",
    "Permutations",
    "Scheme",
    "ShingleKind",
    "Shingling",
    "TableVersion",
]

# The version of new indexes. Any change to the code-point table, shingle hash or content digest needs a new name.
TABLE_VERSION: Final[TableVersion] = "unicode14-2"
# The digest of this version can be forged: anybody can write another text that counts as the same.
FORGEABLE_DIGESTS: Final[TableVersion] = "unicode14-1"
# What an upgrade makes of it: its shingle hash, and the digest of new indexes.
SAFE_DIGESTS: Final[TableVersion] = "unicode14-1-sha256"
# The shingle hash of these versions can be forged: anybody can write different texts that count as similar.
FORGEABLE_HASHES: Final[frozenset[TableVersion]] = frozenset({FORGEABLE_DIGESTS, SAFE_DIGESTS})

MAX_SHINGLE_SIZE: Final = 64
MAX_PERMUTATIONS: Final = 65_536
MAX_PASSAGE: Final = 1_000

DEFAULT_FLOOR: Final = 0.5
DEFAULT_MIN_SIM: Final = 0.8


@dataclass(frozen=True, slots=True)
class Shingling:
    """How a text becomes shingles: ``kind`` and ``size`` of the k-gram; a set has size 1."""

    kind: ShingleKind
    size: int
    multiset: bool = False
    version: TableVersion = TABLE_VERSION
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Permutations:
    """How a shingle set becomes ``num_perm`` minima."""

    scheme: Scheme
    num_perm: int
    seed: int


@dataclass(frozen=True, slots=True)
class Params:
    """All parameters of an index.

    Args:
        shingle: ``word:N``, ``char:K`` or ``set``.
        multiset: the i-th occurrence of a shingle counts as a separate element (bag Jaccard).
        scheme: the signature scheme, ``fss2``, ``fss1`` or ``universal``.
        bands, rows: the banding, which uses bands * rows minima of the signature.
        seed: the seed of the signature's hash functions, in [0, 2**63).
        floor: the lowest similarity that is stored as a pair, in (0, 1].
        min_sim: the similarity that the bands were chosen for, and the default of every query.
        keep_text: keep the compressed text of each content, for exact similarities.
        html: ``main`` content of a page, or ``all`` its text.
        table_version: the code-point table, the shingle hash and the digest of a text.
        num_perm: the number of minima of a signature; 0 stands for as many as the bands use.
        first_band: the number of the first band in the table of buckets; `reband` alternates it.
        passages: every run of this many words that two texts share is found; 0 for an index without passages.

    Raises: InvalidParams: a value is out of its range.
    """

    shingle: str = "word:5"
    multiset: bool = False
    scheme: Scheme = "fss2"
    bands: int = 20
    rows: int = 5
    seed: int = 1
    floor: float = DEFAULT_FLOOR
    min_sim: float = DEFAULT_MIN_SIM
    keep_text: bool = True
    html: HtmlText = "main"
    table_version: TableVersion = TABLE_VERSION
    num_perm: int = 0
    first_band: int = 0
    passages: int = 0

    def __post_init__(self) -> None:
        _parse_shingle(str(self.shingle))
        _check_flag("multiset", self.multiset)
        _check_flag("keep_text", self.keep_text)
        check_choice("scheme", self.scheme, Scheme)
        check_choice("html", self.html, HtmlText)
        check_choice("table_version", self.table_version, TableVersion)
        check_range("bands", self.bands, 1, MAX_BANDS)
        check_range("rows", self.rows, 1, MAX_PERMUTATIONS)
        check_range("num_perm", self.num_perm, 0, MAX_PERMUTATIONS)
        if not self.num_perm:
            object.__setattr__(self, "num_perm", self.bands * self.rows)
        check_range("bands * rows", self.bands * self.rows, 1, self.num_perm)
        check_range("seed", self.seed, 0, 2**63 - 1)
        check_similarity("floor", self.floor)
        check_similarity("min_sim", self.min_sim)
        check_range("passages", self.passages, 0, MAX_PASSAGE)
        if self.passages:
            _check_texts(self)

    @property
    def shingling(self) -> Shingling:
        """The part that `shingling` needs."""
        kind, size = _parse_shingle(self.shingle)
        return Shingling(kind, size, self.multiset, self.table_version, self.seed)

    @property
    def permutations(self) -> Permutations:
        """The part that `minhash` needs."""
        return Permutations(self.scheme, self.num_perm, self.seed)

    @property
    def banding(self) -> Banding:
        """The part that `banding` needs."""
        return Banding(self.bands, self.rows, self.first_band)

    @property
    def recall(self) -> float:
        """The recall promised at `min_sim`: the probability that such a pair becomes a candidate."""
        return self.banding.candidate_probability(self.min_sim)


# Every text is shingled by them.
@cache
def _parse_shingle(shingle: str) -> tuple[ShingleKind, int]:
    if shingle == "set":
        return "set", 1
    match = re.fullmatch(r"(word|char):([1-9][0-9]?)", shingle)
    if match is None or int(match[2]) > MAX_SHINGLE_SIZE:
        raise InvalidParams(
            name="shingle",
            value=shingle,
            reason=f"it must be word:N, char:N (N from 1 to {MAX_SHINGLE_SIZE}) or set",
        )
    return ("word" if match[1] == "word" else "char"), int(match[2])


def _check_texts(params: Params) -> None:
    """Check that the index has the words of its documents. Raises: InvalidParams."""
    if params.shingle == "set":
        raise InvalidParams(name="passages", value=params.passages, reason="an index of sets has no passages")
    if not params.keep_text:
        raise InvalidParams(name="passages", value=params.passages, reason="passages are read from the kept texts")


def check_choice(name: str, value: object, choices: object) -> None:
    """Check that a value is one of a Literal. Raises: InvalidParams."""
    if value not in get_args(choices):
        raise InvalidParams(name=name, value=value, reason=f"it must be one of {', '.join(get_args(choices))}")


def _check_flag(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise InvalidParams(name=name, value=value, reason="it must be True or False")


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Check a whole number. Raises: InvalidParams."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidParams(name=name, value=value, reason="it must be a whole number")
    if not low <= value <= high:
        raise InvalidParams(name=name, value=value, reason=f"it must be from {low} to {high}")


def check_similarity(name: str, value: float) -> None:
    """Check a similarity. Raises: InvalidParams."""
    check_number(name, value)
    if not 0.0 < value <= 1.0:
        raise InvalidParams(name=name, value=value, reason="it must be above 0 and at most 1")


def check_number(name: str, value: float) -> None:
    """Check that a program passed a number. Raises: InvalidParams."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidParams(name=name, value=value, reason="it must be a number")
