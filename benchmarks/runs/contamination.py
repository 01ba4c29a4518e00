"""Search a corpus for 40 questions of 40 words in every way that lshdb has, and by brute force; all must agree.

    python -m benchmarks.runs.contamination FILE.jsonl [--documents 100000] [--work DIR]

Of the questions, 20 stand verbatim in a document, 10 stand in one with one word changed, and 10 consist of words of the
corpus in random order. `contaminated` searches the file, and indexes in SQLite and Postgres, with and without kept
texts. Its figures must be those of the definition: words from Python's own Unicode tables, and each run of 13 looked up
in a set. The passage index must return every document that shares such a run.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.corpora.definition import words
from benchmarks.peers.figures import read_records
from benchmarks.runs.ingest import StepError, default_command, head, machine
from benchmarks.runs.processes import Watched, watch
from benchmarks.runs.servers import server
from lshdb import Document, Index

__all__ = ["Answer", "Question", "by_brute_force", "questions", "require_agreement"]

NGRAM: Final = 13
NUM_WORDS: Final = 40
PLANTED, CHANGED, UNRELATED = "planted", "changed", "unrelated"
KINDS: Final = {PLANTED: 20, CHANGED: 10, UNRELATED: 10}
# The place of the changed word: the longer part beside it has 26 words.
CHANGED_WORD: Final = 13


class Question(msgspec.Struct, frozen=True):
    """A test document. Its id begins with its kind."""

    id: str
    text: str


class Answer(msgspec.Struct):
    """What `contaminated` prints about a question."""

    test: str
    share: float
    longest: int
    num_train: int


@dataclass(slots=True)
class Runs:
    """What a question shares with the corpus. Args: covered: words that lie in a run; train: ids of documents."""

    longest: int = 0
    covered: set[int] = field(default_factory=set)
    train: set[str] = field(default_factory=set)


def questions(corpus: Path, seed: int = 1) -> list[Question]:
    """Return the questions, cut out of documents that are spread evenly over the corpus."""
    chance = random.Random(seed)
    texts = [found for record in read_records(corpus) if len(found := words(record.text)) > 2 * NUM_WORDS]
    sources = texts[:: max(1, len(texts) // sum(KINDS.values()))]
    made: list[Question] = []
    for kind in (kind for kind, count in KINDS.items() for _ in range(count)):
        source = sources[len(made)]
        first = chance.randrange(len(source) - NUM_WORDS)
        cut = source[first : first + NUM_WORDS]
        if kind == CHANGED:
            cut[CHANGED_WORD] = "changedword"
        elif kind == UNRELATED:
            cut = [chance.choice(chance.choice(sources)) for _ in range(NUM_WORDS)]
        made.append(Question(f"{kind}{len(made)}", " ".join(cut)))
    return made


def by_brute_force(corpus: Path, asked: Sequence[Question]) -> dict[str, Runs]:
    """Return what each question shares with the corpus, by definition."""
    places = defaultdict[str, list[tuple[int, int]]](list)
    split = [words(question.text) for question in asked]
    for number, mine in enumerate(split):
        for start in range(len(mine) - NGRAM + 1):
            places[" ".join(mine[start : start + NGRAM])].append((number, start))
    found = [Runs() for _ in asked]
    for record in read_records(corpus):
        theirs = words(record.text)
        for place in range(len(theirs) - NGRAM + 1):
            for number, start in places.get(" ".join(theirs[place : place + NGRAM]), ()):
                length = _length(split[number][start:], theirs[place : place + NUM_WORDS])
                found[number].longest = max(found[number].longest, length)
                found[number].covered.update(range(start, start + length))
                found[number].train.add(record.id)
    return {question.id: runs for question, runs in zip(asked, found, strict=True)}


def _length(mine: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many words two texts begin with in common."""
    return next((i for i, (one, other) in enumerate(zip(mine, theirs, strict=False)) if one != other), len(mine))


def require_agreement(way: str, answers: Sequence[Answer], truth: dict[str, Runs]) -> None:
    """Raises: StepError: an answer is not that of the definition."""
    said = {one.test: (one.share, one.longest, one.num_train) for one in answers}
    for test, runs in truth.items():
        if said[test] != (expected := (len(runs.covered) / NUM_WORDS, runs.longest, len(runs.train))):
            raise StepError(f"{way}: {test}: {said[test]} instead of {expected}")


def searched(train: str, asked: Path, db: str = "") -> tuple[list[Answer], Watched]:
    """Run `contaminated`. Args: train: a path, or a collection of the index `db`."""
    options = ["--test", str(asked), "--max-share", "1", "--all", "--format", "jsonl"]
    index = ["--db", db] if db else []
    watched = watch([default_command(), "--quiet", *index, "contaminated", "--train", train, *options])
    return msgspec.json.decode(f"[{','.join(watched.output.splitlines())}]", type=list[Answer]), watched


def ways(corpus: Path, asked: Path, work: Path) -> Iterator[tuple[str, list[Answer], Watched]]:
    """Yield the name, the answers and the cost of each search."""
    yield "file", *searched(str(corpus), asked)
    for texts in ("--keep-text", "--no-keep-text"):
        kept = texts.removeprefix("--").replace("-", " ")
        db = str(work / f"{kept}.db")
        _ingest(db, corpus, texts)
        yield f"SQLite, {kept}", *searched("default", asked, db)
        with server() as postgres, postgres.database() as url:
            _ingest(url, corpus, texts)
            yield f"Postgres, {kept}", *searched("default", asked, url)


def _ingest(db: str, corpus: Path, *options: str) -> None:
    watch([default_command(), "--quiet", "--db", db, "ingest", "--no-link", *options, str(corpus)])


def require_passages(corpus: Path, asked: Sequence[Question], truth: dict[str, Runs], work: Path) -> None:
    """Ask a passage index, too. Raises: StepError: it does not return a document that shares a run."""
    db = str(work / "passages.db")
    _ingest(db, corpus, "--passages", str(NGRAM))
    with Index.open(db) as index:
        for question in asked:
            found = {one.id for one in index.containing(Document("asked", question.text), 1e-9)}
            if missing := truth[question.id].train - found:
                raise StepError(f"passage index: {question.id}: {len(missing)} documents are missing")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 1 if a search disagrees."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.contamination")
    parser.add_argument("file", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--documents", type=int, default=100_000, metavar="N")
    parser.add_argument("--work", type=Path, help="folder for files and databases (default: a temporary one)")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        work = Path(folder)
        corpus, asked = head(given.file, given.documents, work / "corpus.jsonl"), work / "questions.jsonl"
        num_bytes = sum(record.num_bytes for record in read_records(corpus))
        print(f"{machine()}\n{given.documents:,} documents, {num_bytes / 1e6:,.0f} MB of text\n")
        made = questions(corpus)
        asked.write_bytes(b"".join(msgspec.json.encode(question) + b"\n" for question in made))
        try:
            report(corpus, made, asked, work)
        except StepError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


def report(corpus: Path, made: Sequence[Question], asked: Path, work: Path) -> None:
    """Print the cost of each search, and what it found. Raises: StepError."""
    truth = by_brute_force(corpus, made)
    for kind in KINDS:
        runs = [found for name, found in truth.items() if name.startswith(kind)]
        found, longest = sum(bool(one.train) for one in runs), sorted(one.longest for one in runs)
        print(f"{kind:10}{found:>4} of {len(runs)}, longest run {longest[0]} to {longest[-1]}")
    for way, answers, watched in ways(corpus, asked, work):
        require_agreement(way, answers, truth)
        print(f"{way:24}{watched.seconds:>8.1f} s{watched.cpu_seconds:>8.1f} s CPU{watched.peak_rss / 1e6:>8.0f} MB")
    require_passages(corpus, made, truth, work)
    print("All agree with brute force, and the passage index returns every document that shares a run.")


if __name__ == "__main__":
    sys.exit(main())
