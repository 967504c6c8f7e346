# Development commands. `make demo` and `make test` need only python3, a C++20 compiler and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Compiler settings written by bootstrap.sh (empty if the Python headers are installed).
ENV := . ./$(VENV)/build.env &&

SOURCES := CMakeLists.txt pyproject.toml $(shell find bind core -name '*.cpp' -o -name '*.hpp' -o -name 'CMakeLists.txt' 2>/dev/null)
CXX_FILES := $(shell find bind core src tests -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null)
CORE_BUILD := build/core
# Tests run in two processes; use SPREAD= for a single process, for example with a debugger. The Dask tests start and kill
# processes of their own, so they run after the others.
SPREAD := -n 2 --dist worksteal

# The sanitized extension has its own build and environment, which uses the packages of the main environment.
SANITIZED := build/sanitized
SANITIZED_TESTS := tests/core tests/search
SANITIZED_CASES := 300
SANITIZED_PYTHON := $(SANITIZED)/venv/python

.PHONY: help demo test core-test lint types docs wheel wheel-check format bench paper paper-quick clean
.PHONY: test-cuda sanitize sanitize-long sanitized tsan fuzz
.DELETE_ON_ERROR:

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed $(VENV)/.demo ## fit, print and plot a model of simulated credit data
	$(BIN)/python -m sparsegam demo

test: core-test $(VENV)/.installed $(VENV)/.test $(VENV)/.engines ## run the tests of the C++ core, then those of the package
	$(BIN)/python -m pytest $(SPREAD) --ignore=tests/dask $(PYTEST_ARGS)
	$(BIN)/python -m pytest tests/dask $(PYTEST_ARGS) || [ $$? = 5 ] # exit code 5: no test was selected

core-test: $(VENV)/.build-tools ## build and run the tests of the C++ core
	$(ENV) $(BIN)/cmake -S . -B $(CORE_BUILD) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	    -DSPARSEGAM_PYTHON=OFF -DSPARSEGAM_TESTS=ON $(CMAKE_FLAGS)
	$(BIN)/cmake --build $(CORE_BUILD)
	$(BIN)/ctest --test-dir $(CORE_BUILD) --output-on-failure --no-tests=error $(CTEST_ARGS)

test-cuda: $(VENV)/.installed $(VENV)/.test ## tests of device="cuda" on the GPU of this machine (requires CuPy)
	$(BIN)/python -m pytest tests/cuda -k "not emulated and not lent" $(PYTEST_ARGS)

fuzz: $(VENV)/.installed $(VENV)/.test ## random cases of the public API; FUZZ_ARGS="--cases 10000 --seed 1"
	$(BIN)/python tests/fuzz $(FUZZ_ARGS)

sanitize: sanitized ## run C++ tests, core tests and random cases with the address and undefined-behaviour sanitizers
	$(MAKE) core-test CORE_BUILD=build/sanitize CMAKE_FLAGS="-DSPARSEGAM_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo"
	$(SANITIZED_PYTHON) -m pytest -q -o timeout=900 $(SPREAD) $(SANITIZED_TESTS) $(PYTEST_ARGS)
	$(SANITIZED_PYTHON) tests/fuzz --seconds 300 --cases $(SANITIZED_CASES) $(FUZZ_ARGS)

sanitize-long: $(VENV)/.engines ## the same with the whole test suite and 10,000 cases
	$(MAKE) sanitize SANITIZED_TESTS=tests SANITIZED_CASES=10000

# Builds are incremental; Python files are copied each time.
sanitized: $(VENV)/.installed $(VENV)/.test $(SANITIZED)/venv/.made
	$(ENV) $(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) $$CMAKE_ARGS \
	    -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DSPARSEGAM_SANITIZE=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo
	$(ENV) $(BIN)/cmake --build $(SANITIZED)
	rm -rf $(SANITIZED)/package
	mkdir -p $(SANITIZED)/package
	cp -R src/sparsegam $(SANITIZED)/package
	$(BIN)/cmake --install $(SANITIZED) --prefix $(SANITIZED)/package

tsan: ## run the threaded C++ tests with the thread sanitizer
	$(MAKE) core-test CORE_BUILD=build/tsan CTEST_ARGS="-R 'parallel|threads'" \
	    CMAKE_FLAGS="-DSPARSEGAM_TSAN=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo"

lint: $(VENV)/.lint $(VENV)/.installed ## ruff, clang-format, codespell, imports and language; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(if $(CXX_FILES),$(BIN)/clang-format --dry-run -Werror $(CXX_FILES))
	$(BIN)/codespell
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_language.py

types: $(VENV)/.lint $(VENV)/.installed ## mypy, strict, on src/
	$(BIN)/mypy

docs: $(VENV)/.installed $(VENV)/.docs ## build the docs and run all their examples, warnings as errors
	rm -rf build/docs docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going -q -j 2 -b html docs build/docs

wheel: $(VENV)/.installed ## build the wheel into build/wheel
	rm -rf build/wheel
	$(ENV) PATH="$(abspath $(BIN)):$$PATH" $(PIP) wheel --quiet --no-build-isolation --no-deps --wheel-dir build/wheel .

wheel-check: wheel ## install only the wheel, without a compiler, and run the examples of README and "Getting started"
	tools/check_wheel.sh build/clean $(BIN)/python build/wheel/*.whl README.md docs/getting_started.md

format: $(VENV)/.lint ## format the code with ruff and clang-format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(if $(CXX_FILES),$(BIN)/clang-format -i $(CXX_FILES))

bench: $(VENV)/.installed $(VENV)/.demo $(VENV)/.peers ## run the benchmarks
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

paper: $(VENV)/.installed $(VENV)/.demo $(VENV)/.peers ## repeat the experiments of the paper; ARGS=--resume continues after an interruption
	$(BIN)/python -m benchmarks.paper $(ARGS)

paper-quick: $(VENV)/.installed $(VENV)/.demo $(VENV)/.peers ## the same on small grids, in a few minutes
	$(BIN)/python -m benchmarks.paper --quick $(ARGS)

paper-%: $(VENV)/.installed $(VENV)/.demo $(VENV)/.peers ## one experiment: fig3 to fig13, fig5n, d1, models, check
	$(BIN)/python -m benchmarks.paper $* $(ARGS)

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist demo .mypy_cache .pytest_cache .ruff_cache .hypothesis

# Stamp files record what is installed, so that a second run does nothing.
$(VENV)/.environment: tools/bootstrap.sh
	rm -rf $(VENV)
	tools/bootstrap.sh $(VENV) $(PYTHON)
	@touch $@

$(VENV)/.build-tools: $(VENV)/.environment
	$(PIP) install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.19" "ninja>=1.10"
	@touch $@

# Editable install without build isolation: Python changes take effect at once, C++ changes recompile only what changed.
$(VENV)/.installed: $(VENV)/.build-tools $(SOURCES)
	$(ENV) PATH="$(abspath $(BIN)):$$PATH" $(PIP) install --quiet --no-build-isolation --editable .
	@touch $@

$(SANITIZED)/venv/.made: $(VENV)/.environment tools/sanitized.sh
	tools/sanitized.sh $(SANITIZED)/venv $(BIN)/python $(abspath $(SANITIZED)/package)
	@touch $@

$(VENV)/.peers: $(VENV)/.environment benchmarks/requirements.txt
	$(PIP) install --quiet --requirement benchmarks/requirements.txt
	@touch $@

# The dependency groups are read from pyproject.toml.
$(VENV)/.test $(VENV)/.engines $(VENV)/.lint $(VENV)/.demo $(VENV)/.docs: $(VENV)/.%: $(VENV)/.environment pyproject.toml tools/group.py
	$(BIN)/python tools/group.py $* >$@.txt
	$(PIP) install --quiet --requirement $@.txt
	@touch $@
