"""Processes with the library of `disk.c`, which sweep operations over system calls."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.faults.disk.faulty_disk import build
from tests.faults.operations import operations_of

WORKER = Path(__file__).with_name("worker.py")
ROOT = WORKER.parents[3]
GROUPS = 3
"""Processes for the operations of one catalog."""


def pytest_generate_tests(metafunc):
    if "group" in metafunc.fixturenames:
        # One process runs a small share of the faults.
        groups = GROUPS if metafunc.config.getoption("--fault-share") == 1 else 1
        cases = [(kind, (group, groups)) for kind in ("hadoop", "sql") for group in range(groups)]
        metafunc.parametrize(("catalog_kind", "group"), cases, ids=[f"{kind}-{group}" for kind, (group, _) in cases])


@pytest.fixture
def operations(catalog_kind, group, selection):
    """The names of the operations of one process."""
    number, groups = group
    return selection.of(operations_of(catalog_kind))[number::groups]


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The compiled library."""
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        pytest.skip("needs Linux and a C compiler: apt-get install gcc libc6-dev")
    return build(tmp_path_factory.mktemp("library"))


@pytest.fixture
def sweep_disk(library, selection, record_sweep, tmp_path):
    """A function that sweeps operations in another process, records their figures under a title and returns the violations."""

    def sweep(what, title, kind, operations):
        arguments = [what, kind, tmp_path, selection.share, selection.first, *operations]
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-B", WORKER, *map(str, arguments)],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        results = [json.loads(line) for line in done.stdout.splitlines()]
        assert [result["operation"] for result in results] == operations
        for result in results:
            tally = SimpleNamespace(**result["tally"])
            figures = SimpleNamespace(tally=tally, violations=result["violations"])
            if title is not None:
                record_sweep(title, kind, result["operation"], figures)
        return [f"{result['operation']}: {text}" for result in results for text in result["violations"]]

    return sweep
