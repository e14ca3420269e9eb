# Two commands set up all that they need on a fresh machine with Python 3.11, gcc and make:
#   make demo    build Keypose and run it on a generated motion
#   make test    install the test dependencies and run all checks
# Packages are installed into .venv (and .venv313) and web/node_modules, large test programs such as Blender into ~/.cache/keypose.

PYTHON ?= $(shell tools/python.sh 3.11)
QUIET ?= -q
PYTEST_WORKERS ?= auto
PYTEST := -n $(PYTEST_WORKERS) --dist worksteal  # keeps tests of one module together, so that few servers and libraries are created twice
CORE := $(wildcard core/*.cpp core/*.hpp) CMakeLists.txt
PAGES := src/keypose/server/static/index.html
WEB := $(shell find web/src web/public -type f 2>/dev/null) $(wildcard web/*.json web/*.ts web/*.html)
BUILD_TOOLS := scikit-build-core nanobind cmake ninja
export PIP_DISABLE_PIP_VERSION_CHECK = 1
unexport PYTHONDONTWRITEBYTECODE  # otherwise each process that a test starts compiles the package again
PARALLEL := -j $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: demo serve web test check check-static check-web check-tests prepare prepare-313 test-313 fuzz bench format clean types
.DEFAULT_GOAL := help

.venv/.demo: pyproject.toml constraints.txt $(CORE)
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/pip install $(QUIET) -c constraints.txt $(BUILD_TOOLS)
	.venv/bin/pip install $(QUIET) -c constraints.txt --no-build-isolation -e .
	touch $@

.venv/.dev: .venv/.demo
	.venv/bin/pip install $(QUIET) -c constraints.txt --no-build-isolation -e '.[all,dev]'
	touch $@

demo: .venv/.demo ## run the main workflow on a generated motion, into out/
	.venv/bin/keypose demo out

web/node_modules/.ready: web/package.json web/package-lock.json
	tools/need.sh node npm
	cd web && npm install --no-save --no-audit --no-fund --loglevel=error  # not ci: a registry may lack packages for other platforms
	touch $@

$(PAGES): web/node_modules/.ready $(WEB)
	cd web && npm run --silent build
	touch $@

web: $(PAGES) ## build the pages of the web app into the package

serve: .venv/.dev $(PAGES) ## start the web app with generated clips
	.venv/bin/keypose serve --demo --open

# Installation waits for the network and the disk, so all of it runs at once, together with the short checks.
# The test suites run alone, because some of their tests measure time.
test: ## run all checks, then the suite again on Python 3.13 if it is installed
	tools/need.sh node npm chromium
	$(MAKE) $(PARALLEL) check-static check-web prepare
	$(MAKE) check-tests
	$(MAKE) test-313

prepare: .venv/.dev $(PAGES) prepare-313

check: check-static check-web check-tests ## run ruff, mypy, import-linter; biome, tsc, vitest; pytest

check-static: .venv/.dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/python tools/check_names.py

check-web: .venv/.dev web/node_modules/.ready
	mkdir -p build
	.venv/bin/python -m keypose.server.openapi >build/openapi.json
	diff build/openapi.json web/openapi.json || { echo "the API has changed: make types"; exit 1; }
	cd web && npm run --silent types -- --check
	cd web && npm run --silent check
	cd web && npm run --silent test

types: .venv/.dev web/node_modules/.ready ## generate the TypeScript types of the API, after a change of it
	.venv/bin/python -m keypose.server.openapi >web/openapi.json
	cd web && npm run --silent types

check-tests: .venv/.dev $(PAGES)
	tools/need.sh node npm chromium
	.venv/bin/pytest $(PYTEST)

.venv313/.dev: pyproject.toml constraints.txt $(CORE)
	test -x .venv313/bin/python || "$$(tools/python.sh 3.13)" -m venv .venv313
	.venv313/bin/pip install $(QUIET) -c constraints.txt $(BUILD_TOOLS)
	.venv313/bin/pip install $(QUIET) -c constraints.txt --no-build-isolation -e '.[all,dev]'
	touch $@

prepare-313:
	@if tools/python.sh 3.13 >/dev/null 2>&1; then $(MAKE) .venv313/.dev; fi

# Without tests that do not depend on the Python version: those with Chromium or Node.js, and those marked one_python. Tests with Blender use
# 5.2 here, and 4.5 on Python 3.11.
test-313: prepare-313
	@if tools/python.sh 3.13 >/dev/null; then \
	  .venv313/bin/pytest $(PYTEST) -m "not browser and not node and not one_python"; \
	else echo "Python 3.13 is not installed: the suite ran on 3.11 only"; fi

fuzz: .venv/.dev ## read 100,000 damaged files of every format
	KEYPOSE_BLENDER_PYTHON="$$(tools/blender.sh | tail -1)" .venv/bin/python -m tests.fuzz --count 100000

bench: .venv/.dev ## measure the figures that the documents state
	.venv/bin/pip install $(QUIET) -c constraints.txt setuptools wheel  # the package bvh has no wheel
	.venv/bin/pip install $(QUIET) -c constraints.txt -e '.[bench]' --no-build-isolation
	.venv/bin/python -m benchmarks

format: .venv/.dev web/node_modules/.ready ## format the code
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	cd web && npm run --silent format

clean: ## remove everything that was built in this folder
	rm -rf .venv .venv313 web/node_modules src/keypose/server/static build out .pytest_cache .mypy_cache .ruff_cache .hypothesis

help:
	@grep -E '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'
