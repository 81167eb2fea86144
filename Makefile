# raydap's commands; `make` lists them. Python packages are installed into .venv. The editors for the tests are installed
# by npm into the user's cache, and by apt as root (RAYDAP_WITHOUT_EMACS=1 and RAYDAP_WITHOUT_VSCODE=1 leave them out).
# Python 3.14 is installed into the cache, too, if there is none.

PYTHON ?=
# Ray cannot start workers if the path of their Python has a space. In such a folder the environments are in the cache.
PLACE := $(if $(word 2,$(CURDIR)),$(shell echo "$${XDG_CACHE_HOME:-$$HOME/.cache}/raydap/venv-$$(pwd | cksum | cut -d ' ' -f 1)/"))
VENV ?= $(PLACE).venv
BIN = $(VENV)/bin
# Files that exist when raydap is installed, and when what its tests need is installed.
STAMP_USER = $(VENV)/stamp-user
STAMP = $(VENV)/stamp
# Two environments of `make release`: its tools, and raydap alone, of which the SBOM is made.
RELEASE = $(PLACE).venv-release
RELEASE_USER = $(PLACE).venv-user
INSTALL = VENV="$(VENV)" PYTHON="$(PYTHON)" RAY="$(RAY)" ./.ci/install
KEEP ?= 0
QUICK ?= 0
RAY ?=
BASE ?=
OLDEST_RAY = 2.39.0
NPM_RUN = cd vscode-ext && export PATH="$$PWD/out/bin:$$PATH" && npm run --silent
INPUTS ?= 1000000
SEED ?= 1
# Processes that run tests: one more than there are processors, because each waits for an eighth of its time.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# Where the environment keeps no bytecode, each process that a test starts would compile all of raydap.
unexport PYTHONDONTWRITEBYTECODE
TIMES ?= 0
RUNS ?= 3
# 1 for the code of workers in the oldest debugpy, too.
OLDEST_DEBUGPY ?= 0
MODULES ?=
# How many inputs Hypothesis makes for a test: quick, or thorough with five times as many (tests/support/examples.py).
EXAMPLES ?= quick
PYTEST_OPTIONS = --numprocesses=$(JOBS) --hypothesis-profile=$(EXAMPLES) --override-ini=console_output_style=classic \
    $(if $(filter 1,$(OLDEST_DEBUGPY)),--oldest-debugpy)
PYTEST = $(BIN)/python -m pytest $(PYTEST_OPTIONS) --progress $(if $(filter 1,$(TIMES)),--times)
# The folders of tests with processes of raydap, editors or workers.
IN_PROCESSES = cpython_tests e2e editors hub inworker lsp ray vscode

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile

demo: $(STAMP_USER)  ## walk through a Ray job in one session; KEEP=1 leaves it running for your editor
	@$(BIN)/python docs/examples/walk.py $(if $(filter 1,$(KEEP)),--keep)

test: $(STAMP) editors workbench  ## all tests, on Ray clusters of their own; JOBS=1 for one after the other, TIMES=1 for what takes long
	$(PYTEST)

steady: $(STAMP) editors workbench  ## RUNS (default 3) of all tests in random order, beside two busy processes
	PYTHONPATH=tests:docs/examples $(BIN)/python -m support.steady --runs $(RUNS) -- $(PYTEST_OPTIONS)

test-quick: $(STAMP)  ## the tests without Ray, editors, real workers and the mark slow; half a minute
	$(PYTEST) $(IN_PROCESSES:%=--ignore=tests/%) -m "not slow"

test-changed: $(STAMP)  ## the tests that a change since BASE (where the branch left main) needs; QUICK=1 for the quick ones
	@PYTHONPATH=tests:docs/examples $(BIN)/python -m support.changed_tests $(BASE) \
	    $(if $(filter 1,$(QUICK)),--quick) $(PYTEST_OPTIONS)

editors:  ## install what some tests need beside Python packages: VS Code's client, Emacs, gdb, zsh, fish
	@./.ci/editors

# This target succeeds where something is missing, so that all other tests run; the tests that need it fail.
workbench:  ## install the real VS Code, and build the extension and its tests
	@rm -rf vscode-ext/out/unit vscode-ext/out/workbench
	@test "$$RAYDAP_WITHOUT_VSCODE" = 1 || { ./.ci/vscode workbench && $(NPM_RUN) tests; } || true

vsix: vscode-tools  ## the VS Code extension, as vscode-ext/raydap-VERSION.vsix
	@$(NPM_RUN) vsix

site: $(STAMP)  ## the documentation site, into dist/site; a broken link fails it
	@PYTHONPATH=tests $(BIN)/python -m support.docs_site

release: $(RELEASE)/stamp-release $(RELEASE_USER)/stamp-user vscode-tools  ## wheel, sdist, vsix, site, SBOMs, checksums and notes, built twice, into dist/; TAG=vX.Y.Z checks a tag, too
	@./.ci/vscode publish
	@export PATH="$$PWD/vscode-ext/out/bin:$$PATH" && PYTHONPATH=tests "$(RELEASE)/bin/python" -m support.release \
	    --user-python "$(RELEASE_USER)/bin/python"

check-vscode:  ## style, types and unit tests of the VS Code extension
	@test "$$RAYDAP_WITHOUT_VSCODE" = 1 || \
	    { ./.ci/vscode tools && $(NPM_RUN) lint && npm run --silent types && npm run --silent unit; }

test-vscode: $(STAMP) workbench  ## the extension in the real VS Code; screenshots go into vscode-ext/out
	$(BIN)/python -m pytest tests/vscode

# Those with 6 are pages of a browser.
screenshots: test-vscode  ## renew the pictures of docs/usage from those of test-vscode
	@cd docs/usage/images && for picture in [0-5]*.png; do cp "$(CURDIR)/vscode-ext/out/screenshots/$$picture" . || exit 1; done
	PYTHONPATH=tests:docs/examples $(BIN)/python -m support.f5_film

vscode-tools:
	@./.ci/vscode tools

check: EXAMPLES = thorough
check: OLDEST_DEBUGPY = 1
check: export RAYDAP_TEST_CROWD = 500

check: ci test-matrix fuzz soak  ## everything a change has to pass

ci: lint imports types check-vscode test  ## the same without test-matrix, cheapest first: what .ci/run runs

# check-jsonschema contains these schemas.
lint: SCHEMA = $(BIN)/check-jsonschema --quiet --builtin-schema
lint: $(STAMP)  ## style, and the files of GitHub
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/zizmor --offline --quiet --persona=pedantic .github
	$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	$(SCHEMA) custom.github-workflows-require-timeout .github/workflows/*.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml
	$(SCHEMA) vendor.citation-file-format CITATION.cff

format: $(STAMP)  ## repair the style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## static types
	$(BIN)/mypy

imports: $(STAMP)  ## the direction of imports between packages
	$(BIN)/lint-imports

test-matrix:  ## the core tests on each Python version found (3.10 to 3.14), and on the oldest Ray
	@./.ci/find-python 3.14 >/dev/null || ./.ci/python-3.14 || true
	@for version in 3.10 3.11 3.12 3.13 3.14; do \
	    if python=$$(./.ci/find-python $$version); then \
	        echo "Python $$version:" && \
	        $(MAKE) --no-print-directory VENV=$(PLACE).venv-$$version PYTHON="$$python" test-core || exit 1; \
	    else \
	        echo "Python $$version: not tested, there is none here"; \
	    fi; \
	done
	@if python=$$(./.ci/find-python 3.11); then \
	    echo "Python 3.11, Ray $(OLDEST_RAY):" && \
	    $(MAKE) --no-print-directory VENV=$(PLACE).venv-3.11-ray PYTHON="$$python" RAY="==$(OLDEST_RAY)" test-core; \
	else \
	    echo "Ray $(OLDEST_RAY): not tested, there is no Python 3.11 here"; \
	fi

transcripts: $(STAMP)  ## renew the transcripts of docs/usage/terminal.md, and the recording of a terminal
	PYTHONPATH=tests:docs/examples $(BIN)/python -m support.transcripts
	PYTHONPATH=tests:docs/examples $(BIN)/python -m support.terminal_film

strings: $(STAMP)  ## print each text that users see, by file: to read them all
	@PYTHONPATH=tests $(BIN)/python -m support.user_strings

bench: $(STAMP)  ## raydap beside direct debugpy, into .bench; QUICK=1 for a look
	PYTHONPATH=tests:docs/examples $(BIN)/python -m bench .bench $(if $(filter 1,$(QUICK)),--quick)

fuzz: $(STAMP)  ## INPUTS (default 1,000,000) from one SEED against all that reads bytes; about ten minutes
	PYTHONPATH=tests:docs/examples $(BIN)/python -m fuzz --inputs $(INPUTS) --seed $(SEED)

conformance:  ## CPython's own tests and foreign programs with and without raydap, on each Python found; MODULES="test_os ..." for some
	@VENVS=$(PLACE).venv- ./.ci/conformance $(MODULES)

soak: $(STAMP)  ## ten thousand stops of a real worker; about two minutes
	PYTHONPATH=tests:docs/examples $(BIN)/python -m fuzz.soak --stops 10000

test-core: $(STAMP)
	$(BIN)/python -m pytest -q -m core --oldest-debugpy

clean:  ## remove the environments and caches
	rm -rf $(PLACE:%="%") .venv .venv-3.* .venv-release .venv-user dist .ci/publish/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf vscode-ext/dist vscode-ext/out vscode-ext/node_modules vscode-ext/*.vsix
	find adapter docs tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP_USER): pyproject.toml
	@$(INSTALL) user

# `dev` includes `user`, so that raydap and what its tests need are installed in one step.
$(STAMP): pyproject.toml
	@$(INSTALL) dev

$(RELEASE)/stamp-release: pyproject.toml
	@VENV="$(RELEASE)" PYTHON="$(PYTHON)" ./.ci/install release

$(RELEASE_USER)/stamp-user: pyproject.toml
	@VENV="$(RELEASE_USER)" PYTHON="$(PYTHON)" ./.ci/install user

.PHONY: help demo test steady test-quick test-changed editors workbench vsix check-vscode test-vscode screenshots transcripts strings vscode-tools site release check ci lint format types imports test-matrix test-core bench fuzz conformance soak clean
