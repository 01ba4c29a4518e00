"""Accept people's decisions, one at a time or from a file of JSON lines.

Limitation: an import may be interrupted after some of its decisions. Those are kept; import the file again to continue.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from lshdb.errors import (
    DecisionUnknown,
    PathMissing,
    SameText,
    SourceUnreadable,
    UsageError,
    reason_of,
)
from lshdb.model.decisions import Decision, DecisionsReport
from lshdb.readers.base import STDIN_NAME
from lshdb.store.store import Store
from lshdb.store.tables import answers, decisions
from lshdb.store.transaction import Transaction

__all__ = ["decide", "decisions_in", "put_all", "undo"]

# Decisions that are stored in one transaction.
BATCH: Final = 5_000
# Bytes of a line: two ids, their collections and a reason, all of them escaped.
MAX_LINE: Final = 100_000


def decide(transaction: Transaction, made: Decision, url: str) -> Decision:
    """Store a decision about documents of the index at `url`, and return it as stored.

    Raises: DocumentUnknown; SameText: the documents are decided to be different, and have the same text.
    """
    texts = [answers.require_content(transaction, *document, url) for document in made.documents]
    if len(texts) == 2 and texts[0] == texts[1] and texts[0] is not None:
        raise SameText(left=made.id, right=made.other or "")
    found = decisions.numbered(transaction, decisions.put(transaction, made) or 0)
    assert found is not None  # A decision of now is later than those before.
    return found


def undo(transaction: Transaction, numbers: Collection[int], url: str) -> int:
    """Delete decisions, and return their number. Raises: DecisionUnknown: one does not exist; nothing is deleted."""
    for number in sorted(numbers):
        if decisions.numbered(transaction, number) is None:
            raise DecisionUnknown(decision=number, url=url)
    return decisions.remove(transaction, numbers)


def put_all(store: Store, made: Iterable[Decision]) -> DecisionsReport:
    """Store decisions, also about documents that the index lacks. Of two about the same, the later one stays."""
    iterator, num_added, number = iter(made), 0, 0
    while batch := list(islice(iterator, BATCH)):
        num_added += store.write(partial(_put, made=batch))
        number += len(batch)
    return DecisionsReport(num_added, number - num_added)


def decisions_in(path: str | Path) -> Iterator[Decision]:
    """Yield the decisions in a file, as ``decisions --format jsonl`` writes them; ``-`` is standard input.

    Raises: PathMissing; SourceUnreadable: the file cannot be read, or a line holds no decision.
    """
    decoder = msgspec.json.Decoder(Decision)
    with _opened(path) as stream:
        for number in count(1):
            try:
                line = stream.readline(MAX_LINE)
            except OSError as error:
                raise SourceUnreadable(path=path, reason=reason_of(error)) from None
            if not line:
                return
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, UsageError) as error:
                reason = f"line {number:,} holds no decision: {error}"
                raise SourceUnreadable(path=path, reason=reason) from None


def _opened(path: str | Path) -> AbstractContextManager[BinaryIO]:
    if str(path) == STDIN_NAME:
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise PathMissing(path=path) from None
    except OSError as error:
        raise SourceUnreadable(path=path, reason=reason_of(error)) from None


def _put(transaction: Transaction, made: Sequence[Decision]) -> int:
    """Returns: how many were stored."""
    return sum(decisions.put(transaction, one) is not None for one in made)
