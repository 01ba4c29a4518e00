"""Pack a folder of HTML pages into one WARC file, which must give the same answers as the folder.

    python -m benchmarks.corpora.pack FOLDER OUT.warc.gz

Every page becomes a response record with the target URI ``https://crawl.example/PATH``. PATH is relative to the folder
and percent-encoded. As crawlers do, it compresses each record separately. Dates are the files' modification times.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

SITE = "https://crawl.example/"


def pages(folder: Path) -> Iterator[Path]:
    """Return the HTML files under a folder, sorted by path."""
    return (path for path in sorted(folder.rglob("*.htm*")) if path.is_file())


def pack(folder: Path, out: Path) -> int:
    """Write the WARC file. Return the number of pages."""
    num_pages = 0
    with out.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for path in pages(folder):
            writer.write_record(response(writer, folder, path))
            num_pages += 1
    return num_pages


def response(writer: WARCWriter, folder: Path, path: Path) -> object:
    """Return the record of a page."""
    seen = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    http = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    return writer.create_warc_record(
        SITE + quote(path.relative_to(folder).as_posix()),
        "response",
        payload=io.BytesIO(path.read_bytes()),
        http_headers=http,
        warc_headers_dict={"WARC-Date": seen},
    )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    print(f"{arguments.out}: {pack(arguments.folder, arguments.out)} pages")


if __name__ == "__main__":
    main()
