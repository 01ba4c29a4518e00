"""Announces that kernels are being compiled, because nothing else seems to happen for seconds.

A process has one receiver, because it compiles a kernel once, whatever indexes it has open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["announce", "announce_to"]

CACHED: Final = "compiling, once for this machine; this takes some seconds"
UNCACHED: Final = "compiling; name a writable folder with NUMBA_CACHE_DIR to spare later runs these seconds"

_receivers: list[Callable[[str], None]] = []


def announce_to(receiver: Callable[[str], None]) -> None:
    """Tell this receiver, and no other one, when the first kernel is compiled."""
    _receivers[:] = [receiver]


def announce(*, is_cached: bool) -> None:
    """A kernel is being compiled. Args: is_cached: whether other processes can use the result."""
    while _receivers:
        _receivers.pop()(CACHED if is_cached else UNCACHED)
