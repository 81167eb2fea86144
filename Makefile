# raydap's commands; `make` lists them. Everything installs into .venv, except the editors' own clients for the tests: npm's
# packages go into the user's cache, and Emacs comes by apt where we are root (RAYDAP_WITHOUT_EMACS=1 leaves it out).

PYTHON ?= $(shell ./.ci/find-python)
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/stamp
KEEP ?= 0
QUICK ?= 0
RAY ?=
OLDEST_RAY = 2.39.0
INPUTS ?= 1000000
SEED ?= 1

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile

demo: $(STAMP)  ## walk through a Ray job in one session; KEEP=1 leaves it running for your editor
	@$(BIN)/python docs/examples/walk.py $(if $(filter 1,$(KEEP)),--keep)

test: $(STAMP) editors  ## all tests, on a Ray cluster of their own
	$(BIN)/python -m pytest

editors:  ## install the clients of tests/editors: VS Code's and Emacs'
	@./.ci/editors

vsix: extension  ## the VS Code extension, as vscode-ext/raydap-VERSION.vsix
	@cd vscode-ext && npm run --silent vsix

check-vscode: extension  ## style, types and unit tests of the VS Code extension
	@cd vscode-ext && npm run --silent lint && npm run --silent types && npm run --silent unit

test-vscode: $(STAMP) vsix  ## the extension in the real VS Code, on a Ray cluster of its own; screenshots go into vscode-ext/out
	@cd vscode-ext && node esbuild.mjs --tests
	@workbench="$$(./.ci/vscode workbench | tail -n 1)" && test -d "$$workbench" && cd vscode-ext && \
	    RAYDAP_TEST_WORKBENCH="$$workbench" RAYDAP_TEST_VSIX="$$(echo "$$PWD"/*.vsix)" \
	    RAYDAP_TEST_SCREENSHOTS="$$PWD/out/screenshots" $(abspath $(BIN))/python test/on_cluster.py \
	    node --test --test-reporter=spec --test-concurrency=1 out/workbench/*.drive.js

extension:
	@./.ci/vscode build

check: lint types imports test test-matrix  ## everything a change has to pass

lint: $(STAMP)  ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP)  ## repair the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## static types
	$(BIN)/mypy

imports: $(STAMP)  ## the direction of imports between rooms
	$(BIN)/lint-imports

test-matrix:  ## the core tests on each Python version found (3.10 to 3.13), and on the oldest Ray
	@for version in 3.10 3.11 3.12 3.13; do \
	    if python=$$(./.ci/find-python $$version); then \
	        echo "Python $$version:" && \
	        $(MAKE) --no-print-directory VENV=.venv-$$version PYTHON="$$python" test-core || exit 1; \
	    else \
	        echo "Python $$version: not tested, there is none here"; \
	    fi; \
	done
	@if python=$$(./.ci/find-python 3.11); then \
	    echo "Python 3.11, Ray $(OLDEST_RAY):" && \
	    $(MAKE) --no-print-directory VENV=.venv-3.11-ray PYTHON="$$python" RAY="==$(OLDEST_RAY)" test-core; \
	else \
	    echo "Ray $(OLDEST_RAY): not tested, there is no Python 3.11 here"; \
	fi

bench: $(STAMP)  ## raydap beside direct debugpy, into .bench; QUICK=1 for a look
	PYTHONPATH=tests:docs/examples $(BIN)/python -m bench .bench $(if $(filter 1,$(QUICK)),--quick)

fuzz: $(STAMP)  ## INPUTS (default 1,000,000) from one SEED against all that reads bytes; about ten minutes
	PYTHONPATH=tests:docs/examples $(BIN)/python -m fuzz --inputs $(INPUTS) --seed $(SEED)

soak: $(STAMP)  ## ten thousand stops of a real worker; about two minutes
	PYTHONPATH=tests:docs/examples $(BIN)/python -m fuzz.soak --stops 10000

test-core: $(STAMP)
	$(BIN)/python -m pytest -q -m core

clean:  ## remove the environments and caches
	rm -rf .venv .venv-3.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf vscode-ext/dist vscode-ext/out vscode-ext/node_modules vscode-ext/*.vsix
	find adapter docs tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml
	@python="$(PYTHON)"; test -n "$$python" && "$$python" -m venv $(VENV)
	@echo "installing into $(VENV), which takes about a minute ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' 'ray[default]$(RAY)'
	@touch $@

.PHONY: help demo test editors vsix check-vscode test-vscode extension check lint format types imports test-matrix test-core bench fuzz soak clean
