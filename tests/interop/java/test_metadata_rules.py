"""The rules of table metadata, beside what the Java reference's parser reads and refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.table.metadata.refused_metadata import REFUSED
from tests.unit.table.metadata.repaired_metadata import READ, WARNED

ROOT = Path(__file__).parents[3]
JARS = Path(sys.prefix) / "jars"

pytestmark = pytest.mark.interop


def test_reference_reads_and_refuses_as_the_cases_note(tmp_path):
    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not jars:
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    cases = [*REFUSED, *WARNED, *READ]
    (tmp_path / "texts.json").write_text(json.dumps({case.name: case.value() for case in cases}))
    command = [sys.executable, "-m", "tests.interop.java.metadata_parser", str(jars[-1])]
    files = [str(tmp_path / name) for name in ("texts.json", "refusals.json")]
    run = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-6000:]
    refusals = json.loads((tmp_path / "refusals.json").read_text())
    assert {name: refusal is None for name, refusal in refusals.items()} == {case.name: case.java for case in cases}
    assert all(case.java for case in READ)
