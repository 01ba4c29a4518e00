"""What lshdb is compared with; each runs as a process of its own and prints one JSON object of figures."""
