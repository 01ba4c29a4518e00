"""Which files of a walk are wanted, by glob patterns.

A pattern is matched against the path below the root (``docs/a/b.html``) and against the name alone (``b.html``): where
either fits, it fits. ``*`` and ``?`` match a slash too, ``[abc]`` is one of these, upper and lower case differ: the
rules of Python's fnmatch. A folder that an exclude pattern fits is not entered. A file that was named itself is matched
by its name.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

__all__ = ["Globs"]


class Globs:
    """Include and exclude patterns, compiled."""

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _compiled(include)
        self._exclude = _compiled(exclude)

    def takes(self, path: str, name: str) -> bool:
        """Whether a file is wanted: an include pattern fits, if there are any, and no exclude pattern does."""
        wanted = self._include is None or _fits(self._include, path, name)
        return wanted and self.enters(path, name)

    def enters(self, path: str, name: str) -> bool:
        """Whether no exclude pattern fits."""
        return self._exclude is None or not _fits(self._exclude, path, name)


def _compiled(patterns: Sequence[str]) -> re.Pattern[str] | None:
    # "docs/" means the folder, as a shell completes it.
    tidied = [pattern.removeprefix("./").rstrip("/") for pattern in patterns]
    return re.compile("|".join(map(fnmatch.translate, tidied))) if tidied else None


def _fits(pattern: re.Pattern[str], path: str, name: str) -> bool:
    return pattern.match(name) is not None or pattern.match(path) is not None
