"""From sources to sketches as rows, and back to the chunks that an ingest writes.

The rows of a chunk stay together and in order. The last one says how much was read for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lshdb.errors import SourceUnreadable, reason_of
from lshdb.ingest.floods import Floods
from lshdb.ingest.make import Chunk, SourceProgress, Task, cut, make
from lshdb.ingest.options import Budgets
from lshdb.model.arrays import row_offsets
from lshdb.model.params import Params
from lshdb.model.values import BandKeys, Document, Fingerprints, Rejection, Signatures, Sketches
from lshdb.readers import Part, ReadOptions, Revisit, SourceFile, parts
from lshdb.stages.columns import batch_of, binaries, matrix, minima, places
from lshdb.stages.schemas import PARTS, SKETCHES
from lshdb.stages.source import Source

__all__ = ["chunks", "document_rows", "large_files", "parts_of", "rows", "sketches", "split", "tasks"]

DOCUMENT: Final = "document"
REJECTED: Final = "rejected"
REVISIT: Final = "revisit"
SOURCE: Final = "source"
CHUNK: Final = "chunk"

TASK_FILES: Final = 10_000


class _Work(msgspec.Struct, frozen=True):
    """A source, or a part of one, as a task names it."""

    ordinal: int
    source: Source
    part: Part | None = None


def large_files(sources: Sequence[Source], first: int, most: int) -> list[str]:
    """Return a task for each file of more than `most` bytes, as JSON. Args: first: the ordinal of the first source."""
    return [_encoded([_Work(ordinal, source)]) for ordinal, source in enumerate(sources, first) if source.size > most]


def tasks(sources: Sequence[Source], first: int, parts: Mapping[int, Sequence[Part]], most: int) -> list[str]:
    """Return the work of each task, as JSON: a part of a file, a file, or several small files.

    Args:
        first: the ordinal of the first source.
        parts: of the sources that are read in parts, by ordinal.
        most: bytes of small files in one task.
    """
    groups: list[list[_Work]] = []
    num_bytes = most
    for ordinal, source in enumerate(sources, first):
        if ordinal in parts:
            groups += [[_Work(ordinal, source, part)] for part in parts[ordinal]]
            num_bytes = most
            continue
        if num_bytes + source.size > most or len(groups[-1]) >= TASK_FILES:
            groups.append([])
            num_bytes = 0
        groups[-1].append(_Work(ordinal, source))
        num_bytes += source.size
    return list(map(_encoded, groups))


def _encoded(works: list[_Work]) -> str:
    return msgspec.json.encode(works).decode()


def _works(batches: Iterator[pa.RecordBatch]) -> Iterator[list[_Work]]:
    """Yield the works of the tasks. Raises: SourceUnreadable: a source is not there, or has changed."""
    for batch in batches:
        for task in batch.column("task").to_pylist():
            works = msgspec.json.decode(task, type=list[_Work])
            for work in works:
                _require_same(work.source.file)
            yield works


def split(batches: Iterator[pa.RecordBatch], options: ReadOptions, most: int) -> Iterator[pa.RecordBatch]:
    """Yield the parts of the files that the tasks name, and nothing for a file that is read by one task.

    Args: most: bytes in a part.
    """
    for works in _works(batches):
        for work in works:
            found = [msgspec.json.encode(part).decode() for part in parts(work.source.file, options, most)]
            yield batch_of(PARTS, len(found), ordinal=np.full(len(found), work.ordinal), part=found)


def parts_of(rows: Iterator[pa.RecordBatch]) -> dict[int, list[Part]]:
    """Return the parts of each source that has several, in order, by its ordinal."""
    found: dict[int, list[Part]] = {}
    for batch in rows:
        for ordinal, part in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            found.setdefault(ordinal, []).append(msgspec.json.decode(part, type=Part))
    return found


def sketches(
    batches: Iterator[pa.RecordBatch], params: Params, options: ReadOptions, budgets: Budgets
) -> Iterator[pa.RecordBatch]:
    """Yield the sketches of the sources that the tasks name.

    Raises: SourceUnreadable: a source is not there, or has changed since the tasks were made.
    """
    for works in _works(batches):
        is_part = works[0].part is not None
        # Whether a source is given up depends on all of its parts. Loading decides it.
        within = replace(budgets, rejected_share=1.0) if is_part else budgets
        floods = Floods(within, None)
        reading = [Task(work.source.file, part=work.part) for work in works]
        done = floods.limited(make(cut(reading, options, within, floods.has), params, options, within))
        # There cannot be more documents than lines or rows before a part.
        before = {work.source.uri: work.part.first - 1 for work in works if work.part is not None}
        yield from rows(done, {work.source.uri: work.ordinal for work in works}, before)


def _require_same(source: SourceFile) -> None:
    try:
        found = source.path.stat()
    except OSError as error:
        reason = f"{reason_of(error)}; every machine has to see the files under the same paths"
        raise SourceUnreadable(path=source.path, reason=reason) from None
    if (found.st_size, found.st_mtime_ns) != (source.size, source.mtime_ns):
        raise SourceUnreadable(path=source.path, reason="it has changed since the work began; use a new work folder")


def rows(done: Iterator[Chunk], ordinals: Mapping[str, int], before: Mapping[str, int]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of chunks. Args: ordinals: of the sources, by URI. before: the first positions that are not 0."""
    positions = Counter(before)
    for chunk in done:
        place = [np.empty(0, np.int64)]
        for step in chunk.sources:
            uri = step.source.uri
            place.append(places(ordinals[uri], positions[uri], step.num_documents))
            positions[uri] += step.num_documents
        yield document_rows(chunk.documents, chunk.sketches, np.concatenate(place))
        yield _others(chunk)


def document_rows(found: Sequence[Document], made: Sketches, place: NDArray[np.int64]) -> pa.RecordBatch:
    """Return the rows of documents. Args: place: int64, shape (n,)."""
    prints = made.fingerprints
    parts = () if prints is None else np.split(prints.hashes, prints.offsets[1:-1])
    return batch_of(
        SKETCHES,
        len(found),
        kind=[DOCUMENT] * len(found),
        place=place,
        source=[one.source for one in found],
        locator=[one.locator for one in found],
        doc_id=[one.doc_id for one in found],
        dated_at=[one.dated_at for one in found],
        num_replaced=[one.num_replaced for one in found],
        digest=binaries(made.digests),
        num_shingles=made.num_shingles,
        signature=binaries(made.signatures.stored),
        buckets=binaries(made.band_keys.keys),
        **({} if prints is None else {"fingerprints": [part.tobytes() for part in parts[: len(found)]]}),
        **({} if made.texts is None else {"text": made.texts}),
    )


def _others(chunk: Chunk) -> pa.RecordBatch:
    """Return the rows of a chunk that are not documents."""
    listed = [(REJECTED, one.source, one.locator, one.reason) for one in chunk.rejections]
    listed += [(REVISIT, one.source, "", msgspec.json.encode(one).decode()) for one in chunk.revisits]
    listed += [(SOURCE, step.source.uri, "", _progress(step)) for step in chunk.sources]
    size = {"num_bytes": chunk.num_bytes, "num_skipped": chunk.num_skipped}
    listed.append((CHUNK, "", "", msgspec.json.encode(size).decode()))
    kind, source, locator, detail = map(list, zip(*listed, strict=True))
    return batch_of(SKETCHES, len(kind), kind=kind, source=source, locator=locator, detail=detail)


class _Progress(msgspec.Struct):
    num_items: int
    num_documents: int
    digest: str | None
    ended: bool
    opened: bool


def _progress(step: SourceProgress) -> str:
    digest = None if step.digest is None else step.digest.hex()
    return msgspec.json.encode(_Progress(step.num_items, step.num_documents, digest, step.ended, step.opened)).decode()


def chunks(batches: Iterator[pa.RecordBatch], params: Params, sources: Mapping[str, SourceFile]) -> Iterator[Chunk]:
    """Yield the chunks again whose rows these are. Args: batches: in order. sources: by URI."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        begin = 0
        kinds = batch.column("kind").to_pylist()
        for end in [at for at, kind in enumerate(kinds, 1) if kind == CHUNK]:
            held.append(batch.slice(begin, end - begin))
            yield _chunk(pa.concat_batches(held), params, sources)
            held, begin = [], end
        held.append(batch.slice(begin))


def _chunk(batch: pa.RecordBatch, params: Params, sources: Mapping[str, SourceFile]) -> Chunk:
    """Return the chunk of these rows."""
    kinds = np.asarray(batch.column("kind").to_pylist())
    documents = batch.take(pa.array(np.flatnonzero(kinds == DOCUMENT)))
    names = ("source", "locator", "detail")
    others = {
        kind: list(
            zip(*(batch.filter(pa.array(kinds == kind)).column(name).to_pylist() for name in names), strict=True)
        )
        for kind in (REJECTED, REVISIT, SOURCE, CHUNK)
    }
    size = msgspec.json.decode(others[CHUNK][0][2])
    return Chunk(
        documents=tuple(_found(documents)),
        sketches=_sketches(documents, params),
        rejections=tuple(Rejection(*fields) for fields in others[REJECTED]),
        sources=tuple(_step(sources[uri], detail) for uri, _, detail in others[SOURCE]),
        num_bytes=size["num_bytes"],
        num_skipped=size["num_skipped"],
        revisits=tuple(msgspec.json.decode(detail, type=Revisit) for _, _, detail in others[REVISIT]),
    )


def _step(source: SourceFile, detail: str) -> SourceProgress:
    kept = msgspec.json.decode(detail, type=_Progress)
    digest = None if kept.digest is None else bytes.fromhex(kept.digest)
    return SourceProgress(source, kept.num_items, kept.num_documents, digest, kept.ended, kept.opened)


def _found(documents: pa.RecordBatch) -> Iterator[Document]:
    names = ("doc_id", "source", "locator", "num_replaced", "dated_at")
    for doc_id, *others in zip(*(documents.column(name).to_pylist() for name in names), strict=True):
        yield Document(doc_id, "", None, *others)


def _sketches(documents: pa.RecordBatch, params: Params) -> Sketches:
    return Sketches(
        digests=matrix(documents.column("digest"), 16, np.uint8),
        num_shingles=documents.column("num_shingles").to_numpy(),
        signatures=Signatures(minima(documents, params).astype(np.uint32), params.scheme),
        band_keys=BandKeys(matrix(documents.column("buckets"), params.bands, np.uint64), params.first_band),
        texts=tuple(documents.column("text").to_pylist()) if params.keep_text else None,
        fingerprints=_fingerprints(documents) if params.passages else None,
    )


def _fingerprints(documents: pa.RecordBatch) -> Fingerprints:
    prints = [np.frombuffer(one, np.uint32) for one in documents.column("fingerprints").to_pylist()]
    sizes = np.asarray([len(one) for one in prints], dtype=np.int64)
    return Fingerprints(np.concatenate([np.empty(0, np.uint32), *prints]), row_offsets(sizes))
