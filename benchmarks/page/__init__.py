"""docs/benchmarks.md, made from the records of the runs and from nothing else."""
