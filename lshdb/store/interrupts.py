"""Makes sure that Ctrl-C is not lost.

Python raises KeyboardInterrupt wherever the main thread is. In a finalizer, or in a function called by C code such as a
driver's callback for notices, the exception is printed and the program continues. So the handler also remembers the
Ctrl-C, and the next transaction raises it again.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

__all__ = ["heard", "listen", "raise_missed"]

_came = threading.Event()


def listen() -> None:
    """Remember every Ctrl-C from now on, unless this process ignores it or handles it in another way."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def raise_missed() -> None:
    """Raises: KeyboardInterrupt: there was one that nobody has `heard`. Only the main thread is ever interrupted."""
    if _came.is_set() and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def heard() -> None:
    """Forget the Ctrl-C: the caller is stopping the work."""
    _came.clear()


def _interrupt(number: int, frame: FrameType | None) -> None:
    _came.set()
    signal.default_int_handler(number, frame)
