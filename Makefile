# make run    does the main job        make test   runs every check        make help   lists the rest
.DEFAULT_GOAL := help
SHELL := /bin/bash
unexport PYTHONDONTWRITEBYTECODE  # with it, every process would compile its libraries anew
BIN := .venv/bin
RUN := .venv/.installed-run
DEMO := .venv/.installed-demo
DEV := .venv/.installed-dev
DOCS := .venv/.installed-docs
PINS := pyproject.toml packages/adhere-client/pyproject.toml constraints.txt scripts/setup

.PHONY: help run demo arena coverage test test-slow docs bench bench-gpu bench-service soak screenshots setup lint format clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: $(RUN) ## reproduce the paper: every figure and number, into report/index.html (about four minutes on two cores)
	@$(BIN)/adhere reproduce

demo: $(DEMO) ## two live trials with invented patients, to watch in a browser; Ctrl-C leaves nothing behind
	@$(BIN)/adhere demo

arena: $(RUN) ## every policy on the arena's whole grid, into arena/index.html (about 20 minutes on two cores, and to compile)
	@$(BIN)/adhere arena

coverage: $(DEV) ## how often the intervals of analyses hold what is true, into coverage/index.html (about ten minutes on two cores)
	@$(BIN)/adhere coverage

$(RUN): $(PINS)
	@scripts/setup run

$(DEMO): $(PINS)
	@scripts/setup demo

test: $(DEV) ## lint, types, layers, doctests and tests (five to six minutes on two cores)
	@scripts/check

test-slow: $(DOCS) ## the slow tests: real processes, kills, clocks, every composition of policies, every size of phone (eleven minutes on two cores)
	@scripts/check --slow

docs: $(DOCS) ## build the documentation site into docs/_build/ (a few minutes; open docs/_build/index.html)
	@scripts/docs

setup: $(DEV) ## make .venv with everything that the targets below and the tests need

$(DEV): $(PINS)
	@scripts/setup dev

$(DOCS): $(PINS)
	@scripts/setup docs

bench: $(DEV) ## measure adhere against C and other libraries, into benchmarks/results/ (10 to 15 minutes)
	@scripts/bench

bench-gpu: $(DEV) ## the same on a CUDA GPU (some minutes; installs the extra gpu)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '.[dev,gpu]'
	@$(BIN)/python -m benchmarks.gpu

bench-service: $(DEV) ## measure the service against a bare log, Optuna and its bars (12 to 15 minutes)
	@scripts/bench-service

soak: $(DEV) ## faults for ten minutes, then is everything acknowledged in the log? (needs root)
	@$(BIN)/python -m benchmarks.soak

screenshots: $(DEV) ## photograph each page of a demo, into docs/pictures/pages/ (about a minute)
	@$(BIN)/python scripts/screenshots.py

lint: $(DEV) ## only lint, types and layers
	@scripts/check --lint

format: $(DEV) ## put the sources into the house style
	@$(BIN)/ruff check --fix --quiet . && $(BIN)/ruff format .

clean: ## remove the environment and what tools left behind
	rm -rf .venv .bench .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
