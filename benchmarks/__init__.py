"""Benchmarks: real corpora, an exact oracle, recall and speed. Not part of the package."""
