"""One search: which documents are on each side, and what they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lshdb.errors import SearchIncomplete, UsageError
from lshdb.model.overlap import Overlap, OverlapOptions
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.overlap.files import FileTraining
from lshdb.overlap.indexed import CollectionTraining
from lshdb.overlap.search import overlaps
from lshdb.overlap.tested import Tested, of_collection, of_files
from lshdb.overlap.training import JoinedTraining, Training
from lshdb.readers import ReadOptions, require_existing
from lshdb.store.transaction import Transaction

__all__ = ["Searching", "require_apart", "require_words"]


class Searching:
    """Searches training documents for runs of words of test documents.

    Args:
        params: of the index, if there is one.
        read: how to read files, and the sources of texts that are not kept.
        url: of the index, for a message.
    """

    def __init__(
        self, params: Params, read: ReadOptions, options: OverlapOptions, progress: Progress, url: str = ""
    ) -> None:
        self._params = params
        self._read = read
        self._options = options
        self._progress = progress
        self._url = url

    def overlaps(
        self, snapshot: Transaction | None, train: Sequence[str | Path], test: Sequence[str | Path]
    ) -> Iterator[Overlap]:
        """Return every test document with what it shares with the training documents.

        Args:
            snapshot: the index; None if both sides are files.
            train, test: collections of the index by their names, and files and folders by their Paths.

        Raises: PathMissing; SearchIncomplete, at the end.
        """
        require_existing([path for path in (*train, *test) if isinstance(path, Path)])
        return self._answers(snapshot, train, test)

    def _answers(
        self, snapshot: Transaction | None, train: Sequence[str | Path], test: Sequence[str | Path]
    ) -> Iterator[Overlap]:
        sides = [self._tested(snapshot, one) for one in test]
        training = self._training(snapshot, train)
        found = overlaps(sides, training, self._options)
        first = next(found, None)
        self._progress.done()
        if first is not None:
            yield first
        yield from found
        if unread := training.num_unread + sum(side.num_unread for side in sides):
            raise SearchIncomplete(num_unread=f"{unread:,}", url=self._url)

    def _tested(self, snapshot: Transaction | None, place: str | Path) -> Tested:
        if snapshot is None or isinstance(place, Path):
            return of_files(str(place), self._params, self._read, self._progress.rejected)
        return of_collection(snapshot, place, self._params, self._read)

    def _training(self, snapshot: Transaction | None, places: Sequence[str | Path]) -> Training:
        names = [one for one in places if isinstance(one, str)]
        paths = [str(one) for one in places if isinstance(one, Path)]
        sides: list[Training] = []
        if snapshot is not None and names:
            sides.append(
                CollectionTraining(snapshot, names, self._params, self._read, self._options.workers, self._progress)
            )
        if paths:
            sides.append(FileTraining(paths, self._params, self._read, self._options.workers, self._progress))
        return JoinedTraining(sides)


def require_words(params: Params) -> None:
    """Check that an index holds texts. Raises: UsageError: it holds sets of features, which have no order."""
    if params.shingle == "set":
        raise UsageError(reason="this index holds sets of features, which have no runs of words; use --measure jaccard")


def require_apart(train: Sequence[str | Path], test: Sequence[str | Path]) -> None:
    """Check that the two sides have no place in common. Raises: UsageError."""
    if set(train) & set(test):
        raise UsageError(
            reason="--train and --test name the same documents; `lshdb dupes --within` lists pairs of one collection"
        )
