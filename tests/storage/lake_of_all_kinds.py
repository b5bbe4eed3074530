"""A table with files of all kinds, and which request is for which."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from icefloe import _core
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table.read_context import schema_json, spec_json
from icefloe.types import LongType, NestedField

from tests.storage.test_s3_formats import avro, orc_file

COUNT = 30_000
"""Rows of the Parquet file."""
OTHERS, SIZE = 200, 2_000
"""Rows of the files of other formats, and the bytes of each."""
COLUMNS = pa.schema([("id", pa.int64()), ("data", pa.binary())])
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


def fill(catalog, directory: Path) -> pa.Table:
    """Make the table ``db.t``, with what is written on the way in a directory; its rows."""
    properties = {"write.parquet.row-group-size-bytes": "300000", "write.delete.mode": "merge-on-read"}
    table = catalog.create_table("db.t", COLUMNS, properties=properties)
    table.append(noise(COUNT))
    table.delete("id < 5")
    deleted = keys(table)
    put_file(table, deleted, avro(directory / "a.avro", OTHERS, SIZE))
    put_file(table, deleted, orc_file(directory / "a.orc", OTHERS, SIZE))
    rows = [{**row, "content": 2, "equality_ids": [1]} for row in deleted.to_pylist()]
    table.new_row_delta().add_deletes(pa.RecordBatch.from_pylist(rows, schema=deleted.schema)).commit()
    found = rows_of(table)
    assert found.num_rows == COUNT - 5 - 3 + 2 * (OTHERS - 3)
    return found


def rows_of(table) -> pa.Table:
    return table.scan().to_arrow().sort_by([("id", "ascending"), ("data", "ascending")])
