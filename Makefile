# make demo   what dsreg does, on the datasets of this repository
# make test   the test suite
# make lint   style, formatting and types
# make fuzz   the property tests for FUZZ_SECONDS seconds (300), with new inputs all the time
# make bench  speed and memory beside what people use instead
#
# All need Python 3.11 or newer and make; everything else goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
FUZZ_SECONDS ?= 300

.PHONY: demo test fuzz lint bench clean

demo: .venv/installed
	$(BIN)/dsreg sync
	$(BIN)/dsreg export --target nova-sft
	@echo
	@echo "One row before and after:"
	$(BIN)/dsreg preview sharegpt_tools -n 1 --target nova-sft
	@echo
	@echo "Written:"
	@wc -l exports/nova-sft/*.jsonl

test: .venv/tested
	$(BIN)/python -m pytest -n 2

fuzz: .venv/tested
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@# one by one: every format has a reader.py and a writer.py, and mypy wants module names to differ
	@for file in templates/formats/*/*.py; do $(BIN)/mypy --no-error-summary "$$file" || exit 1; done

bench: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv exports

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dsreg needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/tested: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	@touch $@ .venv/installed
