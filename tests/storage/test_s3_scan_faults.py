"""A failing line or server while a whole table is scanned: all rows, or one error that names the file."""

from __future__ import annotations

import itertools
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import StorageError
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table.read_context import schema_json, spec_json
from icefloe.types import LongType, NestedField

from tests.storage.test_s3_formats import avro, orc_file
from tests.storage.test_s3_table import make_catalog

COUNT = 30_000
"""Rows of the Parquet file."""
OTHERS, SIZE = 200, 2_000
"""Rows of the files of other formats, and the bytes of each."""
COLUMNS = pa.schema([("id", pa.int64()), ("data", pa.binary())])
QUICK = {"s3.request-timeout": "0.15", "s3.retry.num-retries": "2", "s3.retry.max-wait-ms": "10"}
FAULTS = [503, "cut", "half", "stall"]
KINDS = {
    "metadata": lambda path: path.endswith(".metadata.json"),
    "manifest list": lambda path: "/metadata/snap-" in path,
    "manifest": lambda path: "-m0.avro" in path,
    "Parquet": lambda path: path.endswith(".parquet") and not ("-deletes" in path or "keys" in path),
    "Avro": lambda path: path.endswith("/data/a.avro"),
    "ORC": lambda path: path.endswith("/data/a.orc"),
    "position deletes": lambda path: "-deletes" in path,
    "equality deletes": lambda path: "keys" in path,
}


def noise(count: int) -> pa.Table:
    import numpy as np

    data = np.random.default_rng(1).bytes(count * 40)
    values = [data[at : at + 40] for at in range(0, len(data), 40)]
    return pa.table([pa.array(range(count), pa.int64()), pa.array(values, pa.binary())], schema=COLUMNS)


def keys(table) -> pa.RecordBatch:
    """A file of ids, as a data file."""
    return _core.write_data_files(
        table.io.core,
        pa.table({"id": pa.array([7, 11, 150], pa.int64())}),
        schema=schema_json(Schema(NestedField(1, "id", LongType()))),
        spec=spec_json(UNPARTITIONED_PARTITION_SPEC),
        sort_order=None,
        table_location=table.location(),
        properties={},
        operation_id="keys",
        partition_id=0,
        task_id=0,
    )


def put_file(table, like: pa.RecordBatch, path: Path) -> None:
    """Append a file of another format, which the library itself does not write."""
    location = f"{table.location()}/data/{path.name}"
    table.io.core.write(location, path.read_bytes(), overwrite=False)
    described = {name: like.column(name)[0].as_py() for name in ("content", "spec_id", "partition")}
    described |= {"file_path": location, "file_format": path.suffix[1:].upper(), "record_count": OTHERS}
    described["file_size_in_bytes"] = path.stat().st_size
    table.new_append().append(pa.RecordBatch.from_pylist([described], schema=like.schema)).commit()


@pytest.fixture(scope="module")
def lake(s3, tmp_path_factory):
    """A table with files of all kinds: the directory of its catalog, and its rows."""
    directory = tmp_path_factory.mktemp("lake")
    (s3.root / "lake").mkdir()
    properties = {"write.parquet.row-group-size-bytes": "300000", "write.delete.mode": "merge-on-read"}
    table = make_catalog(s3, "lake", directory).create_table("db.t", COLUMNS, properties=properties)
    table.append(noise(COUNT))
    table.delete("id < 5")
    deleted = keys(table)
    put_file(table, deleted, avro(directory / "a.avro", OTHERS, SIZE))
    put_file(table, deleted, orc_file(directory / "a.orc", OTHERS, SIZE))
    rows = [{**row, "content": 2, "equality_ids": [1]} for row in deleted.to_pylist()]
    table.new_row_delta().add_deletes(pa.RecordBatch.from_pylist(rows, schema=deleted.schema)).commit()
    found = table.scan().to_arrow().sort_by([("id", "ascending"), ("data", "ascending")])
    assert found.num_rows == COUNT - 5 - 3 + 2 * (OTHERS - 3)
    return directory, found


def rows_of(s3, line, directory: Path) -> pa.Table:
    far = make_catalog(s3, "lake", directory, **{"s3.endpoint": line.endpoint, **QUICK})
    return far.load_table("db.t").scan().to_arrow().sort_by([("id", "ascending"), ("data", "ascending")])


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_rows_come_after_faults_that_pass(s3, line, lake, kind, fault):
    directory, expected = lake
    hit = itertools.count()
    of_kind = KINDS[kind]
    line.fault = lambda request: fault if of_kind(request.path) and next(hit) < (1 if fault == "stall" else 2) else None
    assert rows_of(s3, line, directory).equals(expected)
    assert next(hit) > 1


@pytest.mark.parametrize("fault", [503, "half", "stall"])
@pytest.mark.parametrize("kind", KINDS)
def test_faults_that_stay_are_one_error_that_names_the_file(s3, line, lake, kind, fault):
    directory, _ = lake
    of_kind = KINDS[kind]
    line.fault = lambda request: fault if of_kind(request.path) else None
    with pytest.raises(StorageError) as caught:
        rows_of(s3, line, directory)
    message = str(caught.value)
    assert message.startswith("s3://lake/"), message
    assert of_kind(message.split(": ", maxsplit=1)[0]), message
    assert len(message) > len(message.split(": ", maxsplit=1)[0]) + 10
    assert len([request for request in line.requests if of_kind(request.path)]) < 40


def test_a_fault_between_the_batches_of_a_scan_is_an_error_and_no_end(s3, line, lake):
    directory, expected = lake
    far = make_catalog(s3, "lake", directory, **{"s3.endpoint": line.endpoint, **QUICK})
    reader = far.load_table("db.t").scan().to_arrow_batch_reader()
    seen = itertools.count()
    of_kind = KINDS["Parquet"]
    # The footer comes, and the first rows.
    line.fault = lambda request: 503 if of_kind(request.path) and next(seen) > 1 else None
    read = []
    with pytest.raises(StorageError, match=r"s3://lake/.*parquet.*503.*snapshot \d+ of db\.t"):
        read.extend(batch.num_rows for batch in reader)
    assert sum(read) < expected.num_rows
