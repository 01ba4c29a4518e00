"""Measurements, one module each. Most are commands: `python -m benchmarks.runs.NAME`."""
