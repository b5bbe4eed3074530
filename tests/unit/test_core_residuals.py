"""Residuals of many files: each text once in a plan, in a scan and in a task that travels alone."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from icefloe.table.scan.task import ScanSource, tasks_of

from tests.unit.test_core_plan import CONTEXT, SCHEMA, Table, data_file, leaf

FILES = 5_000
IDS = list(range(0, 1_000_000, 100))
READER = """
import json, pathlib, re, sys
from icefloe import _core
from tests.unit.test_core_plan import CONTEXT, SCHEMA

status = pathlib.Path("/proc/self/status")
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) * 1024
io, (location, filter) = _core.FileIo({}), json.loads(sys.stdin.read())
before = peak()
plan = _core.plan(io, CONTEXT, manifest_list=location, manifests=[], filter=filter, split_size=None, include_stats=False)
scan = _core.read(io, CONTEXT, plan.files, plan.deletes, projection=json.dumps(SCHEMA))
print(json.dumps([plan.files.num_rows, peak() - before]))
"""


def any_of(ids: list[int]) -> dict[str, Any]:
    return {"type": "in", "term": "id", "values": ids}


def text_of(plan: Any) -> str:
    return plan.files.column("residual")[0].as_py()


@pytest.fixture
def wide(tmp_path: Path) -> Table:
    made = Table(tmp_path)
    made.commit(*(data_file(f"/{number}", 0, 1_000_000) for number in range(FILES)))
    return made


def test_plan_of_many_files_holds_a_residual_once(wide: Table) -> None:
    plan = wide.plan(any_of(IDS))
    column = plan.files.column("residual")
    assert (column.null_count, len(column), len(column.dictionary)) == (0, FILES, 1)
    assert json.loads(text_of(plan))["values"] == IDS
    assert plan.files.nbytes < 2 * len(text_of(plan)) + 200 * FILES


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_scan_of_many_files_holds_a_residual_once(wide: Table) -> None:
    request = json.dumps([wide.list, json.dumps(any_of(IDS))])
    done = subprocess.run([sys.executable, "-c", READER], input=request, capture_output=True, text=True, check=True)
    rows, growth = json.loads(done.stdout)
    assert rows == FILES
    assert growth < FILES * len(json.dumps(IDS)) / 4


def test_parts_of_files_hold_a_residual_once(wide: Table) -> None:
    column = wide.plan(any_of(IDS), split_size=100).files.column("residual")
    assert (len(column), len(column.dictionary)) == (10 * FILES, 1)


def test_task_that_travels_alone_carries_its_own_residual(tmp_path: Path) -> None:
    table = Table(tmp_path)
    days = [
        data_file(f"/{day}", 0, 9_999, spec_id=1, partition=f"[{json.dumps(f'2024-01-0{day}')}]") for day in (1, 2, 3)
    ]
    table.commit(*days)
    of_days = [
        {"type": "and", "left": leaf("eq", "day", f"2024-01-0{day}"), "right": any_of([day, day + 10])}
        for day in (1, 2)
    ]
    plan = table.plan({"type": "or", "left": of_days[0], "right": of_days[1]})
    assert len(plan.files.column("residual").dictionary) == 2
    source = ScanSource(CONTEXT, json.dumps(SCHEMA), {}, plan.files.schema, plan.deletes.schema)
    for day, task in enumerate(tasks_of(source, plan.files, plan.deletes), 1):
        alone = task.group().files.column("residual")
        (own,) = alone.dictionary.to_pylist()
        assert json.loads(own) == any_of([day, day + 10])
        restored = pickle.loads(pickle.dumps(task))
        assert restored == task
        assert restored.residual == task.residual
        (again,) = restored.group().files.column("residual").to_pylist()
        assert again == own


def test_plain_texts_are_residuals_too(wide: Table) -> None:
    plan = wide.plan(any_of([1, 2]))
    field = plan.files.schema.field("residual")
    assert field.type == pa.dictionary(pa.int32(), pa.string())
    assert wide.plan().files.column("residual").null_count == FILES
