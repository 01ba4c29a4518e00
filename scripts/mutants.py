"""Plant faults, one at a time, and count those that the tests notice: ``python -m scripts.mutants [MODULE ...]``.

mutmut makes the faults. This script says which tests belong to which module, so that each fault costs seconds, and
takes a sample of the faults. It works on a copy in build/mutants, and writes the results there, one file a module. A
fault that the tests did not notice is shown by ``--show``.

Limitations: mutmut leaves out functions with a decorator and what is outside of functions, such as constants. Lines
about progress and the fields of errors are left out here: a fault in them neither loses nor invents data.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from mutmut.configuration import reset_config
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.stats import status_by_exit_code
from mutmut.utils.format_utils import get_mutant_name

ROOT = Path(__file__).parent.parent
WORK = ROOT / "build" / "mutants"
FOLDERS = ("tests", "migrations", "sample_data", "docs", "scripts")

# Tests of several modules. mutmut runs only those that call the function with the fault.
LINKING = ("tests/linking", "tests/store/test_graph.py", "tests/test_thresholds.py")
AUDIT = ("tests/audit/test_faults.py", "tests/cli/test_check.py", "tests/test_thresholds.py")
SOURCES = ("tests/audit/test_sources.py", "tests/audit/test_faults.py", "-k", "not restores")
VERIFY = ("tests/cli/test_verify.py", "tests/test_thresholds.py", "-k", "verify or verified")
CLUSTERS = ("tests/clusters/test_keep.py", "tests/cli/test_clusters.py", "tests/test_thresholds.py")
MEMBERS = ("tests/clusters/test_members.py", "tests/cli/test_clusters.py")
FILTERED = ("tests/clusters/test_filter.py", "tests/clusters/test_deleted_files.py", "-k", "not killed")

# The tests of each module take about ten seconds of processor time together. They need no Postgres.
TESTS: Mapping[str, Sequence[str]] = {
    "lshdb/ingest/plan.py": ("tests/ingest/test_plan.py",),
    "lshdb/ingest/make.py": ("tests/ingest/test_make.py",),
    "lshdb/ingest/write.py": ("tests/ingest/test_writer.py", "tests/ingest/test_write.py"),
    "lshdb/ingest/ingest.py": ("tests/ingest/test_ingest.py",),
    "lshdb/ingest/removal.py": ("tests/ingest/test_removal.py",),
    "lshdb/linking/buckets.py": LINKING,
    "lshdb/linking/candidates.py": ("tests/linking",),
    "lshdb/linking/comparison.py": LINKING,
    "lshdb/linking/components.py": ("tests/linking",),
    "lshdb/linking/few.py": ("tests/linking/test_few.py", "tests/test_thresholds.py", "-k", "test_few or stored"),
    "lshdb/linking/jaccard.py": ("tests/linking/test_jaccard.py", "tests/linking/test_families.py"),
    "lshdb/linking/link.py": ("tests/linking/test_link.py", "tests/test_thresholds.py", "-k", "test_link or stored"),
    "lshdb/linking/pending.py": ("tests/linking/test_pending.py",),
    "lshdb/linking/rereading.py": ("tests/linking/test_rereading.py",),
    "lshdb/linking/spool.py": ("tests/linking/test_spool.py",),
    "lshdb/store/retrying.py": ("tests/store/test_retrying.py",),
    "lshdb/store/tables/documents.py": ("tests/store/test_documents.py", "tests/store/test_dated_documents.py"),
    "lshdb/store/tables/claims.py": ("tests/store/test_claims.py", "tests/store/test_dated_documents.py"),
    "lshdb/store/tables/sources.py": ("tests/store/test_sources.py",),
    "lshdb/store/tables/graph.py": (
        "tests/store/test_linked_tables.py",
        "tests/store/test_graph.py",
        "tests/store/test_samples.py",
    ),
    "lshdb/store/tables/answers.py": ("tests/store/test_answers.py",),
    "lshdb/audit/audit.py": AUDIT,
    "lshdb/audit/contents.py": AUDIT,
    "lshdb/audit/digests.py": ("tests/audit/test_digests.py", "-k", "not killed and not older"),
    "lshdb/audit/missing.py": AUDIT,
    "lshdb/audit/origin.py": SOURCES,
    "lshdb/audit/pairs.py": AUDIT,
    "lshdb/audit/passages.py": ("tests/passages/test_incremental.py", "-k", "wrong_fingerprints"),
    "lshdb/audit/repair.py": AUDIT,
    "lshdb/audit/rows.py": AUDIT,
    "lshdb/audit/sources.py": SOURCES,
    "lshdb/audit/verify.py": VERIFY,
    "lshdb/clusters/arrange.py": CLUSTERS,
    "lshdb/clusters/clusters.py": CLUSTERS,
    "lshdb/clusters/export.py": ("tests/cli/test_export.py",),
    "lshdb/clusters/keep.py": CLUSTERS,
    "lshdb/clusters/members.py": MEMBERS,
    "lshdb/clusters/tabular.py": ("tests/clusters/test_tabular.py",),
    "lshdb/clusters/rows/compression.py": ("tests/clusters/test_compression.py",),
    "lshdb/clusters/rows/delimited.py": FILTERED,
    "lshdb/clusters/rows/files.py": FILTERED,
    "lshdb/clusters/rows/filtering.py": FILTERED,
    "lshdb/clusters/rows/folder.py": FILTERED,
    "lshdb/clusters/rows/judging.py": FILTERED,
    "lshdb/clusters/rows/lines.py": ("tests/clusters/test_filtered_lines.py",),
    "lshdb/clusters/rows/opened.py": FILTERED,
    "lshdb/clusters/rows/parquet.py": ("tests/clusters/test_filtered_parquet.py",),
    "lshdb/clusters/rows/shards.py": FILTERED,
    "lshdb/clusters/rows/stream.py": FILTERED,
    "lshdb/clusters/rows/verdicts.py": ("tests/clusters/test_verdicts.py",),
    "lshdb/clusters/rows/warc.py": ("tests/clusters/test_filtered_warc.py",),
    "lshdb/readers/fields.py": ("tests/readers/test_fields.py", "tests/readers/test_jsonl.py"),
    "lshdb/readers/jsonl.py": ("tests/readers/test_jsonl.py", "tests/readers/test_fields.py"),
    "lshdb/readers/naming.py": ("tests/readers/test_naming.py",),
    "lshdb/readers/rows.py": ("tests/readers/test_parquet.py", "tests/readers/test_fields.py", "-k", "not memory"),
    "lshdb/readers/walk.py": ("tests/readers/test_folder.py", "tests/readers/test_naming.py"),
}

NOTHING_TESTED = "could not find any test case for any mutant"

CONFIG = """
[tool.mutmut]
source_paths = ["lshdb"]
only_mutate = [{module}]
also_copy = {copied}
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"
timeout_multiplier = 5.0
do_not_mutate_patterns = ['_progress\\.', '^\\s*raise ', '^\\s*assert ', 'cast\\(']
"""


def main() -> None:
    """Run the faults of the modules, and print a table of how many the tests noticed."""
    asked = _arguments()
    modules = [module for module in TESTS if not asked.modules or any(module.startswith(one) for one in asked.modules)]
    if asked.show:
        for module in modules:
            _show(module)
        return
    for module in modules:
        _prepare(module)
        names = _survivors(_results(module)) if asked.survivors else _sample(_names(module), asked.sample, asked.seed)
        if names:
            _run(module, names, anew=not asked.survivors)
        print(_row(module, _results(module)), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Count the planted faults that the tests notice.")
    parser.add_argument("modules", nargs="*", help="modules or folders, such as lshdb/linking; all by default")
    parser.add_argument("--sample", type=int, default=40, help="at most this many faults of a module; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--survivors", action="store_true", help="run those again that were not noticed before")
    parser.add_argument("--show", action="store_true", help="run nothing, and print those that were not noticed")
    return parser.parse_args()


def _folder(module: str) -> Path:
    return WORK / module.removesuffix(".py").replace("/", ".")


def _results_file(module: str) -> Path:
    return WORK / f"{_folder(module).name}.json"


def _prepare(module: str) -> None:
    """Make a new folder for the faults of a module, with a copy of the repository, which may change meanwhile."""
    folder = _folder(module)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("lshdb", *FOLDERS):
        shutil.copytree(ROOT / name, folder / name)
    # Where an installed package has them. Otherwise the ones of the repository are imported.
    shutil.copytree(ROOT / "migrations", folder / "lshdb" / "migrations")
    tests = [*TESTS[module], "-m", "not postgres"]
    config = CONFIG.format(module=json.dumps(module), copied=json.dumps(list(FOLDERS)), tests=json.dumps(tests))
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text() + config)


def _names(module: str) -> list[str]:
    """Return the names of all faults of a module."""
    os.chdir(_folder(module))
    reset_config()
    made = mutate_file_contents(module, (ROOT / module).read_text())
    return [get_mutant_name(Path(module), name) for name in made.mutant_names]


def _sample(names: list[str], size: int, seed: int) -> list[str]:
    return names if not size or len(names) <= size else random.Random(seed).sample(names, size)


def _run(module: str, names: Sequence[str], *, anew: bool) -> None:
    """Run these faults, and add their results to the file of the module."""
    folder = _folder(module)
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    codes = json.loads((folder / "mutants" / f"{module}.meta").read_text())["exit_code_by_key"]
    if NOTHING_TESTED in done.stdout:
        codes = dict.fromkeys(codes, pytest.ExitCode.NO_TESTS_COLLECTED)
    elif done.returncode:
        sys.exit(f"{module}: mutmut failed\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    found = {name: status_by_exit_code[codes[name]] for name in names}
    before = {} if anew else _results(module)
    _results_file(module).write_text(json.dumps(before | found, indent=1))


def _results(module: str) -> dict[str, str]:
    """Return how each fault that was run ended."""
    file = _results_file(module)
    return dict(json.loads(file.read_text())) if file.exists() else {}


def _survivors(results: Mapping[str, str]) -> list[str]:
    return [name for name, status in results.items() if status in ("survived", "no tests")]


def _show(module: str) -> None:
    for name in _survivors(_results(module)):
        command = [sys.executable, "-m", "mutmut", "show", name]
        shown = subprocess.run(command, cwd=_folder(module), capture_output=True, text=True).stdout
        print(name, *_changed(shown.splitlines()), sep="\n")


def _changed(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def _row(module: str, results: Mapping[str, str]) -> str:
    noticed = len(results) - len(_survivors(results))
    return f"{module:40} {noticed:4} of {len(results):4} {100 * noticed / max(1, len(results)):5.0f} %"


if __name__ == "__main__":
    main()
