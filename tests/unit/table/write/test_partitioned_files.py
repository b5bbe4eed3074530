"""Files of many partitions, which several threads write in the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PARTITIONS = 40
WRITE = """
import json, sys
import pyarrow as pa
from icefloe import _core

SCHEMA = {"type": "struct", "schema-id": 0, "fields": [
    {"id": 1, "name": "p", "required": False, "type": "long"}, {"id": 2, "name": "id", "required": False, "type": "long"}]}
SPEC = {"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "transform": "identity", "name": "p"}]}
ORDER = {"order-id": 1, "fields": [{"transform": "identity", "source-id": 2, "direction": "desc", "null-order": "nulls-last"}]}
ids = range(40_000)
rows = pa.table({"p": pa.array([id % 40 for id in ids], pa.int64()), "id": pa.array(ids, pa.int64())})
location, properties, is_sorted = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3] == "sorted"
files = _core.write_data_files(
    _core.FileIo(), rows.to_reader(7_000), schema=json.dumps(SCHEMA), spec=json.dumps(SPEC),
    sort_order=json.dumps(ORDER) if is_sorted else None, table_location=location, properties=properties,
    operation_id="op", partition_id=0, task_id=0,
)
print(json.dumps(files.to_pylist(), default=repr))
"""


def write(location, properties, *, threads, order="unsorted"):
    """Write 40,000 rows to 40 partitions in a process that computes on `threads` threads."""
    command = [sys.executable, "-c", WRITE, str(location), json.dumps(properties), order]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def described(location, properties, **how):
    """Return the data files of a successful write, with paths below its location."""
    ended = write(location, properties, **how)
    assert ended.returncode == 0, ended.stderr
    return [{**file, "file_path": file["file_path"].removeprefix(str(location))} for file in json.loads(ended.stdout)]


def content(directory):
    return {path.name: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("file_format", "order"), [("parquet", "unsorted"), ("parquet", "sorted"), ("avro", "sorted")])
def test_files_do_not_depend_on_the_number_of_threads(tmp_path, file_format, order):
    properties = {"write.format.default": file_format}
    single, several = tmp_path / "single", tmp_path / "several"
    expected = described(single, properties, threads=1, order=order)
    assert len(expected) == PARTITIONS
    assert described(several, properties, threads=4, order=order) == expected
    assert set(content(several)) == set(content(single))
    if file_format == "parquet":
        assert content(several) == content(single)


def test_partition_that_cannot_be_written_leaves_no_file_of_any_thread(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "p=23").write_text("a file in place of the directory")
    ended = write(tmp_path, {}, threads=4)
    assert ended.stderr.splitlines()[-1].startswith("icefloe.exceptions.StorageError: ")
    assert "p=23" in ended.stderr
    assert set(content(tmp_path)) == {"p=23"}
