# SPDX-License-Identifier: Apache-2.0
# The commands of the README. `make help` lists them. Everything a target needs is set up first;
# when nothing is to be done that costs less than a second.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-demo guest-kernels rtl-cluster demo check test test-machine test-all lint format wheel release benchmark clean

# How many things to build and test at once.
JOBS ?= $(shell nproc)
export JOBS
BIN := .venv/bin
C_FILES = $(shell git ls-files '*.c' '*.h' '*.cc' '*.cpp' '*.hpp')
CLANG_FORMAT = $(firstword $(shell command -v clang-format-14 clang-format))

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22

# ---- set-up --------------------------------------------------------------------------------------
setup-demo: ## what measuring needs: packages, QEMU, Rust, Python
	@scripts/setup-machine.sh
	@scripts/setup-python.sh
	@scripts/setup-uplot.sh

setup: ## all of it: also what the tests need
	@scripts/setup-machine.sh tests
	@scripts/setup-python.sh dev
	@scripts/setup-uplot.sh
	@scripts/setup-crates.sh
	@scripts/guest-kernels.sh x86_64/6.12-rt x86_64/6.12-plain || \
		echo "set-up: without these kernels, tests of guests are skipped" >&2

guest-kernels: ## Linux kernels of three ISAs for targets of tier guest, into the cache
	@scripts/setup-machine.sh guests

rtl-cluster: setup ## the Verilog of the coherent VexRiscv cluster, into the cache
	@scripts/rtl-cluster.sh

# ---- the two commands ----------------------------------------------------------------------------
demo: setup-demo ## three kernels, three boards and this Linux, one report: reports/demo.html
	@scripts/demo.sh

check: setup ## while editing: style, and tests that need no emulator but one boot of each kind
	@scripts/lint.sh
	@scripts/test.sh check

test: setup ## before a commit: every test that files decide; summaries at the end
	@scripts/test.sh

test-machine: setup ## tests that this machine decides: its time, loads, rights; one after the other
	@scripts/test.sh machine

test-all: rtl-cluster ## all of it, and the long ones, with nothing taken from earlier runs
	@scripts/test.sh all

# ---- work on kadenz ------------------------------------------------------------------------------
lint: setup ## style and types of all four languages
	@scripts/lint.sh

format: setup ## rewrites the files in the style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(CLANG_FORMAT) -i $(C_FILES)
	for crate in fieldbus suite/rust kernels/*/; do \
		if [ -f "$$crate/Cargo.toml" ]; then cargo fmt --manifest-path "$$crate/Cargo.toml" --all; fi; done

wheel: setup ## the wheel and the source archive of kadenz, in dist/
	@scripts/wheel.sh

release: setup ## builds and checks all that a release publishes, in dist/; publishes nothing
	@scripts/release.sh

benchmark: setup ## speed of kadenz itself, into docs/performance.md; ONLY=NAME for one
	@$(BIN)/python -m benchmarks.performance $(ONLY)

clean: ## removes what was built; keeps runs, reports and downloads
	rm -rf build dist fieldbus/target .pytest_cache .mypy_cache .ruff_cache
