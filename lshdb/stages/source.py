"""A source file as the manifest and the tasks name it."""

from __future__ import annotations

from typing import Self

import msgspec

from lshdb.readers import SourceFile
from lshdb.readers.naming import uri_path

__all__ = ["Source"]


class Source(msgspec.Struct, frozen=True):
    """A file, without its path: that follows from the URI, which may hold any bytes. Args: as of `SourceFile`."""

    uri: str
    size: int
    mtime_ns: int
    root: str

    @classmethod
    def of(cls, file: SourceFile) -> Self:
        """Return a file in this form."""
        return cls(file.uri, file.size, file.mtime_ns, file.root)

    @property
    def file(self) -> SourceFile:
        """The file."""
        return SourceFile(self.uri, uri_path(self.uri), self.size, self.mtime_ns, self.root)
