"""Ids and texts of arbitrary code points, on each database: what is not rejected is stored as it was."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

from lshdb import Index, IngestOptions
from lshdb.audit import Thoroughness

SEED = 14
NUM_RECORDS = 600
CONTROLS = "\0\x01\x1b\x7f\x85\xa0\xad"
UNICODE = "\u0300\u200b\u200e\u202e\u2028\u2066\ud800\udfff\ufeff\ufffd\uffff\U0001f600\U000e0001\U0010ffff"
SYNTAX = "ab '\"\\,;\t\n%$"
OTHERS = [0, -1, 2**63, 2**64, 10**400, 1e308, 0.1, True, None, "", " ", [], {}]
SURROGATE = re.compile("[\ud800-\udfff]")


def odd_text(chance: random.Random, length: int) -> str:
    """Return random code points of all planes, many of which are special."""
    characters = (chr(chance.randrange(0x110000)) for _ in range(length))
    return "".join(chance.choice((one, one, *chance.choice((CONTROLS, UNICODE, SYNTAX)))) for one in characters)


def is_possible(doc_id: str, text: str) -> bool:
    """Return whether databases can store an id, and UTF-8 a text."""
    return "\0" not in doc_id and not SURROGATE.search(doc_id + text)


def test_what_is_not_rejected_is_stored_as_it_was(url: str, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    odd = {f"{number}{odd_text(chance, 8)}": odd_text(chance, 20) for number in range(NUM_RECORDS)}
    records: list[tuple[object, object]] = [*odd.items()]
    records += [(value, "text") for value in OTHERS]
    records += [(f"text {place}", value) for place, value in enumerate(OTHERS)]
    path = tmp_path / "a.jsonl"
    # In ASCII, so that lone surrogates are escapes.
    path.write_text("".join(json.dumps({"id": doc_id, "text": text}) + "\n" for doc_id, text in records))
    with Index.ensure(url, {}) as index:
        counts = index.ingest([path], IngestOptions(max_rejected=len(records))).counts
        reasons = [rejection.reason for rejection in index.rejections(1)]
        stored = {doc_id for doc_id in odd if is_possible(doc_id, odd[doc_id]) and doc_id in index}
        faults = list(index.check(Thoroughness(sample=None)))
    assert counts.num_added + counts.num_rejected == len(records)
    assert not any("Error" in reason for reason in reasons)
    assert len(stored) > 100
    assert stored == {doc_id for doc_id, text in odd.items() if is_possible(doc_id, text)}
    assert faults == []
