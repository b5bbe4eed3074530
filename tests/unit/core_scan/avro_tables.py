"""Small builders of Avro data and delete files for tests of the core's reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fastavro

from tests.unit.scan_tables import task

MICROS = {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}
LOCAL_MICROS = {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False}


def avro_field(field_id: int | None, name: str, kind: Any) -> dict[str, Any]:
    """A field as writers of Iceberg tables have it; without an id if `None`."""
    return {"name": name, "type": kind} if field_id is None else {"name": name, "type": kind, "field-id": field_id}


def optional(kind: Any, *, null_first: bool = True) -> list[Any]:
    return ["null", kind] if null_first else [kind, "null"]


def write_avro(
    path: Path,
    fields: list[dict[str, Any]],
    rows: list[dict[str, Any]],
    *,
    codec: str = "deflate",
    sync_interval: int = 16_000,
) -> str:
    parsed = fastavro.parse_schema({"type": "record", "name": "table", "fields": fields})
    with path.open("wb") as out:
        fastavro.writer(out, parsed, rows, codec=codec, sync_interval=sync_interval)
    return str(path)


def avro_task(location: str, rows: int, **overrides: Any) -> dict[str, Any]:
    return task(location, **{"file_format": "AVRO", "record_count": rows, **overrides})


def avro_deletes(location: str, content: int, rows: int, equality_ids: list[int] | None = None) -> dict[str, Any]:
    return {
        "content": content,
        "file_path": location,
        "file_format": "AVRO",
        "spec_id": 0,
        "partition": "[]",
        "record_count": rows,
        "equality_ids": equality_ids,
    }
