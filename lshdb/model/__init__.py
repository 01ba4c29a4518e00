"""Frozen values that pass between the packages (documents, signatures, parameters, reports), and helpers that all use.

No I/O, no SQL.
"""
