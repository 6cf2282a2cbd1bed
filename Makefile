# Everything a developer types. `make setup` creates the environment in .venv; every other target creates what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUNTIME := $(VENV)/.installed-runtime
DOCS := $(VENV)/.installed-docs

.DEFAULT_GOAL := help

# Packages are installed without bytecode, which is written when they are first imported. Where this variable forbids
# that, every process would compile PyTorch again: three seconds of CPU at each start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Only what the service needs, without the development tools, so that a first `make up` is faster.
$(RUNTIME): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[server]'
	touch $@

$(STAMP): $(RUNTIME) pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[server,s3,dev]'
	touch $@

.PHONY: setup
setup: $(STAMP) ## create the environment in .venv

.PHONY: up
up: $(RUNTIME) ## run API and worker in the foreground, nothing else needed (DEMO=1: with the demo)
	$(BIN)/certiset $(if $(DEMO),demo,up) $(ARGS)

.PHONY: demo
demo: $(RUNTIME) ## the same with the demo: from training to certified sets
	$(BIN)/certiset demo $(ARGS)

.PHONY: picture
picture: $(STAMP) ## make the README's picture from the demo
	$(BIN)/python docs/picture.py

.PHONY: test
test: $(STAMP) ## run the default tests
	$(BIN)/python -m pytest -n auto --no-loadscope-reorder -m 'not slow' $(ARGS)

.PHONY: test-slow
test-slow: $(STAMP) ## run the slow tests: the guarantees, by simulation
	$(BIN)/python -m pytest -n auto --no-loadscope-reorder -m 'slow and not alone' $(ARGS)
	$(BIN)/python -m pytest -m alone -rP $(ARGS)

.PHONY: test-image
test-image: ## build the image with buildah, boot it and calibrate once in it (as root, minutes, gigabytes)
	deploy/image/test

.PHONY: lint
lint: $(STAMP) ## run ruff, mypy and import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: format
format: $(STAMP) ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: check
check: lint test ## run what must pass before a commit

.PHONY: bench
bench: $(STAMP) ## run the benchmarks; results are ratios within one run
	$(BIN)/certiset bench $(ARGS)

$(DOCS): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[docs]'
	touch $@

.PHONY: docs
docs: $(DOCS) ## build the documentation as a site in build/site, every link checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build $(ARGS)

.PHONY: clean
clean: ## remove the environment and all caches
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
