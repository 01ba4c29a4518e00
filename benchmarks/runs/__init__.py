"""Measurements, one module each; most are commands, `python -m benchmarks.runs.NAME`."""
