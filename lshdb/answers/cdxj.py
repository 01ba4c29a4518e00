"""Write captures as CDXJ, the index format of pywb: ``SURT TIMESTAMP {"url": ..., "offset": ..., "filename": ...}``.

As in pywb, all values are strings, and the file name has no folder. lshdb knows neither the digest of the response
nor the compressed length of a record, and omits both; pywb then reads the record from its offset to its end. The offset
is omitted too if the record begins in the middle of a compressed member.

Limitation: lines are in the order of the ids, but a CDXJ file must be sorted. Pipe them through ``LC_ALL=C sort``.
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
