"""The program that extracts the text of pages; `extraction` runs it as a process and sets its limits.

It imports nothing of lshdb, so that it starts in 0.1 s.

Protocol: each request on standard input is a `REQUEST` header and a page, each answer on standard output an `ANSWER`
header and a text, both in UTF-8. The process ends with its input. If a page takes more processor time than its request
allows, the system kills the process, in compiled code too.
"""

from __future__ import annotations

import resource
import signal
import struct
import sys
from typing import Final

from resiliparse.extract.html2text import extract_plain_text

__all__ = ["ANSWER", "REQUEST", "extract"]

REQUEST: Final = struct.Struct("<?dQ")  # whether only the main content is wanted, processor seconds, bytes
ANSWER: Final = struct.Struct("<?Q")  # whether the text is the reason of a failure, bytes

# 1.1 million table rows in a page of 10 MB, the largest that lshdb reads, take 1.1 GB. 500 open formatting elements and
# 300,000 paragraphs, each of which repeats them, would take 15 GB.
MAX_MEMORY_BYTES: Final = 2_000_000_000


def extract(page: str, *, main_content: bool) -> str:
    """Return the main content of a page, or all its text.

    A page without main content yields all its text. Of 3,000 pages of documentation, these were 8 lists of links.
    """
    return (_extract(page, main_content=True) if main_content else "") or _extract(page, main_content=False)


def _extract(page: str, *, main_content: bool) -> str:
    # preserve_formatting: without it the words of neighbouring cells and items run together. List bullets, links,
    # alternative texts and form fields are left out, because they differ between copies of the same content.
    text: str = extract_plain_text(
        page, preserve_formatting=True, main_content=main_content, list_bullets=False, alt_texts=False
    )
    return text


def _serve() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # They are for the caller, which then closes the input.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, resource.RLIM_INFINITY))
    while header := sys.stdin.buffer.read(REQUEST.size):
        main_content, seconds, num_bytes = REQUEST.unpack(header)
        failed, text = _attempt(sys.stdin.buffer.read(num_bytes).decode(), main_content, seconds)
        encoded = text.encode("utf-8", "replace")
        sys.stdout.buffer.write(ANSWER.pack(failed, len(encoded)) + encoded)
        sys.stdout.buffer.flush()


def _attempt(page: str, main_content: bool, seconds: float) -> tuple[bool, str]:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return False, extract(page, main_content=main_content)
    except BaseException as error:  # A panic of compiled Rust is not an Exception.
        return True, f"{error}" or type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    _serve()
