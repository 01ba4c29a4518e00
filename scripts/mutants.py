"""Plant faults, one at a time, and count those that the tests notice: ``python -m scripts.mutants [MODULE ...]``.

mutmut makes the faults. This script says which tests belong to which module and takes a sample of the faults, and
`scripts.planting` tries them, half a second each. Each module has a folder in build/mutants with a copy of the
repository, which may change meanwhile, and with the results. ``--show`` prints the faults that no test noticed, and
``--again`` tries only these, with the tests of today, unless the module has changed.

A fault that changes no answer cannot be noticed, and does not count: `equivalent.toml` names these with the reasons.

Limitations: mutmut leaves out functions with a decorator and what is outside of functions, such as constants. Lines
about progress and the fields of errors are left out here: a fault in them neither loses nor invents data.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name

from scripts.planting import ENVIRONMENT

ROOT = Path(__file__).parent.parent
WORK = ROOT / "build" / "mutants"
FOLDERS = ("lshdb", "tests", "migrations", "sample_data", "docs", "scripts")

# Tests of several modules. Only those that call the function with the fault are run.
LINKING = ("tests/linking", "tests/store/test_graph.py", "tests/test_thresholds.py")
AUDIT = ("tests/audit/test_faults.py", "tests/cli/test_check.py", "tests/test_thresholds.py")
REPAIR = (*AUDIT, "tests/passages/test_incremental.py", "-k", "faults or check or thresholds or wrong_fingerprints")
SOURCES = ("tests/audit/test_sources.py", "tests/audit/test_faults.py", "-k", "not restores")
VERIFY = ("tests/audit/test_reverification.py", "tests/cli/test_verify.py", "tests/test_thresholds.py", "-k", "veri")
CLUSTERS = ("tests/clusters/test_keep.py", "tests/cli/test_clusters.py", "tests/test_thresholds.py")
MEMBERS = ("tests/clusters/test_members.py", "tests/cli/test_clusters.py", "tests/passages/test_contained_clusters.py")
CUT = ("tests/clusters/test_boilerplate.py", "-k", "not broken_off")
FILTERS = (
    "tests/clusters/test_filter.py",
    "tests/clusters/test_deleted_files.py",
    "tests/clusters/test_filtered_warc.py",
)
FILTERED = (*FILTERS, "-k", "not killed")

# The tests of each module take about ten seconds of processor time together. They need no Postgres.
TESTS: Mapping[str, Sequence[str]] = {
    "lshdb/answers/many.py": ("tests/answers/test_many.py",),
    "lshdb/answers/sorting.py": ("tests/answers/test_sorting.py",),
    "lshdb/sketch/winnowing.py": ("tests/sketch/test_winnowing.py",),
    "lshdb/ingest/plan.py": ("tests/ingest/test_plan.py",),
    "lshdb/ingest/make.py": ("tests/ingest/test_make.py",),
    "lshdb/ingest/write.py": ("tests/ingest/test_writer.py", "tests/ingest/test_write.py"),
    "lshdb/ingest/ingest.py": ("tests/ingest/test_ingest.py",),
    "lshdb/ingest/removal.py": ("tests/ingest/test_removal.py",),
    "lshdb/linking/buckets.py": LINKING,
    "lshdb/linking/candidates.py": ("tests/linking",),
    "lshdb/linking/comparison.py": LINKING,
    "lshdb/linking/components.py": ("tests/linking",),
    "lshdb/linking/delta.py": LINKING,
    "lshdb/linking/few.py": ("tests/linking/test_few.py", "tests/test_thresholds.py", "-k", "test_few or stored"),
    "lshdb/linking/jaccard.py": ("tests/linking/test_jaccard.py", "tests/linking/test_families.py"),
    "lshdb/linking/link.py": ("tests/linking/test_link.py", "tests/test_thresholds.py", "-k", "test_link or stored"),
    "lshdb/linking/pending.py": ("tests/linking/test_pending.py",),
    "lshdb/linking/rereading.py": ("tests/linking/test_rereading.py",),
    "lshdb/linking/spool.py": ("tests/linking/test_spool.py",),
    "lshdb/store/retrying.py": ("tests/store/test_retrying.py",),
    "lshdb/store/merging.py": ("tests/store/test_generations.py",),
    "lshdb/store/tables/decisions.py": ("tests/clusters/test_decisions.py",),
    "lshdb/store/tables/documents.py": ("tests/store/test_documents.py", "tests/store/test_dated_documents.py"),
    "lshdb/store/tables/claims.py": ("tests/store/test_claims.py", "tests/store/test_dated_documents.py"),
    "lshdb/store/tables/sources.py": ("tests/store/test_sources.py",),
    "lshdb/store/tables/generations.py": ("tests/store/test_generations.py",),
    "lshdb/store/tables/graph.py": (
        "tests/store/test_linked_tables.py",
        "tests/store/test_graph.py",
        "tests/store/test_samples.py",
    ),
    "lshdb/store/tables/answers.py": ("tests/store/test_answers.py",),
    "lshdb/audit/audit.py": AUDIT,
    "lshdb/audit/contents.py": AUDIT,
    "lshdb/audit/digests.py": ("tests/audit/test_digests.py", "-k", "not killed and not older"),
    "lshdb/audit/missing.py": ("tests/audit/test_missing.py", "tests/audit/test_faults.py"),
    "lshdb/audit/origin.py": SOURCES,
    "lshdb/audit/pairs.py": AUDIT,
    "lshdb/audit/passages.py": ("tests/passages/test_incremental.py", "-k", "wrong_fingerprints"),
    "lshdb/audit/repair.py": REPAIR,
    "lshdb/audit/rows.py": AUDIT,
    "lshdb/audit/sources.py": SOURCES,
    "lshdb/audit/verify.py": VERIFY,
    "lshdb/clusters/arrange.py": (*CLUSTERS, "tests/clusters/test_arrange.py"),
    "lshdb/clusters/clusters.py": (*CLUSTERS, "tests/passages/test_contained_clusters.py"),
    "lshdb/clusters/containers.py": ("tests/clusters/test_containers.py",),
    "lshdb/clusters/export.py": ("tests/cli/test_export.py",),
    "lshdb/clusters/keep.py": CLUSTERS,
    "lshdb/clusters/members.py": MEMBERS,
    "lshdb/clusters/tabular.py": ("tests/clusters/test_tabular.py",),
    "lshdb/clusters/rows/boilerplate.py": CUT,
    "lshdb/clusters/rows/columns.py": CUT,
    "lshdb/clusters/rows/compression.py": ("tests/clusters/test_compression.py",),
    "lshdb/clusters/rows/delimited.py": ("tests/clusters/test_filter.py", CUT[0], "-k", "sv or cells"),
    "lshdb/clusters/rows/files.py": ("tests/clusters/test_deleted_files.py",),
    "lshdb/clusters/rows/filtering.py": (
        "tests/clusters/test_boilerplate.py",
        *FILTERED[:-1],
        "not killed and not broken_off",
    ),
    "lshdb/clusters/rows/folder.py": ("tests/clusters/test_out_folder.py",),
    "lshdb/clusters/rows/judging.py": FILTERED,
    "lshdb/clusters/rows/lines.py": ("tests/clusters/test_filtered_lines.py",),
    "lshdb/clusters/rows/opened.py": ("tests/clusters/test_opened.py", "tests/clusters/test_filtered_stream.py"),
    "lshdb/clusters/rows/parquet.py": ("tests/clusters/test_filtered_parquet.py", CUT[0], "-k", "parquet"),
    "lshdb/clusters/rows/rewriting.py": CUT,
    "lshdb/clusters/rows/shards.py": FILTERED,
    "lshdb/clusters/rows/stream.py": ("tests/clusters/test_filtered_stream.py",),
    "lshdb/clusters/rows/verdicts.py": ("tests/clusters/test_verdicts.py",),
    "lshdb/clusters/rows/warc.py": ("tests/clusters/test_filtered_warc.py",),
    "lshdb/readers/fields.py": ("tests/readers/test_fields.py", "tests/readers/test_jsonl.py"),
    "lshdb/readers/jsonl.py": ("tests/readers/test_jsonl.py", "tests/readers/test_fields.py"),
    "lshdb/readers/naming.py": ("tests/readers/test_naming.py",),
    "lshdb/readers/rows.py": ("tests/readers/test_parquet.py", "tests/readers/test_fields.py", "-k", "not memory"),
    "lshdb/readers/walk.py": ("tests/readers/test_folder.py", "tests/readers/test_naming.py"),
}

UNNOTICED: Final = ("survived", "no tests")

# By module, the lines of faults that change no answer, with the reason.
EQUIVALENT: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads((ROOT / "scripts" / "equivalent.toml").read_text())
# Arguments that only check the code itself or save time.
NEEDLESS: Final = re.compile(r"(strict|assume_unique)=\w+")


def main() -> None:
    """Run the faults of the modules, and print a table of how many the tests noticed."""
    asked = _arguments()
    chosen = [module for module in TESTS if not asked.modules or module.startswith(tuple(asked.modules))]
    folders = [_Folder(module, WORK / module.removesuffix(".py").replace("/", ".")) for module in chosen]
    if asked.show:
        for folder in folders:
            folder.show()
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(folder.run, asked.sample, asked.seed, again=asked.again) for folder in folders]
        for run in runs:
            print(run.result(), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Count the planted faults that the tests notice.")
    parser.add_argument("modules", nargs="*", help="modules or folders, such as lshdb/linking; all by default")
    parser.add_argument("--sample", type=int, default=60, help="at most this many faults of a module; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="try only those that were not noticed last time")
    parser.add_argument("--show", action="store_true", help="run nothing, and print those that were not noticed")
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class _Folder:
    """A copy of the repository in which a module has all its faults. One of them acts at a time, or none."""

    module: str
    path: Path

    def run(self, sample: int, seed: int, *, again: bool) -> str:
        """Try a sample of the faults, and return a line about them. Raises: RuntimeError: the tests fail anyway."""
        before: dict[str, str] = json.loads(self._results.read_text())["faults"] if again else {}
        made = mutate_file_contents(self.module, (ROOT / self.module).read_text())
        if again and made.code != (self.path / self.module).read_text():
            raise RuntimeError(f"{self.module} has changed, so its faults are others; run it without --again")
        names = [get_mutant_name(Path(self.module), name) for name in made.mutant_names]
        chosen = [name for name in before if before[name] in UNNOTICED] if again else _sample(names, sample, seed)
        plan = self._prepare(made.code, chosen)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "scripts.planting", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, *TESTS[self.module], "-m", "not postgres"],
            cwd=self.path,
            env={**os.environ, "PYTHONPATH": str(self.path), ENVIRONMENT: str(plan)},
            capture_output=True,
            text=True,
        )
        if not self._results.exists():
            raise RuntimeError(f"{self.module}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        found = json.loads(self._results.read_text())
        self._results.write_text(json.dumps(found | {"faults": before | found["faults"]}, indent=1))
        return self._row()

    def _prepare(self, code: str, names: Sequence[str]) -> Path:
        """Copy the repository with code that has all faults. Returns: a file with the names of those to be tried."""
        shutil.rmtree(self.path, ignore_errors=True)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, self.path / name)
        # Where an installed package has them. Otherwise the ones of the repository are imported.
        shutil.copytree(ROOT / "migrations", self.path / "lshdb" / "migrations")
        shutil.copy2(ROOT / "pyproject.toml", self.path)
        (self.path / self.module).write_text(code)
        plan = self.path / "faults.json"
        plan.write_text(json.dumps(names))
        return plan

    @property
    def _results(self) -> Path:
        return self.path / "results.json"

    def _row(self) -> str:
        found = json.loads(self._results.read_text())
        endings = list(found["faults"].values())
        noticed = sum(ending not in UNNOTICED for ending in endings)
        num_counting = noticed + sum(not reason for _, _, reason in self._unnoticed())
        return (
            f"{self.module:40} {noticed:4} of {num_counting:4} {100 * noticed / max(1, num_counting):5.0f} %, "
            f"{len(endings) - num_counting:2} equivalent, {endings.count('timeout'):2} by timeout, "
            f"{found['seconds']:5.1f} s of tests"
        )

    def show(self) -> None:
        """Print the faults that no test noticed, and that change an answer."""
        if not self._results.exists():
            return
        for name, lines, reason in self._unnoticed():
            if not reason:
                print(name, *lines, sep="\n")

    def _unnoticed(self) -> Iterator[tuple[str, list[str], str]]:
        """Yield the faults that no test noticed: name, changed lines, and the reason if it changes no answer."""
        source = (self.path / self.module).read_text()
        for name, ending in json.loads(self._results.read_text())["faults"].items():
            if ending in UNNOTICED:
                diff = get_diff_for_mutant(name, source=source, path=self.module).splitlines()
                lines = [line for line in diff[2:] if line[:1] in "+-"]
                yield f"{name} ({ending})", lines, _reason(self.module, lines)


def _reason(module: str, lines: Sequence[str]) -> str:
    """Return why a fault changes no answer, or nothing. Args: lines: with a plus or minus sign, as in a diff."""
    before, after = ([line[1:].strip() for line in lines if line[0] == sign] for sign in "-+")
    if [NEEDLESS.sub("", line) for line in before] == [NEEDLESS.sub("", line) for line in after]:
        return "a check of the code itself, or a hint"
    return EQUIVALENT.get(module, {}).get(" ".join(after), "")


def _sample(names: list[str], size: int, seed: int) -> list[str]:
    return names if not size or len(names) <= size else random.Random(seed).sample(names, size)


if __name__ == "__main__":
    main()
