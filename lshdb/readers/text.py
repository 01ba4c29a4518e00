"""Read plain text and source code: one file is one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, cast

from lshdb.model.values import Document
from lshdb.readers.base import ReadOptions, Rejection, SourceFile, too_large
from lshdb.readers.bytes.decoding import decode
from lshdb.readers.bytes.sniffing import looks_like_text
from lshdb.readers.bytes.streams import ByteStream, read_whole
from lshdb.readers.naming import file_doc_id

__all__ = ["TextReader"]

PROSE = ".txt .text .md .markdown .rst .log .adoc .asciidoc .org .tex .bib .po .srt .vtt .eml .me .nfo .1 .7 .man"
CODE = """
.py .pyi .pyx .c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .cs .java .kt .kts .scala .groovy .go .rs .zig .swift .d .nim
.js .mjs .cjs .jsx .ts .tsx .vue .svelte .css .scss .sass .less .php .phtml .rb .pl .pm .lua .tcl .r .jl .m4 .awk .sed
.sh .bash .zsh .fish .ps1 .bat .cmd .sql .hs .lhs .ml .mli .fs .fsx .erl .hrl .ex .exs .clj .cljs .lisp .el .scm .rkt
.f .f90 .f95 .for .pas .ada .adb .ads .asm .s .v .vhd .vhdl .cu .cl .glsl .cmake .mk .make .gradle .proto .thrift
.toml .yaml .yml .ini .cfg .conf .properties .xml .xsl .xsd .dtd .tmpl .j2 .diff .patch
"""


class TextReader:
    """Reads a text file as one document. A byte order mark names its charset; otherwise it is UTF-8."""

    name = "text"
    suffixes = tuple(PROSE.split() + CODE.split())
    textual = True
    holds_records = False

    def recognises(self, head: bytes) -> bool:
        """Return whether the head is UTF-8 without unusual control characters, or has a byte order mark."""
        return looks_like_text(head)

    def read(self, source: SourceFile, stream: BinaryIO, options: ReadOptions) -> Iterator[Document | Rejection]:
        """Yield one document, or one Rejection if the file is too large."""
        raw = read_whole(stream, options.max_text)
        if raw is None:
            is_plain = cast(ByteStream, stream).origin is not None
            yield Rejection(source.uri, "", too_large(options.max_text, source.size if is_plain else None))
            return
        text, num_replaced = decode(raw)
        yield Document(file_doc_id(source, options), text, source=source.uri, num_replaced=num_replaced)
