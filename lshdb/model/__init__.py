"""Frozen values that pass between the packages: documents, signatures, parameters, reports. No I/O, no SQL."""
