"""The golden vectors: what an index that a released version made holds.

    python -m tests.sketch.kernels.golden

rewrites tests/sketch/golden/unicode14-*.json. Changed vectors need a new scheme name or a new `params.TABLE_VERSION`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from lshdb.model.params import Params, TableVersion
from lshdb.model.values import Document
from lshdb.sketch.normalization import normalise
from lshdb.sketch.shingling import shingle
from lshdb.sketch.sketch import sketch, text_of

FOLDER = Path(__file__).parents[1] / "golden"
DOCUMENTS = json.loads((FOLDER / "documents.json").read_text("utf-8"))
PARAMS = {
    "word:5 fss2": Params(),
    "word:5 fss1": Params(scheme="fss1"),
    "word:5 universal": Params(scheme="universal"),
    "word:2 multiset fss1": Params(shingle="word:2", multiset=True, scheme="fss1", bands=4, rows=2, seed=7),
    "char:5 fss1": Params(shingle="char:5", scheme="fss1"),
    "char:10 universal": Params(shingle="char:10", scheme="universal", bands=16, rows=8, seed=2**63 - 1),
    "set fss2": Params(shingle="set"),
    "set fss1": Params(shingle="set", scheme="fss1"),
    "set universal": Params(shingle="set", scheme="universal", bands=10, rows=3),
    "set multiset fss1": Params(shingle="set", multiset=True, scheme="fss1"),
}
HEAD = 8  # of the shingles, minima and band keys


def golden(version: TableVersion) -> Path:
    """Return the file of the golden vectors of a version."""
    return FOLDER / f"{version}.json"


def vectors(version: TableVersion) -> dict[str, Any]:
    """Return the digest, the number of shingles and the heads of the arrays, by parameters and document."""
    return {name: _vectors(replace(params, table_version=version)) for name, params in PARAMS.items()}


def _vectors(params: Params) -> dict[str, Any]:
    if params.shingling.kind == "set":
        documents = [Document(name, features=tuple(features)) for name, features in DOCUMENTS["sets"].items()]
    else:
        documents = [Document(name, text=text) for name, text in DOCUMENTS["texts"].items()]
    sketches = sketch(documents, params)
    texts = [text_of(document, params) for document in documents]
    sets = shingle(normalise(texts, params.shingling), params.shingling)
    return {
        document.doc_id: {
            "digest": sketches.digests[row].tobytes().hex(),
            "num_shingles": int(sketches.num_shingles[row]),
            "shingles": " ".join(f"{x:016x}" for x in sets.hashes[sets.offsets[row] : sets.offsets[row + 1]][:HEAD]),
            "minima": " ".join(f"{x:08x}" for x in sketches.signatures.minima[row, :HEAD]),
            "band_keys": " ".join(f"{x:016x}" for x in sketches.band_keys.keys[row, :HEAD]),
        }
        for row, document in enumerate(documents)
    }


if __name__ == "__main__":
    for each in get_args(TableVersion):
        golden(each).write_text(json.dumps(vectors(each), indent=1) + "\n")
