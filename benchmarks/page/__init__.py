"""Generate docs/benchmarks.md from the records of a run."""
