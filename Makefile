# Everything a person types. Each target does its own set-up: packages, Python environment, builds.
MAKEFLAGS += --no-print-directory
SHELL := bash
.SHELLFLAGS := -o pipefail -c
JOBS ?= $(shell nproc)
# Neither Maven nor the tests' own JVMs are what the user's JVM options are meant for.
unexport JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS
# A test run starts Python hundreds of times: without what it compiled before, each start takes three times as long.
unexport PYTHONDONTWRITEBYTECODE

# Where ccache is, every build asks it first; also for what another clone of this repository has compiled.
export CMAKE_C_COMPILER_LAUNCHER = $(shell command -v ccache)
export CMAKE_CXX_COMPILER_LAUNCHER = $(shell command -v ccache)
export CCACHE_BASEDIR = $(CURDIR)
export CCACHE_NOHASHDIR = 1
# Maven's own JVM ends before its second compiler has paid.
export MAVEN_OPTS ?= -XX:TieredStopAtLevel=1
# And what mypy knows of every module, by content.
export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/memgraft/mypy

# A new folder each time: a comparison never mixes its launches with another's.
DEMO_OUTPUT ?= memgraft-out/demo-$(shell date +%Y%m%d-%H%M%S)
DEMO_LAUNCHES ?= 8
# Options of ordering/demo/show.py.
DEMO_SERVER ?=
# Eight iterations instead of its fifteen: half of the time, and still four steady ones.
DEMO_WORKLOAD ?= lusearch --iterations 8
VENV := .venv/bin
MAVEN := mvn --batch-mode --no-transfer-progress
# One call, by the version that this pom has, for all sources but a test's inputs, whose lines are as they must be.
FORMAT_JAVA = $(MAVEN) -q -f ordering/annotation/pom.xml \
  -DadditionalSourceDirectories=$(subst $(space),$(comma),$(addprefix $(CURDIR)/,$(JAVA_FOLDERS))) com.spotify.fmt:fmt-maven-plugin
JAVA_FOLDERS = $(shell git ls-files '*.java' | grep -vE '^ordering/annotation/|/sources/' | \
  sed -E 's,(/src/[a-z]+/java)/.*,\1,; t; s,/[^/]*$$,,' | sort -u)
comma := ,
space := $() $()
CXX_SOURCES = $(shell git ls-files '*.cpp' '*.h' '*.c')

.PHONY: help build demo demo-zeroing test bench options lint format clean
.PHONY: packages test-packages native python development workloads litmus java-programs java-agent jcstress annotations
.PHONY: jdks guest-kernel
.PHONY: agent-aarch64 test-mapping
.PHONY: test-native test-sanitizers test-cross test-fuzz test-python test-java test-end-to-end test-deep test-repeat soak
.PHONY: lint-python lint-cpp lint-java

help:
	@echo "make demo    a small server with a missing volatile, on this machine's JVM and under --ordering sc; which field is it? (under 5 minutes)"
	@echo "make demo-zeroing   what another zeroing does to Lucene on this machine's JVM (under 15 minutes)"
	@echo "make test    the gate: every test whose outcome is the code's alone; installs (as root) or names what is missing"
	@echo "make test-deep [AREA=...]   what measures this machine, runs for long or multiplies combinations"
	@echo "make test-repeat [TIMES=6]  the gate again and again, quiet and busy by turns: what differs?"
	@echo "make build   memgraft, for bin/memgraft"
	@echo "make agent-aarch64   the agent for another architecture, into build/agent-aarch64"
	@echo "make soak    half an hour of random allocation buffers under heap verification"
	@echo "make java-agent    memgraft-ordering.jar, for --engine bytecode"
	@echo "make annotations   memgraft-annotations.jar, for Java sources with @memgraft.Relaxed"
	@echo "make bench   the zeroing kernels on this machine"
	@echo "make options   what follows from the declarations of options: the agent's header, the table in docs/formats.md"
	@echo "make lint    formatting, linters, types; make format mends what can be mended"
	@echo "make clean   removes everything built here"

# --- building -------------------------------------------------------------------------------------------------------

build: native python

packages:
	@setup/packages build

test-packages: packages
	@setup/packages test

# Each folder of build/ is a preset of CMakePresets.json.
CONFIGURE = cmake --log-level=WARNING --preset

native: packages
	@$(CONFIGURE) native >/dev/null
	@cmake --build build/native -j $(JOBS) -- --quiet
	@cmake --install build/native --component python --prefix memgraft/native >/dev/null

# The agent alone, for AArch64. Its libelf is a package of that architecture (setup/packages test).
agent-aarch64: test-packages
	@missing=; \
	command -v aarch64-linux-gnu-g++ >/dev/null || missing="no aarch64-linux-gnu-g++ (package g++-aarch64-linux-gnu)"; \
	PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig pkg-config --exists libelf || \
	  missing="$${missing:+$$missing, }no libelf for it (package libelf-dev:arm64, after dpkg --add-architecture arm64)"; \
	if [ -n "$$missing" ]; then echo "SKIPPED: the agent for aarch64: $$missing"; exit 0; fi; \
	$(CONFIGURE) agent-aarch64 >/dev/null && \
	cmake --build build/agent-aarch64 -j $(JOBS) --target memgraft_hotspot -- --quiet

# PYTHON_PACKAGES=development: with what tests and lint need, in one call of pip.
python: packages
	@setup/python $(or $(PYTHON_PACKAGES),run)

development: python
	@setup/python development

jdks: python
	@setup/jdks

guest-kernel: test-packages
	@setup/guest-kernel

# The JVM workloads; bin/workload would build each at its first use.
workloads: packages
	@bin/workload --build

# The jar that Java programs are compiled with to use @memgraft.Relaxed.
annotations: packages
	@$(MAVEN) -q -f ordering/annotation/pom.xml package
	@echo ordering/annotation/target/memgraft-annotations.jar

# What `--engine bytecode` joins with: the one part of Memgraft that runs inside any JVM.
java-agent: packages
	@$(MAVEN) -q -f ordering/java-agent/pom.xml -DskipTests package
	@mkdir -p memgraft/native && cp ordering/java-agent/target/memgraft-ordering.jar memgraft/native/

litmus: packages
	@bin/litmus --list >/dev/null

# OpenJDK's own samples of races; nothing is built, but Maven fetches them.
jcstress: packages
	@bin/jcstress --list >/dev/null

# --- showing --------------------------------------------------------------------------------------------------------

demo: build
	@$(VENV)/python ordering/demo/show.py $(DEMO_SERVER)

demo-zeroing: DEMO_OUTPUT := $(DEMO_OUTPUT)
demo-zeroing: build
	@bin/workload $(firstword $(DEMO_WORKLOAD)) --help >/dev/null
	bin/memgraft doctor
	bin/memgraft compare --zeroing non-temporal --launches $(DEMO_LAUNCHES) --output $(DEMO_OUTPUT) -- \
	  bin/workload $(DEMO_WORKLOAD)
	@echo "The page with the pictures: $(abspath $(DEMO_OUTPUT))/report.html"

bench: build
	bin/memgraft zero bench

# --- testing --------------------------------------------------------------------------------------------------------

# Two at a time, since each of them waits for something now and then: the longest beside all others. After a failure the
# others go on: one run shows everything. What they share is built before, in order (SHARED_IS_READY).
GATE = test-java test-native test-end-to-end test-sanitizers test-python test-cross test-mapping test-fuzz
END_TO_END = build agent-aarch64 development java-programs test-packages jdks guest-kernel

# Maven keeps what it downloads in one place, which two of them must not fill at once.
java-programs: packages
	@$(MAKE) workloads && $(MAKE) litmus && $(MAKE) java-agent

# Packages first: none may change under a compiler that runs.
test: export PYTHON_PACKAGES = development
test: test-packages
	@$(MAKE) -j $(JOBS) --output-sync=line $(END_TO_END)
	@echo "two parts at a time; what each says follows when it has ended"
	@$(MAKE) -j 2 --output-sync=line --keep-going SHARED_IS_READY=yes $(GATE)

# The prerequisites, unless they are known to be there.
unless_ready = $(if $(SHARED_IS_READY),,$(1))

# ctest and pytest end what hangs, and leave a report: build/FOLDER/report.xml and build/reports/TARGET.xml.
CTEST = ctest --output-on-failure --output-junit report.xml --timeout 600 -j $(JOBS)
PYTEST = $(VENV)/python -m pytest -q --junitxml=build/reports/$@.xml

test-native: $(call unless_ready,test-packages native)
	$(CTEST) --test-dir build/native

# Without address randomisation where that may be asked for: sanitizers of GCC 12 and Clang 14 cannot place their
# shadow memory under the 32 bits of it that some kernels use.
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)

# Models have one thread, and so have the tests of single kernels.
LEFT_OUT_thread = --exclude-regex '[.]model[.]|^zeroing[.]zeroing_(kernels|disclaim)_test'

test-sanitizers: $(call unless_ready,packages)
	@failed=0; $(foreach preset,address-undefined thread, \
	  $(CONFIGURE) $(preset) >/dev/null && \
	  $(FIXED_ADDRESSES) cmake --build build/$(preset) -j $(JOBS) -- --quiet && \
	  $(FIXED_ADDRESSES) $(CTEST) $(LEFT_OUT_$(preset)) --test-dir build/$(preset) || failed=1;) \
	exit $$failed

# The kernels of the other instruction sets, under QEMU's user mode. No kernel has SVE, which glibc would use and QEMU
# takes twice as long for.
CROSS = aarch64:aarch64-linux-gnu:max,sve=off ppc64le:powerpc64le-linux-gnu riscv64:riscv64-linux-gnu

test-cross: $(call unless_ready,test-packages)
	@failed=0; for words in $(CROSS); do \
	  IFS=: read -r isa target cpu <<<"$$words"; \
	  if ! command -v $$target-g++ >/dev/null; then \
	    echo "SKIPPED: zeroing on $$isa: no $$target-g++ (package g++-$$target)"; continue; fi; \
	  if ! command -v qemu-$$isa >/dev/null && ! command -v qemu-$$isa-static >/dev/null; then \
	    echo "SKIPPED: zeroing on $$isa: no qemu-$$isa (package qemu-user)"; continue; fi; \
	  if [ ! -e /usr/src/googletest/CMakeLists.txt ]; then \
	    echo "SKIPPED: zeroing on $$isa: no /usr/src/googletest (package googletest)"; continue; fi; \
	  $(CONFIGURE) cross-$$isa >/dev/null && \
	  cmake --build build/cross-$$isa -j $(JOBS) -- --quiet && \
	  env $${cpu:+QEMU_CPU=$$cpu} $(CTEST) --test-dir build/cross-$$isa || failed=1; \
	done; exit $$failed

# In the gate every fuzzer has the same inputs every time; FUZZ=-max_total_time=600 looks for new ones.
FUZZ ?= -seed=1 -runs=20000
FUZZERS = zeroing/fuzz/zero_fuzzer zeroing/fuzz/table_fuzzer stocks/hotspot/fuzz/options_fuzzer \
  stocks/hotspot/fuzz/relaxed_fuzzer stocks/hotspot/fuzz/annotations_fuzzer linux/fuzz/perf_records_fuzzer \
  observation/fuzz/spe_packets_fuzzer observation/fuzz/ibs_sample_fuzzer observation/replay/touches_fuzzer

test-fuzz: $(call unless_ready,test-packages)
	@if ! setup/has-libfuzzer; then echo "SKIPPED: the fuzzers need clang with libFuzzer (setup/packages test)"; exit 0; fi; \
	$(CONFIGURE) fuzz >/dev/null && \
	cmake --build build/fuzz -j $(JOBS) -- --quiet $(notdir $(FUZZERS)) && \
	$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j $(JOBS)) --output-sync=target --keep-going \
	  --no-print-directory $(addprefix fuzz/,$(FUZZERS))

.PHONY: $(addprefix fuzz/,$(FUZZERS))
$(addprefix fuzz/,$(FUZZERS)): fuzz/%:
	@log=build/fuzz/$(notdir $*).log; echo "fuzzing $* $(FUZZ)"; \
	$(FIXED_ADDRESSES) build/fuzz/$* $(FUZZ) -timeout=600 -print_final_stats=1 -artifact_prefix=build/fuzz/ >$$log 2>&1; \
	code=$$?; grep -E "number_of_executed_units|ERROR|Test unit" $$log; exit $$code

test-java: $(call unless_ready,packages)
	$(MAVEN) -f workloads/jvm/pom.xml test | grep -E "Tests run:|ERROR|BUILD"
	$(MAVEN) -f ordering/litmus/pom.xml test | grep -E "Tests run:|ERROR|BUILD"
	$(MAVEN) -f ordering/compilers/pom.xml test | grep -E "Tests run:|ERROR|BUILD"
	$(MAVEN) -f ordering/java-agent/pom.xml test | grep -E "Tests run:|ERROR|BUILD"

test-python: $(call unless_ready,development)
	$(PYTEST) -n $(JOBS) -m "not deep" memgraft ordering/jcstress/tests

# What is fenced how, against the machines' own memory models, and when. It takes every CPU by itself.
test-mapping: $(call unless_ready,development test-packages)
	$(PYTEST) -m "not deep" ordering/mapping/tests ordering/speculation/tests

# Two workers even on one CPU: a test waits a good part of its time.
TEST_JOBS ?= $(shell echo $$(($(JOBS) > 2 ? $(JOBS) : 2)))

test-end-to-end: $(call unless_ready,$(END_TO_END))
	$(PYTEST) -n $(TEST_JOBS) -m "not deep" --durations=15 tests

AREA ?= all
test-deep: export PYTHON_PACKAGES = development
test-deep: test-native $(END_TO_END)
	$(VENV)/python tests/deep.py $(AREA)

TIMES ?= 6
test-repeat: export PYTHON_PACKAGES = development
test-repeat: $(END_TO_END)
	$(VENV)/python tests/repeat.py $(TIMES)

# Half an hour of buffers of all kinds in all JVMs under heap verification; two minutes of it are among the deep tests.
SOAK_SECONDS ?= 1800
soak: build development workloads test-packages jdks
	MEMGRAFT_SOAK_SECONDS=$(SOAK_SECONDS) $(VENV)/python -m pytest -q -s tests/test_buffers.py -k soak

# --- keeping tidy ---------------------------------------------------------------------------------------------------

# BASE=COMMIT: clang-tidy only over what has changed since.
BASE ?=

lint: export PYTHON_PACKAGES = development
lint:
	@$(MAKE) -j $(JOBS) --output-sync=line native development
	@$(MAKE) -j $(JOBS) --output-sync=target --keep-going lint-python lint-cpp lint-java

lint-python:
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/lint-imports

lint-cpp:
	@echo "clang-format"; $(VENV)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(VENV)/python checks/dependencies.py
	$(VENV)/python checks/agent_options.py
	$(VENV)/python checks/tidy.py build/native $(BASE)

lint-java:
	@echo "google-java-format"; $(FORMAT_JAVA):check

options: development
	$(VENV)/python checks/agent_options.py --write

format: development
	$(VENV)/ruff check --fix-only .
	$(VENV)/ruff format .
	$(VENV)/clang-format -i $(CXX_SOURCES)
	@$(FORMAT_JAVA):format

clean:
	rm -rf build dist .venv memgraft/native memgraft-out .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
	find workloads/jvm ordering/litmus ordering/compilers ordering/annotation ordering/java-agent ordering/jcstress -name target -prune -exec rm -rf {} +
