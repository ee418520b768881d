# Posthorn. `make demo` shows it, `make test` proves it; both install what they need first.
SHELL := /bin/bash
.DEFAULT_GOAL := help
CONFIGURATION ?= release
ARGS ?=

.PHONY: help demo test bench build kafka format lint sanitize clean

help: ## What can be made
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: ## Run the whole way on this machine; options: make demo ARGS="--devices 500 --json"
	@scripts/install-packages build
	@swift build -c $(CONFIGURATION) --product posthorn 1>&2
	@.build/$(CONFIGURATION)/posthorn demo $(ARGS)

test: ## Run all tests (those that need a real Kafka: see README)
	@scripts/install-packages test
	@$(MAKE) --no-print-directory lint
	@swift build --build-tests
	@scripts/run-tests $(ARGS)

bench: ## Measure against baselines in one run; ARGS=--json for one JSON object a line
	@scripts/install-packages test
	@swift build -c release --product posthorn-bench 1>&2
	@.build/release/posthorn-bench $(ARGS)

build: ## Build the program: .build/release/posthorn
	@scripts/install-packages build
	@swift build -c $(CONFIGURATION) --product posthorn

kafka: ## Download Apache Kafka into .kafka/ for the tests
	@scripts/fetch-kafka

format: ## Rewrite the sources in the project's format
	@swift format format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks

lint: ## Check the format and the rules that a grep can hold
	@scripts/lint

sanitize: ## Address and thread sanitizers over the tests that need no broker
	@scripts/install-packages test
	@scripts/sanitize

clean: ## Remove what was built
	@rm -rf .build
