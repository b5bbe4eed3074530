"""Every table of the Java reference, written once by a Spark of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.table import StaticTable

ROOT = Path(__file__).parents[3]
JARS = Path(sys.prefix) / "jars"
# Seconds for all tables together, with Spark's start; the first test that asks for one waits for all.
PATIENCE = 1200


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(PATIENCE + 60))


@dataclass(frozen=True)
class Written:
    """What the Java reference left behind."""

    folder: Path

    def table(self, name: str) -> StaticTable:
        self.check(name)
        return StaticTable.from_metadata(str(self.folder / "warehouse" / "db" / name))

    def answer(self, name: str, read: str = "head") -> pa.Table:
        with pa.OSFile(str(self.folder / "answers" / name / f"{read}.arrow")) as source:
            return pa.ipc.open_file(source).read_all()

    def reads(self, name: str) -> list[str]:
        """Where the table was read: snapshot ids, branches, tags."""
        return sorted({path.stem for path in (self.folder / "answers" / name).iterdir()} - {"head"})

    def check(self, name: str) -> None:
        failure = self.folder / "failures" / name
        if failure.exists():
            pytest.fail(f"Java did not write {name}: {failure.read_text()}", pytrace=False)


@pytest.fixture(scope="session")
def java(tmp_path_factory) -> Written:
    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not jars:
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    folder = tmp_path_factory.mktemp("java")
    command = [sys.executable, "-m", "tests.interop.java.writer", str(jars[-1]), str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode != 0:
        pytest.fail(f"the Java reference did not run:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}", pytrace=False)
    return Written(folder)
