"""Ctrl-C that is not lost.

Python raises KeyboardInterrupt wherever the main thread is. Is that a function which C code called, as the driver's
for a notice of Postgres, or a finalizer, then the exception is printed and the program goes on. So the handler
remembers it too, and the next transaction raises it again.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

__all__ = ["heard", "listen", "raise_missed"]

_came = threading.Event()


def listen() -> None:
    """Remembers a Ctrl-C from now on; a process that is to ignore it, or handles it in another way, is left alone."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def raise_missed() -> None:
    """Raises: KeyboardInterrupt: one came that nobody has `heard`; in the main thread, which alone is interrupted."""
    if _came.is_set() and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def heard() -> None:
    """Forgets it: who called this ends what was going on."""
    _came.clear()


def _interrupt(number: int, frame: FrameType | None) -> None:
    _came.set()
    signal.default_int_handler(number, frame)
