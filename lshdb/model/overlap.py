"""The runs of words that test documents share with training documents."""

from __future__ import annotations

from dataclasses import dataclass

from lshdb.errors import InvalidParams

__all__ = ["DEFAULT_NGRAM", "Overlap", "OverlapOptions", "SharedRun", "Span", "TrainingMatch"]

DEFAULT_NGRAM = 13
MAX_NGRAM = 100
DEFAULT_MATCHES = 10
MAX_MATCHES = 1_000


@dataclass(frozen=True, slots=True)
class OverlapOptions:
    """What counts as an overlap, and how much of it to list.

    Args:
        ngram: how many words in a row two documents must share. A test document of fewer words must be contained as a
            whole.
        k: how many training documents to list for each test document. The others are counted. With 0, no training
            document is read again, so answers cost less.
        workers: processes that read training documents from files; None chooses the number.

    Raises: InvalidParams: a value is out of range.
    """

    ngram: int = DEFAULT_NGRAM
    k: int = DEFAULT_MATCHES
    workers: int | None = None

    def __post_init__(self) -> None:
        _check("ngram", self.ngram, MAX_NGRAM)
        _check("k", self.k, MAX_MATCHES, least=0)
        if self.workers is not None:
            _check("workers", self.workers, MAX_MATCHES)


@dataclass(frozen=True, slots=True)
class Span:
    """A run of words in a text: words [first_word, end_word), which are bytes [first_byte, end_byte) in UTF-8."""

    first_word: int
    end_word: int
    first_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True)
class SharedRun:
    """A run of words that a test document shares with a training document.

    It cannot be extended in the test document. If the training document has it several times, the first occurrence is
    given. A run whose words all lie in the runs before and after it is left out, unless it is the longest.

    Args:
        num_words: its length.
        test, train: where it is.
        passage: the run as the test document writes it.
    """

    num_words: int
    test: Span
    train: Span
    passage: str


@dataclass(frozen=True, slots=True)
class TrainingMatch:
    """A training document that shares runs of words with a test document.

    Args:
        train: its id.
        num_covered: how many words of the test document lie in one of the runs.
        longest: the number of words of the longest run.
        runs: the shared runs, in the order of the test document.
    """

    train: str
    num_covered: int
    longest: int
    runs: tuple[SharedRun, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """A test document, and what it shares with the training documents.

    Args:
        test: its id.
        collection: its collection, or the path it was read from.
        num_words: its number of words.
        num_covered: how many of them lie in a run of N words or more that some training document has too.
        longest: the number of words of the longest run that it shares with one training document; 0 for none.
        num_train: the number of training documents that share a run with it.
        train: the id of the training document with the longest run.
        passage: the longest run, as the test document writes it.
        matches: training documents: first the one with the longest run, then those that share most N-grams.
    """

    test: str
    collection: str
    num_words: int
    num_covered: int = 0
    longest: int = 0
    num_train: int = 0
    train: str | None = None
    passage: str | None = None
    matches: tuple[TrainingMatch, ...] = ()

    @property
    def share(self) -> float:
        """The share of its words that is covered; 0 for a document without words."""
        return self.num_covered / max(self.num_words, 1)

    @property
    def is_contaminated(self) -> bool:
        """Whether it shares a run with any training document."""
        return self.num_train > 0


def _check(name: str, value: int, most: int, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidParams(name=name, value=value, reason=f"it must be a whole number from {least} to {most:,}")
