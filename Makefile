# Requires Python 3.11 or newer with venv. Everything else is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/demo.db

# An environment without pip, as on Debian without python3-venv, is made again.
.DELETE_ON_ERROR:

.PHONY: demo test test-quick mutants lint docs bench bench-quick clean

demo: $(VENV)/.installed
	@rm -f $(DEMO) $(DEMO)-wal $(DEMO)-shm
	$(BIN)/lshdb --db $(DEMO) ingest --base sample_data sample_data/crawl
	$(BIN)/lshdb --db $(DEMO) dupes --min-sim 0.8 --format table

test: $(VENV)/.checked
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

# Runs the fast tests that need no database.
test-quick: $(VENV)/.checked
	$(BIN)/python -m pytest --numprocesses 2 -m "not sqlite and not postgres and not slow"

# Plants faults, one at a time, and counts those that the tests notice: `make mutants MODULES=lshdb/linking`. Takes half
# an hour for all modules, so it is not part of the checks.
mutants: $(VENV)/.mutated
	$(BIN)/python -m scripts.mutants $(MODULES)

lint: $(VENV)/.checked
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Builds the site in build/site. A broken link is an error.
docs: $(VENV)/.checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Measures the speed of an ingest, compared with datasketch. Create FILE with `python -m benchmarks.corpora.data jsonl FILE`.
bench: $(VENV)/.benched
	$(BIN)/python -m benchmarks.runs.ingest $(FILE)

# Detects a slowdown in two minutes: processor time relative to datasketch and a plain NumPy loop, on synthetic texts.
bench-quick: $(VENV)/.benched
	$(BIN)/python -m benchmarks quick

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# Tests, linters and the site are installed together, because each editable install builds the package again.
$(VENV)/.checked: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,lint,docs]"
	@touch $@ $(VENV)/.installed

$(VENV)/.mutated: $(VENV)/.checked
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,mutants]"
	@touch $@

$(VENV)/.benched: $(VENV)/.checked
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,bench]"
	@touch $@
