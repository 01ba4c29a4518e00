"""How this process gets memory from the system."""

from __future__ import annotations

import sys
from typing import Final

__all__ = ["share_one_arena"]

# Parameters of mallopt(3), and our values for them. By default, each thread that sketches or compares texts keeps the
# largest arrays that it ever had, so a link of 640 MB of text took 1,050 MB, and takes 800. The thresholds keep arrays
# of up to 32 MB from being mapped and cleared again for each part of the texts: 0.2 s less in the kernel.
SETTINGS: Final = {"M_ARENA_MAX": (-8, 1), "M_MMAP_THRESHOLD": (-3, 32 << 20), "M_TRIM_THRESHOLD": (-1, 128 << 20)}


def share_one_arena() -> None:
    """Let all threads share one heap, if the C library is glibc. Call it before they start."""
    import ctypes

    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        for parameter, value in SETTINGS.values():
            mallopt(parameter, value)
