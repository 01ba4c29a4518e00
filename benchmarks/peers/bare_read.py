"""Read and decode a JSON lines file without keeping anything: the lower bound of any ingest.

python -m benchmarks.peers.bare_read FILE.jsonl
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.peers.figures import Figures, read_records, show


def main() -> None:
    """Print the number of documents and their size."""
    documents = num_bytes = 0
    for record in read_records(Path(sys.argv[1])):
        documents += 1
        num_bytes += record.num_bytes
    show(Figures(documents, num_bytes))


if __name__ == "__main__":
    main()
