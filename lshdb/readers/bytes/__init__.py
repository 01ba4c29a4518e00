"""Prepare bytes for readers: streams, decompression, character sets, and detection of formats."""
