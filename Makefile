# make          build Headrace and install it into .venv
# make demo     rewrite a real file compressed with an unmodified h5py program, without and with Headrace
# make test     lint, clang-tidy, the C++ tests and programs under layers, plain and under sanitizers,
#               and suites of others: what a change has to pass; its times are in build/test-times.json
# make test LONG=1   all there is, in hours: for a night, or before a release
# make check    the quick part of it
# make bench    the benchmarks
# make wheel    a wheel in dist/ for machines without a compiler: no libhdf5 and no MPI in it
# make format   rewrite the sources in the project's style
# make clean    remove all that the above have made
#
# All of them install what they need first, and say so; see scripts/setup.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := .venv
PYTHON := $(VENV)/bin/python
STAGE := scripts/stage.sh
LONG ?= 0
export LONG
# As many C++ tests run side by side; of programs more, as those wait for disks and each other.
CORES := $(shell nproc)
WORKERS := $(shell echo $$(( (3 * $(CORES) + 1) / 2 )))
# The tests of a group, usually a file, stay together. Files begin in the order of
# PYTHON_TESTS, in which those that take minutes come first.
# Programs are interrupted in tests, which a shell's background job and what it starts ignore.
PYTEST := env --default-signal=INT $(PYTHON) -m pytest --timeout=900 -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
TIMES := build/times
BUDGET := 2400

FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)

# What the installed package is made from.
SOURCES := $(shell find CMakeLists.txt LICENSE README.md cmake include pyproject.toml \
    python/headrace scripts/setup src tools -type f -not -name '*.pyc' 2>/dev/null)
# All files of the project that exist, be they committed yet or not.
FILES := $(wildcard $(shell git ls-files --cached --others --exclude-standard 2>/dev/null))
C_FILES := $(filter %.c %.cpp %.h %.hpp,$(FILES))
SHELL_FILES := .ci/run $(filter %.sh,$(FILES))
LONGEST_TESTS := tests/parallel tests/install tests/interop tests/layers/async tests/machines \
    tests/kernels tests/layers/stripe tests/filters tests/bench tests/demo tests/layers/fault tests/crash \
    tests/layers/log tests/launcher
LAYERS_TESTS := $(patsubst %/,%,$(wildcard tests/layers/*/))
PYTHON_TESTS := $(wildcard $(LONGEST_TESTS) $(filter-out $(LONGEST_TESTS),$(LAYERS_TESTS)) examples \
    python/tests)

# Tests start from a clean slate. They may start MPI programs as root, in a container without the
# right to look into other processes, and with more ranks than there are cores to wait busily on.
unexport HDF5_PLUGIN_PATH HDF5_VOL_CONNECTOR HDF5_DRIVER HDF5_DRIVER_CONFIG
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export OMPI_MCA_mpi_yield_when_idle := 1
# A pool of threads for matrices, which no test multiplies, doubles what starting Python takes.
export OPENBLAS_NUM_THREADS := 1
export OMPI_MCA_btl_vader_single_copy_mechanism := none

.PHONY: build demo test test-stages check check-stages bench wheel lint tidy format clean setup-demo \
    setup-test setup-hdf5 always dev ctest ctest-asan ctest-tsan pytest pytest-address pytest-thread

# What ccache keeps serves every checkout; it must know what GCC's precompiled headers depend on.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_SLOPPINESS := pch_defines,time_macros

build:
	@scripts/setup/apt.sh demo
	@$(MAKE) --silent $(VENV)/.headrace

demo: setup-demo
	@$(PYTHON) demo/run.py

test check: export STAGE_TIMES := $(CURDIR)/$(TIMES)/stages
test check:
	@rm -rf $(TIMES)
	@mkdir -p $(TIMES)
	@status=0; $(MAKE) $@-stages || status=$$?; \
	    python3 scripts/test_times.py $(TIMES) build/test-times.json $(BUDGET); exit $$status

# Budgets are those of a fresh machine with 2 cores. Any stage can be run by itself, and a part of
# Python's: make pytest LONG=1 PYTHON_TESTS=tests/layers/log
test-stages:
	@$(STAGE) --budget 900 "set-up and build" $(MAKE) setup-test
	@$(STAGE) --budget 60 "lint" $(MAKE) lint
	@$(STAGE) --budget 420 "clang-tidy" $(MAKE) tidy
	@$(STAGE) --budget 120 "C++ tests" $(MAKE) ctest
	@$(STAGE) --budget 300 "C++ tests, address and undefined behaviour sanitizers" $(MAKE) ctest-asan
	@$(STAGE) --budget 240 "C++ tests, thread sanitizer" $(MAKE) ctest-tsan
	@$(STAGE) --budget 1080 "programs" $(MAKE) pytest
	@$(STAGE) --budget 360 "programs, address and undefined behaviour sanitizers" \
	    $(MAKE) pytest-address
	@$(STAGE) --budget 120 "programs, thread sanitizer" $(MAKE) pytest-thread

check-stages:
	@$(STAGE) "set-up and build" $(MAKE) setup-test
	@$(STAGE) "lint" $(MAKE) lint
	@$(STAGE) "C++ tests" $(MAKE) ctest
	@$(STAGE) "programs" $(MAKE) pytest PYTHON_TESTS="python/tests examples"

pytest:
	@$(PYTEST) --junitxml=$(TIMES)/programs.xml $(PYTHON_TESTS)

pytest-address pytest-thread: pytest-%:
	@HEADRACE_TEST_SANITIZER=$* $(FIXED_ADDRESSES) $(PYTEST) \
	    --junitxml=$(TIMES)/programs-$*.xml $(filter tests/%,$(PYTHON_TESTS))

# The full iotest takes 3 GB of disk and its time; BENCH_REPEATS=1 is the shortest.
BENCH_REPEATS := 3
# E3SM-IO's maps and headers, see docs/guide/kernels/e3sm.md.
E3SM_DATA := ../shared/data/e3sm
PARALLEL_HDF5 := build/hdf5/1.14.5-openmpi/install/lib/libhdf5.so
bench: setup-test
	@$(STAGE) "what a layer costs" $(PYTHON) bench/micro/run.py
	@$(STAGE) "what the harness costs" $(PYTHON) bench/harness/run.py \
	    --output bench/results/$$(date +%F)-harness
	@$(STAGE) "the model and this disk" $(PYTHON) bench/model/run.py --output bench/results/$$(date +%F)-model
	@$(STAGE) "what the async stack gains and costs" $(PYTHON) bench/async/run.py \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-async
	@$(STAGE) "what the log layer gains and costs" $(PYTHON) bench/log/run.py --data $(E3SM_DATA) \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-log
	@$(STAGE) "what tracing costs" $(PYTHON) bench/trace/run.py --data $(E3SM_DATA) \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-trace
	@$(STAGE) "what advice gains" $(PYTHON) bench/advice/run.py \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-advice
	@$(STAGE) "how near replays are" $(PYTHON) bench/replay/run.py \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-replay
	@$(STAGE) "what the layer tune gains" $(PYTHON) bench/tune/run.py \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-tune
	@$(STAGE) "what is best on modelled Lustre" $(PYTHON) bench/tune/lustre.py \
	    --output bench/results/$$(date +%F)-tune-lustre
	@$(STAGE) "the search beside a grid" $(PYTHON) bench/tune/grid.py \
	    --output bench/results/$$(date +%F)-tune-grid
	@$(STAGE) "one configuration for iotest" $(PYTHON) bench/tune/iotest.py \
	    --output bench/results/$$(date +%F)-tune-iotest
	@$(STAGE) "what the layer stripe gains" $(PYTHON) bench/stripe/run.py \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-stripe
	@$(STAGE) "what the layer cache gains" $(PYTHON) bench/cache/run.py \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-cache
	@$(STAGE) "what the layer object gains" $(PYTHON) bench/object/run.py \
	    --repeats $(BENCH_REPEATS) --output bench/results/$$(date +%F)-object
	@$(STAGE) "pieces on modelled file systems" $(PYTHON) bench/stripe/model.py \
	    --output bench/results/$$(date +%F)-stripe-model
	@$(STAGE) "the async stack over ranks" $(VENV)/bin/headrace bench ior --np 1,2,4 \
	    --stack 'native,async,async(mpi_staging=true)' --hdf5 $(PARALLEL_HDF5) \
	    --repeats $(BENCH_REPEATS) --out bench/results/$$(date +%F)-async-ranks
	@$(STAGE) "iotest, full size" $(VENV)/bin/headrace bench iotest --np 2 --baseline \
	    --hdf5 $(PARALLEL_HDF5) --repeats $(BENCH_REPEATS) \
	    --out bench/results/$$(date +%F)-iotest

# An MPI module fits the MPI that it was built with, so a site builds its own: pip install .
DIST := dist
WHEEL_BUILD := build/wheel
# What is in .venv is made of the objects that tests are linked with, for a build more would take minutes.
PACKAGE := headrace_package
FROM_DEV = cmake.build-type=RelWithDebInfo cmake.define.HEADRACE_DEVELOP=true install.strip=true \
    build.targets=$(PACKAGE)
settings = $(patsubst %,--config-settings=%,build-dir=$(1) $(if $(filter build/dev,$(1)),$(FROM_DEV)))
PACKAGE_SETTINGS = $(call settings,build/dev)
NOT_IN_WHEEL := headrace/lib/libheadrace_mpi_*;headrace/bin/headrace-bench-pnetcdf
wheel:
	@scripts/setup/apt.sh demo
	@$(MAKE) --silent $(VENV)/.wheel
	@rm -rf build/untagged
	@$(VENV)/bin/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir build/untagged \
	    $(call settings,$(WHEEL_BUILD)) --config-settings='wheel.exclude=$(NOT_IN_WHEEL)' .
	@PATH=$(CURDIR)/$(VENV)/bin:$$PATH auditwheel repair --wheel-dir $(DIST) build/untagged/*.whl \
	    >build/untagged/log 2>&1 || { cat build/untagged/log; exit 1; }
	@rm -rf build/untagged
	@ls $(DIST)/headrace-*.whl

# ---- checks of the sources

lint: $(VENV)/.test
	@$(VENV)/bin/clang-format --dry-run -Werror $(C_FILES)
	@$(VENV)/bin/ruff check --quiet
	@$(VENV)/bin/ruff format --quiet --check
	@$(VENV)/bin/mypy --no-error-summary
	@MYPYPATH=tests $(VENV)/bin/mypy --no-error-summary tests
	@MYPYPATH=. $(VENV)/bin/mypy --no-error-summary bench demo
	@$(PYTHON) scripts/lint/includes.py
	@said=$$(PYTHONPATH=python $(VENV)/bin/lint-imports --no-cache 2>&1) || { echo "$$said"; exit 1; }
	@$(VENV)/bin/shellcheck $(SHELL_FILES)

# Every object, but nothing that is linked: clang-tidy runs in the compiler's place, when LONG=1 on each
# source by itself, and else on those of a folder together, in a fifth of the time.
TIDY := build/tidy$(if $(filter-out 0,$(LONG)),-analyzer)
BY_FOLDER := $(if $(filter-out 0,$(LONG)),OFF,ON)
tidy:
	@cmake --preset tidy -B $(TIDY) -D HEADRACE_BY_FOLDER=$(BY_FOLDER) >/dev/null
	@ninja -C $(TIDY) -t targets all | sed -n 's/\.cpp\.o: .*/.cpp.o/p' | xargs ninja -C $(TIDY) --quiet -k 0

format: $(VENV)/.test
	@$(VENV)/bin/clang-format -i $(C_FILES)
	@$(VENV)/bin/ruff check --quiet --fix
	@$(VENV)/bin/ruff format --quiet

# ---- C++ tests

dev:
	@mkdir -p $(TIMES)
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev

ctest: dev
	@ctest --preset dev -j $(CORES) --output-junit $(CURDIR)/$(TIMES)/ctest.xml

# GCC 12's thread sanitizer cannot start where the kernel spreads addresses widely.
ctest-asan ctest-tsan: ctest-%:
	@mkdir -p $(TIMES)
	@cmake --preset $* >/dev/null
	@cmake --build --preset $*
	@$(FIXED_ADDRESSES) ctest --preset $* -j $(CORES) --label-exclude parallel \
	    --output-junit $(CURDIR)/$(TIMES)/ctest-$*.xml

# ---- set-up: each step costs nothing when there is nothing to do

# The demonstration does without the benchmarks, a fourth of the time, unless they are there.
setup-demo:
	@scripts/setup/apt.sh demo
	@$(MAKE) --silent $(VENV)/.headrace \
	    PACKAGE=$$(grep -os headrace_package $(VENV)/.built-with || echo headrace_layers)

setup-test:
	@scripts/setup/apt.sh test
	@$(MAKE) --silent $(VENV)/.test & packages=$$!; \
	    $(MAKE) --silent setup-hdf5; hdf5=$$?; wait $$packages && exit $$hdf5
	@$(MAKE) --silent dev
	@$(MAKE) --silent $(VENV)/.headrace

setup-hdf5:
	@scripts/setup/build-hdf5.sh 1.14.5-openmpi
	@scripts/setup/build-hdf5.sh 2.2.0-mpich

$(VENV)/bin/pip:
	@echo "[setup] Python environment -> $(VENV)"
	@python3 -m venv $(VENV)

$(VENV)/.demo $(VENV)/.wheel $(VENV)/.test: $(VENV)/.%: requirements/%.txt \
    requirements/demo.txt requirements/wheel.txt | $(VENV)/bin/pip
	@echo "[setup] PyPI packages:" $$(sed -E '/^(#|-)/d' $< | tr '\n' ' ')
	@$(VENV)/bin/pip install --quiet -r $<
	@touch $@

# How the package is built, and of what on this machine: it is installed anew when that changes.
$(VENV)/.built-with: always | $(VENV)/bin/pip
	@with="$(PACKAGE_SETTINGS) $$(scripts/setup/optional.sh)"; \
	    [ "$$with" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$with" >$@

# The build folder is kept, so that only what changed is compiled again.
$(VENV)/.headrace: $(SOURCES) $(VENV)/.demo $(VENV)/.built-with
	@echo "[setup] Headrace -> $(VENV) (pip install .)"
	@$(VENV)/bin/pip install --quiet --no-build-isolation --no-deps --force-reinstall \
	    $(PACKAGE_SETTINGS) .
	@touch $@

clean:
	rm -rf $(VENV) build
