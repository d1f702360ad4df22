# hindsight's commands. Everything is installed into .venv on first use; `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev run test test-models check protos protos-drift fuzz faults bench-quality up down compose-test \
	bench-speed bench-scale bench-load

SUITES = $(wildcard tests/unit tests/contract tests/wire tests/integration tests/golden tests/e2e)
not_there_yet = @echo "make $@: not there yet"; exit 1

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name what; do printf '%-14s %s\n' "$$name" "$$what"; done

setup: ## install what hindsight runs on into .venv (any other target does it by itself)
	@tools/setup.sh run

setup-dev:
	@tools/setup.sh dev

run: setup ## run everything on this machine until Ctrl-C; proves itself and prints how to connect
	@.venv/bin/python -m hindsight_local.main run

test: setup-dev ## all tests, against real PostgreSQL and Valkey (ARGS="-k name -x")
	@.venv/bin/pytest $(SUITES) $(ARGS)

test-models: setup ## the loader for any sentence-transformers model, in an environment of its own (installs torch)
	@tools/test-models.sh $(ARGS)

check: setup-dev protos-drift ## format, lint, types, import rules, protos, containers
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/pyright
	.venv/bin/lint-imports
	.venv/bin/buf lint protos
	@if [ -e protos/baseline.binpb ]; then set -x; .venv/bin/buf breaking protos --against protos/baseline.binpb; fi
	tools/containers-check.sh

protos: setup-dev ## generate the stubs in protos/gen from the .proto files
	@tools/protos.sh

protos-drift: setup-dev
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; tools/protos.sh "$$fresh"; \
	diff -r -x __pycache__ "$$fresh/hindsight" protos/gen/hindsight \
		|| { echo "the stubs differ from the .proto files: make protos"; exit 1; }

fuzz: setup-dev ## random and hostile requests against the wire
	@.venv/bin/pytest tests/fuzz $(ARGS)

faults: setup-dev ## kill each process in turn and see that nothing acknowledged is lost
	@.venv/bin/pytest tests/faults $(ARGS)

bench-quality: setup-dev ## how good recall is, on the evaluation sets
	@.venv/bin/python bench/quality.py $(ARGS)

up: ## run everything with Docker Compose (OVERLAYS="grpc scale", ARGS="--scale recall=3")
	@tools/compose.sh up $(ARGS)

down: ## stop what `make up` started; the data stays
	@tools/compose.sh down $(ARGS)

compose-test: setup-dev ## test the Compose deployment, with an engine of its own where none runs (as root)
	@tests/compose/run.sh $(ARGS)

bench-speed: setup-dev ## how fast it is; so far observing, with the backlog it leaves
	@.venv/bin/python bench/speed.py $(ARGS)

bench-scale: ## recall in large banks
	$(not_there_yet)

bench-load: setup-dev ## what one tenant's flood costs another; mixed load over time is not there yet
	@.venv/bin/python bench/fairness.py $(ARGS)
	@echo "make $@: this part only so far; mixed load over time is not there yet"
