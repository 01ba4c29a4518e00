"""Write captures as CDXJ, the index format of pywb: ``SURT TIMESTAMP {"url": ..., "offset": ..., "filename": ...}``.

All values are strings, as pywb writes them. The file is named without its folder, as its tools do. lshdb does not know
the digest of a page as it was received, nor the compressed length of a record, and leaves both out; pywb then reads the
record from its offset to its end. A record in the middle of a compressed member has no offset of its own, so lshdb
leaves that out too.

Limitation: lines come in the order of the ids. A CDXJ file must be sorted: pipe it through ``LC_ALL=C sort``.
"""

from __future__ import annotations

import json
import re
from typing import Final

from lshdb.answers.captures import Capture
from lshdb.answers.surt import surt
from lshdb.readers.naming import uri_path

__all__ = ["cdxj_line"]

OFFSET: Final = re.compile(r"offset (\d+)")
NOT_DIGITS: Final = re.compile(r"[^0-9]")
TIMESTAMP_DIGITS: Final = 14


def cdxj_line(capture: Capture) -> str:
    """Return the line of a capture, without a line end."""
    fields = {"url": capture.address}
    if (offset := OFFSET.fullmatch(capture.locator)) is not None:
        fields["offset"] = offset[1]
    if capture.source is not None:
        fields["filename"] = uri_path(capture.source).name
    timestamp = NOT_DIGITS.sub("", capture.date)[:TIMESTAMP_DIGITS]
    # ASCII, because a lone surrogate in a name cannot be written as UTF-8.
    return f"{surt(capture.address)} {timestamp} {json.dumps(fields)}"
