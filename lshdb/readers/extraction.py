"""The text of a page, at a bounded cost.

Markup can make the parser take time, or memory, that grows with the square of the page's size. A list of such markup
would never be complete, so lshdb bounds the work itself: it parses a page in another process, which the system kills
when the page has used up its processor time or its memory. The limits grow with the size of the page and leave
ordinary markup a margin of five (see benchmarks/runs/nesting.py). Small pages cannot cost much, and are parsed here.

A limit on open elements, checked before parsing, would need no process. But only a complete parser knows which end tags
count: others are inside comments, attributes, scripts or lists of options, or are ignored where they stand.

Limitation: whether a page just at its limit is rejected depends on the speed of the processor.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from lshdb.model.params import HtmlText
from lshdb.readers import extractor
from lshdb.readers.base import Unfit

__all__ = ["Extractor", "page_text", "processor_seconds"]

# Characters. No page of this size takes longer than a page in the process may. For 6,700 pages of documentation, whose
# mean is 28,000, the process costs 5 % of the time.
SMALL_PAGE: Final = 4_000

# Processor time. The densest ordinary page of 10 MB, 1.1 million table rows, takes 3.7 s; documentation 0.18 s per MB.
BASE_SECONDS: Final = 0.25
SECONDS_PER_CHARACTER: Final = 2e-6


def page_text(page: str, html: HtmlText) -> str:
    """Return the visible text of a page: its main content, or all its text.

    A page without main content yields all its text.

    Raises: Unfit: the page takes too much time or memory to parse, or breaks the parser.
    """
    if len(page) > SMALL_PAGE:
        return _process.extract(page, html)
    try:
        return extractor.extract(page, main_content=html == "main")
    except BaseException as error:
        # A panic of compiled Rust is not an Exception; it costs one page, not the run.
        if type(error).__name__ != "PanicException":
            raise
        raise Unfit(f"the parser failed: {error}") from None


def processor_seconds(page: str) -> float:
    """Return how much processor time the process may spend on a page."""
    return BASE_SECONDS + SECONDS_PER_CHARACTER * len(page)


class Extractor:
    """The process that parses, started when it is first needed and again after it was killed. Threads take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def extract(self, page: str, html: HtmlText) -> str:
        """Return the visible text of a page. Raises: Unfit: as `page_text`."""
        encoded, seconds = page.encode("utf-8", "replace"), processor_seconds(page)
        header = extractor.REQUEST.pack(html == "main", seconds, len(encoded))
        with self._lock:
            process = self._process = self._process or _start()
            try:
                answer = _asked(process, header + encoded)
            except BaseException:  # Interrupted half-way: the next answer would be the one to this page.
                self._end()
                raise
            if answer is None:
                raise Unfit(_cause(self._end(), seconds))
        failed, text = answer
        if failed:
            raise Unfit(f"the parser failed: {text}")
        return text

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._end()

    def _end(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(BrokenPipeError):
                _open(pipe).close()
        return process.wait()


def _start() -> subprocess.Popen[bytes]:
    # By its path, and not as a module: importing lshdb takes longer than importing the parser. -P keeps the folder of
    # the readers, one of which is called html, off the import path.
    command = [sys.executable, "-P", str(Path(extractor.__file__))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _asked(process: subprocess.Popen[bytes], request: bytes) -> tuple[bool, str] | None:
    """Return whether the parser failed, and the text or the reason; None if the process died."""
    requests, answers = _open(process.stdin), _open(process.stdout)
    with suppress(BrokenPipeError):
        requests.write(request)
        requests.flush()
    header = answers.read(extractor.ANSWER.size)
    if len(header) < extractor.ANSWER.size:
        return None
    failed, num_bytes = extractor.ANSWER.unpack(header)
    return failed, answers.read(num_bytes).decode()


def _cause(status: int | None, seconds: float) -> str:
    if status == -signal.SIGPROF:
        return f"takes too long to parse: more than {seconds:.1f} s of processor time"
    return f"crashes the parser: exit status {status}"


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


_process = Extractor()
atexit.register(_process.close)


def _forget() -> None:
    # A forked process must not use its parent's pipes.
    global _process
    _process = Extractor()


os.register_at_fork(after_in_child=_forget)
