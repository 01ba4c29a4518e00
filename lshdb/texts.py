"""How the text of a content is kept: one zstd frame of its UTF-8 bytes. Lone surrogates survive."""

from __future__ import annotations

import threading

import zstandard

__all__ = ["pack", "unpack"]

_LEVEL = 1

_thread = threading.local()


def pack(text: str) -> bytes:
    """The text as a zstd frame, which holds its length."""
    if not hasattr(_thread, "compressor"):
        _thread.compressor = zstandard.ZstdCompressor(level=_LEVEL)  # 30 us to make; not for two threads at once
    frame: bytes = _thread.compressor.compress(text.encode("utf-8", "surrogatepass"))
    return frame


def unpack(frame: bytes) -> str:
    """The text that `pack` was given."""
    if not hasattr(_thread, "decompressor"):
        _thread.decompressor = zstandard.ZstdDecompressor()
    content: bytes = _thread.decompressor.decompress(frame)
    return content.decode("utf-8", "surrogatepass")
