"""Makes Ctrl-C and SIGTERM end the work cleanly, and makes sure that neither is lost.

Both raise KeyboardInterrupt, wherever the main thread is. In a finalizer, or in a function called by C code such as a
driver's callback for notices, the exception is printed and the program continues. So the handler also remembers the
signal, and the next transaction raises the exception again. A second signal ends the process at once.

While modules are imported, the exception waits: it would leave Python's lock of imports held, for which a thread that
imports waits for ever, or become an ImportError of a module written in C.
"""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Final

__all__ = ["SIGNALS", "heard", "is_interruption", "last", "listen", "raise_missed"]

# The signals that end a process in order.
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
# How long to wait before looking again whether modules are being imported.
IMPORT_SECONDS: Final = 0.01
# `timeout` sends its signal twice, to its child and to the child's process group. That is one wish to end.
REPEAT_SECONDS: Final = 1.0

_came = threading.Event()
_first: tuple[signal.Signals, float] | None = None
_repeat_seconds = REPEAT_SECONDS


def listen(repeat_seconds: float = REPEAT_SECONDS) -> None:
    """Handle every Ctrl-C and SIGTERM from now on, unless this process ignores them or handles them in another way.

    Args: repeat_seconds: a further signal within this time is part of the first one.
    """
    global _first, _repeat_seconds
    _first, _repeat_seconds = None, repeat_seconds
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)


def raise_missed() -> None:
    """Raises: KeyboardInterrupt: there was one that nobody has `heard`. Only the main thread is ever interrupted."""
    if _came.is_set() and threading.current_thread() is threading.main_thread():
        # The exception that waits for an import is this one.
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt


def is_interruption(error: BaseException | None) -> bool:
    """Return whether an error comes from a signal.

    If the signal came in a kernel, the KeyboardInterrupt is only a cause: Numba returns its result nevertheless, which
    Python reports as a SystemError.
    """
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def heard() -> None:
    """Forget the signal: the caller is stopping the work."""
    _came.clear()


def last() -> signal.Signals:
    """Return the signal that interrupted the work; SIGINT if no handler of ours was called."""
    return signal.SIGINT if _first is None else _first[0]


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _first
    if _first is None:
        _first = signal.Signals(number), time.monotonic()
        _came.set()
        _raise(number, frame)
    elif time.monotonic() - _first[1] >= _repeat_seconds:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


def _raise(_number: int, frame: FrameType | None) -> None:
    """Raises: KeyboardInterrupt, if nobody has `heard` the signal meanwhile.

    It waits for the imports that are under way, and while the signal is blocked, as when a process is started.
    """
    if not _came.is_set():
        return
    if _is_importing(frame) or last() in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, IMPORT_SECONDS)
    else:
        raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
