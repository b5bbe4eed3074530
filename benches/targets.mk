# The commands that measure: the Rust kernels, and icefloe beside its peers. The Makefile includes this file.

.PHONY: bench
bench: | check-tools ## Run the criterion benches of the Rust kernels
	@cargo bench --locked --profile release -p icefloe-benches

# The peers have an environment of their own, with the wheel as it is published.
BENCH_BIN := .bench/venv/bin

.bench/.ready: pyproject.toml constraints.txt dist/release/.built | $(BIN)/uv
	$(SAY) "Installing icefloe's release wheel and its peers into .bench/venv"
	@test -x $(BENCH_BIN)/python || $(PYTHON) -m venv .bench/venv
	@$(UV) pip install --quiet --python $(BENCH_BIN)/python -c constraints.txt --group pyproject.toml:bench
	@$(UV) pip install --quiet --python $(BENCH_BIN)/python --reinstall-package icefloe dist/release/icefloe-*.whl
	@touch $@

.PHONY: bench-peers
bench-peers: | $(VENV)/.tools ## Run icefloe beside its peers on the same work (CASE=name for one, ROUNDS=5)
	@$(MAKE) --no-print-directory PROFILE=release .bench/.ready
	@$(WITH_JAVA) PYTHONPATH=benches $(BENCH_BIN)/python -m peers --rounds $(ROUNDS) $(if $(CASE),--case $(CASE)) $(BENCH_ARGS)

.PHONY: bench-rewrites
bench-rewrites: | $(VENV)/.tools ## Compact, sort and cluster SF1 lineitem from 64 files beside a scan and a write (SF=1, ROUNDS=5)
	@$(MAKE) --no-print-directory PROFILE=release .bench/.ready
	@PEERS_SCALE=$(SF) PYTHONPATH=benches $(BENCH_BIN)/python benches/rewrites.py --rounds $(ROUNDS) $(BENCH_ARGS)

.PHONY: bench-maintenance
bench-maintenance: | $(VENV)/.tools ## Time the plans of expiry and of orphan files over 100,000 data files
	@$(MAKE) --no-print-directory PROFILE=release .bench/.ready
	@$(BENCH_BIN)/python benches/maintenance.py $(BENCH_ARGS)

.PHONY: bench-races
bench-races: $(REST_SERVER)/.ready $(BIN)/versitygw | $(VENV)/.tools ## Let 8 processes append to one table of each catalog, beside PyIceberg (BENCH_ARGS="--catalog sqlite --commits 25")
	@$(MAKE) --no-print-directory PROFILE=release .bench/.ready
	@ln -sfn $(abspath $(VENV))/jars .bench/venv/jars
	@$(WITH_JAVA) PATH="$(abspath $(BIN)):$$PATH" PYTHONPATH=benches:. $(BENCH_BIN)/python -m races $(BENCH_ARGS)

.PHONY: bench-appends
bench-appends: | $(VENV)/.tools ## Time the 1st, 1,000th and 10,000th append to one table (BENCH_ARGS="--catalog sqlite --commits 10000")
	@$(MAKE) --no-print-directory PROFILE=release .bench/.ready
	@PYTHONPATH=benches $(BENCH_BIN)/python -m appends $(BENCH_ARGS)
