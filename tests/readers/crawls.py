"""Small WARCs and ARCs for the tests."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path

DATE = "2024-05-06T07:08:09Z"
WORDS = "The quick brown fox jumps over the lazy dog and runs away into the dark forest. " * 5


def page(number: int) -> bytes:
    """Return a page with a unique text."""
    return f"<!doctype html><html><body><p>Page {number}. {WORDS}</p></body></html>".encode()


def response(
    uri: str,
    body: bytes,
    *headers: tuple[str, str],
    status: str = "200 OK",
    kind: str = "text/html; charset=utf-8",
    gzip: bool = True,
    date: str = DATE,
) -> bytes:
    """Return a response record with the content type `kind` and additional headers."""
    fields = [("Content-Type", kind), *headers] if kind else list(headers)
    http = "".join(f"{name}: {value}\r\n" for name, value in fields)
    block = f"HTTP/1.1 {status}\r\n{http}\r\n".encode() + body
    return record("response", uri, block, kind="application/http; msgtype=response", gzip=gzip, date=date)


def record(
    name: str,
    uri: str,
    block: bytes,
    *others: tuple[str, str],
    kind: str = "text/plain",
    gzip: bool = True,
    date: str = DATE,
) -> bytes:
    """Return a record with additional header fields, optionally compressed."""
    more = "".join(f"{field}: {value}\n" for field, value in others)
    header = f"""WARC/1.1
WARC-Type: {name}
WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>
WARC-Date: {date}
WARC-Target-URI: {uri}
Content-Type: {kind}
{more}Content-Length: {len(block)}

"""
    raw = header.replace("\n", "\r\n").encode() + block + b"\r\n\r\n"
    return zlib.compress(raw, wbits=31) if gzip else raw


def revisit(
    uri: str,
    *,
    refers_to: tuple[str, str] | None = None,
    profile: str = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
    status: str = "200 OK",
    kind: str = "text/html",
    date: str = DATE,
) -> bytes:
    """Return a revisit record with the header of a response. Args: refers_to: the address and date of a capture."""
    fields = [("WARC-Profile", profile)]
    if refers_to is not None:
        named, named_at = refers_to
        fields += [("WARC-Refers-To-Target-URI", named), ("WARC-Refers-To-Date", named_at)]
    header = f"HTTP/1.1 {status}\r\n" + (f"Content-Type: {kind}\r\n" if kind else "") + "\r\n"
    block = header.encode() if status else b""
    return record("revisit", uri, block, *fields, kind="application/http; msgtype=response", date=date)


def crawl(count: int, *, gzip: bool = True, date: str = DATE) -> list[bytes]:
    """Return the records of pages ``http://a.org/0``, ``http://a.org/1``, ..."""
    return [response(f"http://a.org/{number}", page(number), gzip=gzip, date=date) for number in range(count)]


def arc_head(version: int = 1, *, gzip: bool = True) -> bytes:
    """Return the first record of an ARC."""
    names = "URL IP-address Archive-date Content-type "
    if version == 2:
        names += "Result-code Checksum Location Offset Filename "
    described = f"{version} 0 Tests\n{names}Archive-length\n".encode()
    return arc_record("filedesc://tests.arc", described, kind="text/plain", version=version, gzip=gzip)


def arc_response(uri: str, body: bytes, *, kind: str = "text/html", version: int = 1, gzip: bool = True) -> bytes:
    """Return a record of an ARC with a response."""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + body
    return arc_record(uri, block, version=version, gzip=gzip)


def arc_record(
    uri: str,
    block: bytes,
    *,
    kind: str = "text/html",
    date: str = "20240506070809",
    version: int = 1,
    gzip: bool = True,
) -> bytes:
    """Return a record of an ARC, optionally compressed."""
    more = " 200 - - 0 tests.arc" if version == 2 else ""
    raw = f"{uri} 1.2.3.4 20240506070809 {kind}{more} {len(block)}\n".encode() + block + b"\n"
    return zlib.compress(raw, wbits=31) if gzip else raw


def arc_crawl(count: int, *, version: int = 1, gzip: bool = True) -> list[bytes]:
    """Return an ARC with the same pages as `crawl`; its first record describes the file."""
    pages = [arc_response(f"http://a.org/{n}", page(n), version=version, gzip=gzip) for n in range(count)]
    return [arc_head(version, gzip=gzip), *pages]


def numbers(*wanted: int) -> list[str]:
    """Return the ids of these pages of a crawl."""
    return [f"http://a.org/{number}" for number in wanted]


def write(path: Path, records: Sequence[bytes]) -> Path:
    """Write a file of these records."""
    path.write_bytes(b"".join(records))
    return path


def shared_folder(name: str) -> Path | None:
    """Return a folder of test data outside the repository, or None if it does not exist.

    ``LSHDB_TEST_DATA`` names it. The default is ``shared/data`` next to the checkout.
    """
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("LSHDB_TEST_DATA", beside)) / name
    return folder if folder.is_dir() else None
