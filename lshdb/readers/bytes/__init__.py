"""Bytes before they are text: streams, decompression, character sets, and telling what a file is."""
