# make run    does the main job        make test   runs every check        make help   lists the rest
.DEFAULT_GOAL := help
SHELL := /bin/bash
STAMP := .venv/.installed
BIN := .venv/bin

.PHONY: help run test bench bench-gpu bench-service setup lint format clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP) ## make .venv with everything the other targets need

$(STAMP): pyproject.toml constraints.txt scripts/setup
	@scripts/setup

run: $(STAMP) ## reproduce the paper: every figure and number, into report/index.html (about three minutes on two cores)
	@$(BIN)/adhere reproduce

test: $(STAMP) ## lint, types, layers, doctests and tests (under ten minutes on two cores)
	@scripts/check

bench: $(STAMP) ## measure adhere against C and other libraries, into benchmarks/results/ (10 to 15 minutes)
	@scripts/bench

bench-gpu: $(STAMP) ## the same on a CUDA GPU (some minutes; installs the extra gpu)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '.[dev,gpu]'
	@$(BIN)/python -m benchmarks.gpu

bench-service: $(STAMP) ## measure the service against a bare log, Optuna and its bars (12 to 15 minutes)
	@scripts/bench-service

lint: $(STAMP) ## only lint, types and layers
	@scripts/check --lint

format: $(STAMP) ## put the sources into the house style
	@$(BIN)/ruff check --fix --quiet . && $(BIN)/ruff format .

clean: ## remove the environment and what tools left behind
	rm -rf .venv .bench .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
