"""Small, sound indexes of several kinds."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Final

from lshdb import Decision, Document, IngestOptions, Params
from lshdb.model.expansion import EXPANSION, Expansion
from tests.expanding import index_with

__all__ = ["FEW_IN_A_BUCKET", "KINDS", "PARAMS", "fill"]

# Four minima belong to no band.
PARAMS: Final[dict[str, Any]] = {"shingle": "word:2", "bands": 8, "rows": 2, "num_perm": 20, "min_sim": 0.6}
KINDS: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "no texts": {"keep_text": False},
    "sets": {"shingle": "set"},
    "multisets": {"multiset": True},
    "chars": {"shingle": "char:5", "scheme": "universal"},
}

# The largest family fills oversized buckets.
FEW_IN_A_BUCKET: Final = Expansion(cap=6, hubs=2)

FAMILIES: Final = (1, 2, 3, 4, 12)
WORDS: Final = [f"word{number}" for number in range(300)]


def fill(url: str, folder: Path, seed: int = 1, expansion: Expansion = EXPANSION, **chosen: Any) -> None:
    """Ingest families of texts from two files, one with a bad line and an empty text, then change some by hand."""
    folder.mkdir(exist_ok=True)
    with index_with(expansion, url, **PARAMS | chosen) as index:
        for version in (1, 2):
            chance = random.Random(seed)
            texts = [text for size in FAMILIES for text in _family(chance, size, version)]
            _write(folder / "a.jsonl", texts[::2], index.params)
            _write(folder / "b.jsonl", texts[1::2], index.params)
            index.ingest([folder], IngestOptions(prune=True))
        gone = [Document("gone", **_given(["not", "in", "the", "others"], index.params))]
        index.add([*gone, Document("copy", **_given(texts[3], index.params))])
        index.remove(["gone"])
        index.decide(Decision("keep", "copy", who="Ada"))
        assert list(index.check()) == []


def _family(chance: random.Random, size: int, version: int) -> list[list[str]]:
    original = chance.choices(WORDS, k=40)
    family = []
    for member in range(size):
        words = list(original)
        words[chance.randrange(40)] = f"{version if member == 1 else 0}x{member}"
        family.append(words)
    return family


def _write(path: Path, texts: list[list[str]], params: Params) -> None:
    lines = [_line(f"{path.stem}{number}", words, params) for number, words in enumerate([*texts, []])]
    path.write_text("\n".join([*lines, "{ not JSON", ""]))


def _line(name: str, words: list[str], params: Params) -> str:
    if params.shingle == "set":
        return json.dumps({"id": name, "text": sorted(set(words))})
    return json.dumps({"id": name, "text": " ".join(words)})


def _given(words: list[str], params: Params) -> dict[str, Any]:
    return {"features": tuple(sorted(set(words)))} if params.shingle == "set" else {"text": " ".join(words)}
