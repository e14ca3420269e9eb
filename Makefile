# Two commands do everything on a fresh machine with Python 3.11, gcc and make:
#   make demo    builds Keypose and runs it on a motion made in code
#   make test    installs what the checks need and runs them all
# What is installed goes to .venv (and .venv313), large judges such as Blender to ~/.cache/keypose.

PYTHON ?= $(shell tools/python.sh 3.11)
QUIET ?= -q
PYTEST_WORKERS ?= auto
CORE := $(wildcard core/*.cpp core/*.hpp) CMakeLists.txt
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test check check-static check-tests test-313 fuzz bench format clean
.DEFAULT_GOAL := help

.venv/.demo: pyproject.toml constraints.txt $(CORE)
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/pip install $(QUIET) -c constraints.txt $(BUILD_TOOLS)
	.venv/bin/pip install $(QUIET) -c constraints.txt --no-build-isolation -e '.[png]'
	touch $@

.venv/.dev: .venv/.demo
	.venv/bin/pip install $(QUIET) -c constraints.txt --no-build-isolation -e '.[all,dev]'
	touch $@

demo: .venv/.demo ## make a motion in code and run the main job on it, into out/
	.venv/bin/keypose demo out

test: check test-313 ## all checks, then the suite again on Python 3.13 where it is found

check: check-static check-tests ## ruff, mypy, import-linter, pytest

check-static: .venv/.dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

check-tests: .venv/.dev
	tools/need.sh node npm chromium
	.venv/bin/pytest -n $(PYTEST_WORKERS)

.venv313/.dev: pyproject.toml constraints.txt $(CORE)
	test -x .venv313/bin/python || "$$(tools/python.sh 3.13)" -m venv .venv313
	.venv313/bin/pip install $(QUIET) -c constraints.txt $(BUILD_TOOLS)
	.venv313/bin/pip install $(QUIET) -c constraints.txt --no-build-isolation -e '.[all,dev]'
	touch $@

test-313:
	@if tools/python.sh 3.13 >/dev/null; then \
	  $(MAKE) .venv313/.dev && .venv313/bin/pytest -n $(PYTEST_WORKERS) -m "not blender and not browser and not one_python"; \
	else echo "Python 3.13 is not on this machine: the suite ran on 3.11 only"; fi

fuzz: .venv/.dev ## 100,000 damaged files of every kind
	KEYPOSE_BLENDER_PYTHON="$$(tools/blender.sh | tail -1)" .venv/bin/python -m tests.fuzz --count 100000

bench: .venv/.dev ## the figures that the documents state
	.venv/bin/pip install $(QUIET) -c constraints.txt -e '.[bench]' --no-build-isolation
	.venv/bin/python -m benchmarks

format: .venv/.dev ## tidy the code
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

clean: ## remove what was built here
	rm -rf .venv .venv313 build out .pytest_cache .mypy_cache .ruff_cache .hypothesis

help:
	@grep -E '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'
