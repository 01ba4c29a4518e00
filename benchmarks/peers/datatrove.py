"""datatrove's MinHash pipeline on disk: signatures, buckets and clusters, run by its local executor.

It uses the words of the other peers, and of its normalisation, only lower-casing is on; as documented, it splits
English with spaCy, and normalises as it does by default. It parallelises by file, so the file is split for several
workers. It answers with clusters, because it lists only neighbours within each bucket; all documents of a cluster count
as pairs.
"""

from __future__ import annotations

import shutil
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.utils.text import TextNormConfig
from datatrove.utils.typeshelper import Languages
from datatrove.utils.word_tokenizers import WordTokenizer

from benchmarks.peers import shingles
from benchmarks.peers.figures import read_records
from benchmarks.peers.protocol import BANDS, ROWS, SEED, SHINGLE_SIZE, Answer, Task, run

AS_IT_IS = TextNormConfig(
    norm_whitespace=False, remove_punctuation=False, norm_unicode_diacritics=False, norm_numbers=False
)
DOCUMENTED = MinhashConfig(n_grams=SHINGLE_SIZE, num_buckets=BANDS, hashes_per_bucket=ROWS, seed=SEED)
CONFIG = replace(DOCUMENTED, norm_config=AS_IT_IS)


class Words(WordTokenizer):  # type: ignore[misc]
    """A tokenizer with the words of the other peers."""

    def word_tokenize(self, text: str) -> list[str]:
        """Return the words, in order."""
        return shingles.words(text)

    def sent_tokenize(self, text: str) -> list[str]:
        """Return the text as a single sentence."""
        return [text]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        """Return the span of the single sentence."""
        return [(0, len(text))]


def divided(task: Task) -> Path:
    """Split the file into one file per worker and return their folder."""
    folder = task.work / "documents"
    folder.mkdir()
    parts = [(folder / f"{number:05}.jsonl").open("wb") for number in range(task.workers)]
    with task.file.open("rb") as lines:
        for part, line in zip(cycle(parts), lines, strict=False):
            part.write(line)
    for part in parts:
        part.close()
    return folder


def execute(task: Task, name: str, steps: list[PipelineStep], tasks: int) -> None:
    """Run one stage of the pipeline."""
    logs = str(task.work / "logs" / name)
    LocalPipelineExecutor(steps, tasks=tasks, workers=min(task.workers, tasks), logging_dir=logs).run()


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the clusters. Their files identify a document by its line in a file."""
    folder = divided(task)
    signatures, buckets, found = (str(task.work / name) for name in ("signatures", "buckets", "clusters"))
    config, language = (DOCUMENTED, Languages.english) if task.documented else (CONFIG, Words())
    sign = [JsonlReader(str(folder)), MinhashDedupSignature(signatures, config, language=language)]
    execute(task, "sign", sign, task.workers)
    execute(task, "buckets", [MinhashDedupBuckets(signatures, buckets, config=config)], BANDS)
    execute(task, "cluster", [MinhashDedupCluster(buckets, found, config=config, save_cluster_id=True)], 1)
    clusters = defaultdict[int, list[str]](list)
    for part in sorted(Path(found).glob("*.clusters")):
        ids = [record.id for record in read_records(folder / f"{int(part.stem):05}.jsonl")]
        for row, cluster in struct.iter_unpack("<2I", part.read_bytes()):
            clusters[cluster].append(ids[row])
    # The copy of the documents is not part of the result.
    shutil.rmtree(folder)
    yield from (Answer(cluster=members) for members in clusters.values())


if __name__ == "__main__":
    run(duplicates)
