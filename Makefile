# Everything a developer types. `make setup` makes the environment in .venv; every other target makes it first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

.PHONY: setup
setup: $(STAMP) ## make the environment in .venv

.PHONY: up
up: $(STAMP) ## API and worker in the foreground, nothing else needed
	$(BIN)/certiset up $(ARGS)

.PHONY: test
test: $(STAMP) ## the default tests, a few minutes
	$(BIN)/python -m pytest -n auto -m 'not slow' $(ARGS)

.PHONY: test-slow
test-slow: $(STAMP) ## the guarantees, by simulation
	$(BIN)/python -m pytest -n auto -m slow $(ARGS)

.PHONY: lint
lint: $(STAMP) ## ruff, mypy and import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: format
format: $(STAMP) ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: check
check: lint test ## what must pass before a commit

.PHONY: bench
bench: $(STAMP) ## measurements, as ratios in one run
	$(BIN)/python -m benchmarks.bounds
	$(BIN)/python -m benchmarks.million_rows
	$(BIN)/python -m benchmarks.queue
	$(BIN)/python -m benchmarks.serving
	$(BIN)/python -m benchmarks.fit_speed

.PHONY: clean
clean: ## remove the environment and all caches
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
