"""When Numba is loaded, and kernels without a cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lshdb.sketch import kernels
from lshdb.sketch.kernels import reference

ROOT = Path(__file__).parents[3]

SKETCH = """
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.sketch.sketch import sketch
print(sketch([Document("a", text="hello world")], Params()).num_shingles.tolist())
"""


def run(code: str, folder: Path, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**inherited, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    ["sketch.kernels", "sketch.sketch", "linking.jaccard", "sketch.kernels.reference"],
)
def test_importing_the_pure_half_does_not_load_numba(module: str) -> None:
    code = f"import sys, lshdb.{module}; print('numba' in sys.modules)"
    assert run(code, ROOT) == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize(("num_bytes", "loads"), [(0, True), (12, True), (1_000, False)])
def test_the_reference_is_used_until_it_was_given_so_many_bytes(num_bytes: int, loads: bool) -> None:
    begin = f"from lshdb.sketch import kernels; kernels.begin_with_reference({num_bytes})"
    assert run(f"{begin}\n{SKETCH}\nimport sys; print('numba' in sys.modules)", ROOT) == f"[1]\n{loads}\n"


@pytest.mark.slow
def test_cached_kernels_load_nothing_of_what_numba_can_compile(tmp_path: Path) -> None:
    run(SKETCH, ROOT)  # Now they are cached.
    package = tmp_path / "scipy" / "linalg"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("__version__ = '1.16.0'\n")
    (package / "__init__.py").write_text("print('imported')\n")
    begin = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"
    ended = "print('numba' in sys.modules, 'numba.np.linalg' in sys.modules)"
    assert run(f"{begin}\n{SKETCH}\n{ended}", ROOT) == "[1]\nTrue False\n"


@pytest.mark.slow
def test_kernels_run_where_no_cache_folder_can_be_written(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "lshdb", tmp_path / "lshdb", ignore=shutil.ignore_patterns("__pycache__"))
    # A file in place of the folder, because permission bits do not stop root.
    (tmp_path / "lshdb" / "sketch" / "kernels" / "__pycache__").touch()
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), "/dev/null/cache")
    cache = "\nfrom lshdb.sketch.kernels.compilation import mix\nprint(type(mix._cache).__name__)\n"
    assert run(SKETCH + cache, tmp_path, **nowhere) == "[1]\nNullCache\n"


@pytest.mark.slow
@pytest.mark.parametrize("is_cached", [True, False])
def test_numba_is_not_asked_about_kernels_that_lie_beside_the_package(tmp_path: Path, is_cached: bool) -> None:
    shutil.copytree(ROOT / "lshdb", tmp_path / "lshdb", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "lshdb" / "sketch" / "kernels" / "__pycache__"
    cache.mkdir()
    if is_cached:
        (cache / "compiled_texts.fold-149.py311.nbi").touch()
    code = "from lshdb.sketch import compiled; compiled.import_module = print; compiled.compile_ahead()"
    ended = "import sys; print('numba' in sys.modules)"
    assert run(f"{code}\n{ended}", tmp_path) == ("False\n" if is_cached else "lshdb.sketch.loaded\nTrue\n")


# They fill structures that only they read. tests/overlap compares their results with brute force.
WITHOUT_REFERENCE = {"fill_filter", "find_ngrams", "follow_runs", "link_runs", "number_ngrams", "settle_runs", "tally"}


def test_every_other_kernel_has_a_reference_of_its_name() -> None:
    for name in kernels.__all__:
        assert callable(getattr(kernels, name))
        assert (name in reference.__all__) != (name in WITHOUT_REFERENCE)


def test_an_unknown_kernel_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_kernel"):
        kernels.no_such_kernel  # noqa: B018
