"""Small builders of Parquet files, scan contexts and task batches for tests of the core's reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe import _core

RUNS = pa.list_(pa.struct([("first", pa.int32()), ("count", pa.int32())]))
FILES = pa.schema(
    [
        ("file_path", pa.string()),
        ("file_format", pa.string()),
        ("spec_id", pa.int32()),
        ("partition", pa.string()),
        ("record_count", pa.int64()),
        ("file_size_in_bytes", pa.int64()),
        ("start", pa.int64()),
        ("length", pa.int64()),
        ("residual", pa.string()),
        ("deletes", RUNS),
        ("marks", RUNS),
    ]
)
DELETES = pa.schema(
    [
        ("content", pa.int32()),
        ("file_path", pa.string()),
        ("file_format", pa.string()),
        ("spec_id", pa.int32()),
        ("partition", pa.string()),
        ("record_count", pa.int64()),
        ("equality_ids", pa.list_(pa.int32())),
    ]
)
UNPARTITIONED = {"spec-id": 0, "fields": []}
FILE = {"id": 2147483646, "name": "_file", "required": True, "type": "string"}
POS = {"id": 2147483645, "name": "_pos", "required": True, "type": "long"}
DELETED = {"id": 2147483644, "name": "_deleted", "required": True, "type": "boolean"}
SPEC_ID = {"id": 2147483643, "name": "_spec_id", "required": True, "type": "int"}


def field(field_id: int, name: str, kind: Any, required: bool = False) -> dict[str, Any]:
    return {"id": field_id, "name": name, "required": required, "type": kind}


ID = field(1, "id", "long")
NAME = field(2, "name", "string")


def leaf(kind: str, term: str, value: object) -> dict[str, object]:
    return {"type": kind, "term": term, "value": value}


def schema(*fields: dict[str, Any], schema_id: int = 0) -> dict[str, Any]:
    return {"type": "struct", "schema-id": schema_id, "fields": list(fields)}


def context(current: dict[str, Any], *, specs: list[dict[str, Any]] | None = None, **more: Any) -> str:
    return json.dumps({"schema": current, "schemas": [current], "partition-specs": specs or [UNPARTITIONED], **more})


def arrow_field(field_id: int | None, name: str, kind: pa.DataType, nullable: bool = True) -> pa.Field:
    metadata = None if field_id is None else {"PARQUET:field_id": str(field_id)}
    return pa.field(name, kind, nullable=nullable, metadata=metadata)


def write(path: Path, columns: dict[pa.Field, Any], **options: Any) -> str:
    arrays = [pa.array(values, f.type) for f, values in columns.items()]
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(list(columns))), path, **options)
    return str(path)


def task(location: str, **overrides: Any) -> dict[str, Any]:
    rows = overrides.get("record_count", 0)
    if "record_count" not in overrides and Path(location).exists():
        rows = pq.ParquetFile(location).metadata.num_rows
    size = Path(location).stat().st_size if Path(location).exists() else 0
    defaults = {
        "file_path": location,
        "file_format": "PARQUET",
        "spec_id": 0,
        "partition": "[]",
        "record_count": rows,
        "file_size_in_bytes": size,
        "start": 0,
        "length": size,
        "residual": None,
        "deletes": [],
    }
    made = {**defaults, **overrides}
    return made | {name: runs(made[name]) for name in ("deletes", "marks") if made.get(name) is not None}


def runs(rows: list[int]) -> list[dict[str, int]]:
    return [{"first": row, "count": 1} for row in rows]


def position_deletes(path: Path, rows: list[tuple[str, int]]) -> dict[str, Any]:
    columns = {
        arrow_field(2147483546, "file_path", pa.string(), nullable=False): [location for location, _ in rows],
        arrow_field(2147483545, "pos", pa.int64(), nullable=False): [position for _, position in rows],
    }
    return delete_file(write(path, columns), 1, len(rows))


def delete_file(location: str, content: int, rows: int, equality_ids: list[int] | None = None) -> dict[str, Any]:
    return {
        "content": content,
        "file_path": location,
        "file_format": "PARQUET",
        "spec_id": 0,
        "partition": "[]",
        "record_count": rows,
        "equality_ids": equality_ids,
    }


def stream(
    tasks: list[dict[str, Any]],
    current: dict[str, Any],
    *,
    deletes: list[dict[str, Any]] | None = None,
    projection: dict[str, Any] | None = None,
    scan_context: str | None = None,
    **options: Any,
) -> _core.ScanStream:
    return _core.read(
        _core.FileIo({}),
        context(current) if scan_context is None else scan_context,
        pa.RecordBatch.from_pylist(tasks, schema=FILES),
        pa.RecordBatch.from_pylist(deletes or [], schema=DELETES),
        projection=json.dumps(current if projection is None else projection),
        **options,
    )


def read(*args: Any, **kwargs: Any) -> pa.Table:
    return pa.RecordBatchReader.from_stream(stream(*args, **kwargs)).read_all()
