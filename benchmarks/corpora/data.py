"""Create real corpora for the benchmarks from Debian's documentation and source packages, and from Python packages.

`crawl` creates a folder of unmodified HTML pages. `jsonl` creates a file with one JSON object ``{"id", "text"}`` per
line. `versions` creates such a file from Python packages in two versions each, so that most texts have near-duplicates.

Packages are downloaded once, with ``apt-get download`` and ``pip download``, and unpacked into a cache folder, without
installing them: Debian's to ``*.deb``, and each package to ``x/NAME/``. The corpus depends only on the versions of the
packages: they are read in the order below, and their files in the order of their paths.

Texts are never repeated to reach a size. Duplicates are dropped and counted.
Limitation: all but `versions` need Debian or Ubuntu with apt sources, and use the versions of that release.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.html import HTMLTree

DEFAULT_CACHE: Final = Path("~/.cache/lshdb-benchmarks")

CRAWL_PACKAGES: Final = (
    "postgresql-doc-15",
    "python3.11-doc",
    "openjdk-17-doc",
    "debian-handbook",
    "python-django-doc",
    "git-doc",
    "sqlite3-doc",
)

# Documentation first, then source code until the size is reached.
TEXT_PACKAGES: Final = (
    *CRAWL_PACKAGES,
    "linux-doc-6.1",
    "llvm-14-doc",
    "erlang-doc",
    "libboost1.74-doc",
    "qtbase5-doc-html",
    "anarchism",
    "perl-doc",
    "cmake-doc",
    "octave-doc",
    "libstdc++-12-doc",
    "ghc-doc",
    "rust-doc",
    "golang-1.19-src",
    "rust-src",
    "emacs-el",
    "erlang-src",
    "linux-source-6.1",
)

# Two versions each: generated clients, an orchestrator's modules, libraries with their tests.
WHEELS: Final = (
    *("ansible==9.13.0", "ansible==10.7.0"),
    *("apache-airflow==2.9.3", "apache-airflow==2.10.3"),
    *("django==4.2.16", "django==5.1.3"),
    *("kubernetes==30.1.0", "kubernetes==31.0.0"),
    *("matplotlib==3.8.4", "matplotlib==3.9.2"),
    *("nova==29.0.0", "nova==30.0.0"),
    *("numpy==1.26.4", "numpy==2.1.3"),
    *("oci==2.130.0", "oci==2.138.0"),
    *("pandas==2.1.4", "pandas==2.2.3"),
    *("scikit-learn==1.4.2", "scikit-learn==1.5.2"),
    *("scipy==1.13.1", "scipy==1.14.1"),
    *("sqlalchemy==2.0.30", "sqlalchemy==2.0.36"),
    *("sympy==1.12", "sympy==1.13.3"),
    *("twisted==23.10.0", "twisted==24.10.0"),
)

HTML_SUFFIXES: Final = frozenset({".html", ".htm", ".xhtml"})
TEXT_SUFFIXES: Final = frozenset(
    {".c", ".cc", ".cpp", ".el", ".erl", ".go", ".h", ".hpp", ".hrl", ".java", ".md", ".pl", ".pm", ".pod", ".py"}
    | {".rs", ".rst", ".s", ".texi", ".txt", ".1", ".2", ".3", ".5", ".7", ".8"}
)
TEXT_STEMS: Final = ("changelog", "news", "readme")

MAX_FILE_BYTES: Final = 1_000_000
MIN_TEXT_BYTES: Final = 1_000  # redirects and stubs; a document is typically 1 to 100 kB
MEGABYTE: Final = 1_000_000


@dataclass
class Tally:
    """The size of a corpus, and how many files were left out, by reason."""

    documents: int = 0
    bytes: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str) -> None:
        """Count a file that is not in the corpus."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1

    def report(self, what: str, seconds: float) -> str:
        """Return a line for people: documents, megabytes, and files left out by reason."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.left_out.items())) or "nothing"
        return (
            f"{what}: {self.documents} documents, {self.bytes / MEGABYTE:.1f} MB, in {seconds:.0f} s; "
            f"left out: {reasons}"
        )


def unpacked(package: str, cache: Path) -> Path:
    """Return the folder of the unpacked package. Download and unpack it first if necessary.

    Raises:
        subprocess.CalledProcessError: apt or dpkg failed.
    """

    def unpack(folder: Path) -> None:
        subprocess.run(["dpkg", "-x", str(archive(package, cache)), str(folder)], check=True)
        unpack_inner_archives(folder)

    return filled(cache / "x" / package, unpack)


def unpacked_wheel(wheel: str, cache: Path) -> Path:
    """Return the folder of an unpacked wheel. Download and unpack it first if necessary. Args: wheel: NAME==VERSION.

    Raises:
        subprocess.CalledProcessError: pip failed.
    """

    def unpack(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as downloaded:
            options = ("--quiet", "--no-deps", "--only-binary=:all:", f"--dest={downloaded}")
            subprocess.run([sys.executable, "-m", "pip", "download", *options, wheel], check=True, stdout=sys.stderr)
            (archive,) = Path(downloaded).glob("*.whl")
            shutil.unpack_archive(archive, folder, "zip")

    return filled(cache / "x" / wheel, unpack)


def filled(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Return a folder that exists, or that `fill` has filled completely."""
    if not folder.is_dir():
        partial = folder.with_name(folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        fill(partial)
        partial.rename(folder)
    return folder


def archive(package: str, cache: Path) -> Path:
    """Return the package's .deb file in the cache. Download it first if necessary."""
    cache.mkdir(parents=True, exist_ok=True)
    if not (found := sorted(cache.glob(f"{package}_*.deb"))):
        subprocess.run(["apt-get", "download", "-qq", package], cwd=cache, check=True, stdout=sys.stderr)
        found = sorted(cache.glob(f"{package}_*.deb"))
    return found[-1]


def unpack_inner_archives(folder: Path) -> None:
    """Unpack the source tarballs inside a package, and delete them."""
    for tarball in sorted(folder.rglob("*.tar.xz")):
        if not tarball.is_symlink():
            subprocess.run(["tar", "-xJf", str(tarball), "-C", str(tarball.parent)], check=True)
            tarball.unlink()


def files(folder: Path) -> Iterator[Path]:
    """Yield the regular files under a folder, sorted by path. Skip links, so that no file occurs twice."""
    for parent, names, leaves in os.walk(folder):
        names.sort()
        for leaf in sorted(leaves):
            path = Path(parent, leaf)
            if path.is_file() and not path.is_symlink():
                yield path


def make_crawl(target: Path, cache: Path) -> Tally:
    """Write the HTML pages of `CRAWL_PACKAGES` to ``target/PACKAGE/path``."""
    tally = Tally()
    for package in CRAWL_PACKAGES:
        root = unpacked(package, cache)
        for page in files(root):
            if page.suffix.lower() in HTML_SUFFIXES:
                place(page, target / package / page.relative_to(root))
                tally.documents += 1
                tally.bytes += page.stat().st_size
    return tally


def place(page: Path, target: Path) -> None:
    """Create a hard link to a page, or a copy if the cache is on another file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(page)
    except OSError:
        shutil.copyfile(page, target)


def make_jsonl(target: Path, folders: Iterable[tuple[str, Path]], megabytes: float = math.inf) -> Tally:
    """Write ``{"id", "text"}`` lines until the texts reach the given size in UTF-8."""
    tally = Tally()
    with target.open("wb") as out:
        for document_id, text in distinct_texts(folders, tally):
            out.write(msgspec.json.encode({"id": document_id, "text": text}) + b"\n")
            if tally.bytes >= megabytes * MEGABYTE:
                break
    return tally


def distinct_texts(folders: Iterable[tuple[str, Path]], tally: Tally) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of each text file of packages, each distinct text once, and count them in the tally."""
    seen: set[bytes] = set()
    for package, root in folders:
        before = tally.bytes
        for path in files(root):
            text = text_of(path, tally)
            if text is not None and is_new(text, seen, tally):
                yield f"{package}/{path.relative_to(root)}", text
        print(f"  {package}: {(tally.bytes - before) / MEGABYTE:.1f} MB of text", file=sys.stderr)


def text_of(path: Path, tally: Tally) -> str | None:
    """Return the text of a file. If it is not a text or too large, count it and return None."""
    if (kind := kind_of(path)) is None:
        tally.leave_out("of other types")
        return None
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if len(content) > MAX_FILE_BYTES:
        tally.leave_out("over 1 MB")
        return None
    text = page_text(content) if kind == "html" else plain_text(content)
    if text is None:
        tally.leave_out("not UTF-8 text")
    return text


def kind_of(path: Path) -> str | None:
    """Return ``html`` or ``text`` by the name of a file, ignoring ``.gz``, or None for anything else."""
    name = Path(path.name.lower().removesuffix(".gz"))
    if name.suffix in HTML_SUFFIXES:
        return "html"
    return "text" if name.suffix in TEXT_SUFFIXES or name.name.startswith(TEXT_STEMS) else None


def page_text(content: bytes) -> str:
    """Return the main text of an HTML page."""
    tree = HTMLTree.parse_from_bytes(content, detect_encoding(content) or "utf-8")
    return str(extract_plain_text(tree, main_content=True))


def plain_text(content: bytes) -> str | None:
    """Return the file as text, or None if it is not UTF-8 or contains NUL."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def is_new(text: str, seen: set[bytes], tally: Tally) -> bool:
    """Return whether a text is long enough and not a duplicate. Count it either way."""
    encoded = text.encode()
    digest = hashlib.blake2b(encoded, digest_size=16).digest()
    if len(encoded) < MIN_TEXT_BYTES or digest in seen:
        tally.leave_out("duplicates" if digest in seen else f"under {MIN_TEXT_BYTES} bytes of text")
        return False
    seen.add(digest)
    tally.documents += 1
    tally.bytes += len(encoded)
    return True


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.data", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    crawl = commands.add_parser("crawl", help="a folder of HTML pages")
    jsonl = commands.add_parser("jsonl", help="a file of texts, one JSON object per line")
    versions = commands.add_parser("versions", help="a file of the texts of Python packages, in two versions each")
    crawl.add_argument("target", type=Path, metavar="DIR")
    jsonl.add_argument("target", type=Path, metavar="FILE")
    versions.add_argument("target", type=Path, metavar="FILE")
    jsonl.add_argument("--megabytes", type=float, default=550.0, help="size of the texts (default 550)")
    for command in (crawl, jsonl, versions):
        command.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help=f"packages (default {DEFAULT_CACHE})")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Create the corpus and print its size."""
    asked, started = parsed(arguments), time.perf_counter()
    cache = asked.cache.expanduser().resolve()
    if asked.command == "crawl":
        tally = make_crawl(asked.target, cache)
    elif asked.command == "jsonl":
        packages = ((package, unpacked(package, cache)) for package in TEXT_PACKAGES)
        tally = make_jsonl(asked.target, packages, asked.megabytes)
    else:
        tally = make_jsonl(asked.target, ((wheel, unpacked_wheel(wheel, cache)) for wheel in WHEELS))
    print(tally.report(str(asked.target), time.perf_counter() - started))
    if asked.command == "jsonl" and tally.bytes < asked.megabytes * MEGABYTE:
        print(f"the packages contain only {tally.bytes / MEGABYTE:.1f} MB", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
