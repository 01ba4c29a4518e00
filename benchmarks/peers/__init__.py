"""The tools that lshdb is compared with. Each is a command: ``python -m benchmarks.peers.NAME``."""
