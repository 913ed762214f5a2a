# Screwtape.ai: each target sets up what it needs. A fresh Debian 12 with python3.11 and make is enough.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
RUN_PINS := requirements.txt
DEV_PINS := requirements.txt requirements-dev.txt
RUN_STAMP := .venv/.run-$(shell cat $(RUN_PINS) | sha256sum | cut -c1-16)
DEV_STAMP := .venv/.dev-$(shell cat $(DEV_PINS) | sha256sum | cut -c1-16)
BENCH_STAMP := .cache/bench/.pins-$(shell cat tests/bench/requirements.txt | sha256sum | cut -c1-16)
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes --only-binary :all:

.DEFAULT_GOAL := help
.PHONY: help build serve dev test test-browser test-clients test-faults eval bench check lock clean

help: ## Say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 15

build: $(RUN_STAMP) ## Render content/ and templates/ into dist/
	$(BIN)/python -m site_build

serve: $(RUN_STAMP) ## Build what is missing or out of date, then serve on http://127.0.0.1:8000
	$(BIN)/python -m site_build --if-changed
	exec $(BIN)/python -m api serve

dev: $(RUN_STAMP) ## Serve the site as you write it on http://127.0.0.1:8000: every save is built and shown
	exec $(BIN)/python -m site_build.dev

test: $(DEV_STAMP) ## Run the tests that need nothing but this machine
	$(BIN)/python -m pytest -n auto

test-browser: $(DEV_STAMP) ## Run the site's tests in Debian's chromium
	$(BIN)/python -m tests.browser.setup
	$(BIN)/python -m pytest tests/browser

test-clients: $(DEV_STAMP) ## Run the integration examples with the real frameworks, each in an environment of its own
	$(BIN)/python -m pytest tests/clients

test-faults: $(DEV_STAMP) ## Run the tests of what must be survived: kills, outages, floods (ROUNDS=100 kills)
	$(BIN)/python -m pytest tests/faults

eval: $(DEV_STAMP) ## Measure the engines on labelled sets: DATA=DIR [JSON=FILE] [PAGE=FILE]
	@test -n "$(DATA)" || { echo "Name the folder with the sets: make eval DATA=DIR" >&2; exit 1; }
	$(BIN)/python -m tests.eval "$(DATA)" $(if $(JSON),--json "$(JSON)") $(if $(PAGE),--page "$(PAGE)")

bench: $(DEV_STAMP) $(BENCH_STAMP) ## Time the judge, and the server beside others (SECONDS=5 ROUNDS=3 [PAGE=FILE])
	@for tool in wrk nginx; do [ -x /usr/bin/$$tool ] || [ -x /usr/sbin/$$tool ] || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && RUNLEVEL=1 apt-get install -y -qq $$tool >/dev/null; } || \
	  { echo "$$tool is missing. Install it: sudo apt-get install $$tool" >&2; exit 1; }; done
	$(BIN)/python -m site_build --if-changed
	$(BIN)/python -m tests.eval.speed
	$(BIN)/python -m tests.bench $(if $(PAGE),--page "$(PAGE)")

check: $(DEV_STAMP) ## Check types, style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

lock: $(DEV_STAMP) ## Pin the newest versions of all requirements, with hashes
	$(BIN)/python -m pip install --disable-pip-version-check --quiet uv
	$(BIN)/uv pip compile -q -U --generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
	  --python-version 3.11 --only-binary :all: requirements.in -o requirements.txt
	$(BIN)/uv pip compile -q -U --generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
	  --python-version 3.11 --only-binary :all: requirements-dev.in -o requirements-dev.txt

clean: ## Remove what was built; the virtual environment and the database stay
	rm -rf dist dist.* .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: apt-get install python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv .venv 2>/dev/null || { rm -rf .venv; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "python3.11-venv is missing; installing it" >&2; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3.11-venv >/dev/null; \
	  else echo "python3.11-venv is missing. Install it: sudo apt-get install python3.11-venv" >&2; exit 1; fi; \
	  $(PYTHON) -m venv .venv; }

$(RUN_STAMP): $(RUN_PINS) | $(BIN)/python
	$(PIP_INSTALL) -r requirements.txt
	@rm -f .venv/.run-* && touch $@

$(BENCH_STAMP): tests/bench/requirements.txt | $(BIN)/python
	$(BIN)/python -m venv --clear .cache/bench
	.cache/bench/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes --only-binary :all: -r $<
	@touch $@

$(DEV_STAMP): $(DEV_PINS) | $(BIN)/python
	$(PIP_INSTALL) -r requirements.txt -r requirements-dev.txt
	@rm -f .venv/.dev-* .venv/.run-* && touch $@ $(RUN_STAMP)
