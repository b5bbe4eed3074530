"""Every table of the Java reference, written once by a Spark of its own beside the first tests."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """The tables and answers that the Java reference wrote."""

    folder: Path

    def table(self, name: str) -> StaticTable:
        self.check(name)
        return StaticTable.from_metadata(str(self.folder / "warehouse" / "db" / name))

    def answer(self, name: str, read: str = "head") -> pa.Table:
        with pa.OSFile(str(self.folder / "answers" / name / f"{read}.arrow")) as source:
            return pa.ipc.open_file(source).read_all()

    def reads(self, name: str) -> list[str]:
        """The snapshot ids, branches and tags at which the table was read."""
        return sorted({path.stem for path in (self.folder / "answers" / name).iterdir()} - {"head"})

    def record(self, kind: str, name: str) -> Any:
        """Return what was noted as JSON."""
        self.check(f"{kind}-{name}")
        return json.loads((self.folder / kind / f"{name}.json").read_text())

    def check(self, name: str) -> None:
        failure = self.folder / "failures" / name
        if failure.exists():
            pytest.fail(f"Java did not write {name}: {failure.read_text()}", pytrace=False)


def folder_of_run(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the tables, the same in all parallel workers."""
    run = factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else factory.getbasetemp()
    return run / "java"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start the reference as soon as it is known that its tables are read: its Spark takes a minute or two."""
    needed = any(Path(__file__).parent in item.path.parents for item in session.items)
    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not needed or not jars or session.config.option.collectonly:
        return
    folder = folder_of_run(session.config._tmp_path_factory)
    try:
        folder.mkdir()
    except FileExistsError:  # another worker has started it
        return
    programs = [str(session.config.getoption(name)) for name in ("--first-java-program", "--java-programs")]
    write = shlex.join([sys.executable, "-m", "tests.interop.java.writer", str(jars[-1]), str(folder), *programs])
    script = f"{write} > {folder}/log 2>&1; echo $? > {folder}/status.new; mv {folder}/status.new {folder}/status"
    subprocess.Popen(["sh", "-c", script], cwd=ROOT)


@pytest.fixture(scope="session")
def java(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = folder_of_run(tmp_path_factory)
    if not folder.exists():
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    end = time.monotonic() + PATIENCE
    while not (folder / "status").exists() and time.monotonic() < end:
        time.sleep(0.1)
    log = (folder / "log").read_text()
    if not (folder / "status").exists() or (folder / "status").read_text().strip() != "0":
        pytest.fail(f"the Java reference did not run:\n{log[-6000:]}", pytrace=False)
    return Written(folder)
