"""What lshdb is compared with; each runs as a process of its own: ``python -m benchmarks.peers.NAME``."""
