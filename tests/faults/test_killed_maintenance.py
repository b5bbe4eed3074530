"""SIGKILL at random moments of writes and maintenance: no row and no ref is lost, and maintenance goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).parent / "killed_maintenance.py"
KILLS = 4


@pytest.mark.parametrize("kind", ["hadoop", "sql"])
def test_killed_programs_of_writes_and_maintenance_lose_no_row(kind, tmp_path, request):
    seed = request.config.getoption("--first-history")
    done = subprocess.run(
        [sys.executable, WORKER, kind, tmp_path, str(KILLS), str(seed)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"
    assert len(done.stdout.splitlines()) == KILLS
