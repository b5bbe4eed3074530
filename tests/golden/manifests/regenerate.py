"""Write the golden manifests of this directory with fastavro and PyIceberg."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform
from pyiceberg.typedef import Record

if TYPE_CHECKING:
    from pyiceberg.io import OutputFile

HERE = Path(__file__).parent
SYNC = b"icefloe golden m"
SCHEMA = (
    '{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"},'
    '{"id":2,"name":"at","required":false,"type":"timestamptz"},{"id":3,"name":"note","required":false,"type":"string"}]}'
)
SPEC_FIELDS = (
    '[{"name":"at_day","transform":"day","source-id":2,"field-id":1000},'
    '{"name":"id_bucket","transform":"bucket[8]","source-id":1,"field-id":1001}]'
)


def optional(inner: Any, *, null_last: bool) -> list[Any]:
    """Return the union of null and a type, in either order."""
    return [inner, "null"] if null_last else ["null", inner]


def field(name: str, field_id: Any, avro_type: Any) -> dict[str, Any]:
    """Return a record field with its id."""
    return {"name": name, "type": avro_type, "field-id": field_id}


def stats_map(key: int, value: int, value_type: str, as_id: Any) -> dict[str, Any]:
    """Return a map by int, as an array of key-value records."""
    fields = [field("key", as_id(key), "int"), field("value", as_id(value), value_type)]
    items = {"type": "record", "name": f"k{key}_v{value}", "fields": fields}
    return {"type": "array", "items": items, "logicalType": "map"}


def entry_schema(*, null_last: bool, as_id: Any, variant: str) -> dict[str, Any]:
    """Return the schema of a manifest in one of the shapes that writers produce."""
    day = {"type": "int", "logicalType": "date"} if variant != "plain_day" else "int"

    def maybe(name: str, field_id: int, inner: Any) -> dict[str, Any]:
        return field(name, as_id(field_id), optional(inner, null_last=null_last))

    partition = {
        "type": "record",
        "name": "r102",
        "fields": [maybe("at_day", 1000, day), maybe("id_bucket", 1001, "int")],
    }
    data_file = [
        field("content", as_id(134), "int"),
        field("file_path", as_id(100), "string"),
        field("file_format", as_id(101), "string"),
        field("partition", as_id(102), partition),
        field("record_count", as_id(103), "long"),
        field("file_size_in_bytes", as_id(104), "long"),
        maybe("value_counts", 109, stats_map(119, 120, "long", as_id)),
        maybe("lower_bounds", 125, stats_map(126, 127, "bytes", as_id)),
        maybe("split_offsets", 132, {"type": "array", "items": "long", "element-id": as_id(133)}),
        maybe("equality_ids", 135, {"type": "array", "items": "long", "element-id": as_id(136)}),
    ]
    entry = [field("status", as_id(0), "int"), maybe("snapshot_id", 1, "long"), maybe("sequence_number", 3, "long")]
    if variant == "version_1":
        del entry[2], data_file[0]
        data_file.insert(5, field("block_size_in_bytes", as_id(105), "long"))
    if variant == "version_3":
        data_file += [maybe("first_row_id", 142, "long"), maybe("content_offset", 144, "long")]
        data_file += [maybe("content_size_in_bytes", 145, "long")]
    if variant == "strange_order":
        data_file.reverse()
        unknown = {"type": "map", "values": optional("double", null_last=False)}
        data_file.insert(3, field("unknown_to_all", as_id(9999), optional(unknown, null_last=null_last)))
        entry.insert(
            0, field("no_id_at_all", as_id(8888), {"type": "enum", "name": "colour", "symbols": ["RED", "BLUE"]})
        )
    record = {"type": "record", "name": "r2", "fields": data_file}
    return {"type": "record", "name": "manifest_entry", "fields": [*entry, field("data_file", as_id(2), record)]}


def entries(variant: str) -> list[dict[str, Any]]:
    """Return the two entries that every golden manifest has."""
    day = 17501 if variant == "plain_day" else dt.date(2017, 12, 1)
    added: dict[str, Any] = {
        "content": 0,
        "file_path": "s3://bucket/data/a.parquet",
        "file_format": "parquet",
        "partition": {"at_day": day, "id_bucket": 3},
        "record_count": 10,
        "block_size_in_bytes": 67108864,
        "file_size_in_bytes": 1000,
        "value_counts": [{"key": 1, "value": 10}, {"key": 3, "value": 300_000_000_000}],
        "lower_bounds": [{"key": 3, "value": b"abc"}],
        "split_offsets": [4, 500],
        "equality_ids": None,
    }
    existing = added | {
        "file_path": "s3://bucket/data/b.parquet",
        "partition": {"at_day": None, "id_bucket": None},
        "value_counts": None,
        "lower_bounds": [],
        "split_offsets": None,
        "equality_ids": [1],
    }
    if variant == "version_3":
        added |= {"first_row_id": 5, "content_offset": None, "content_size_in_bytes": None}
        existing |= {"first_row_id": None, "content_offset": 8, "content_size_in_bytes": 99}
    if variant == "strange_order":
        added["unknown_to_all"] = {"x": 1.5, "y": None}
        existing["unknown_to_all"] = None
    rows: list[dict[str, Any]] = [
        {"status": 1, "snapshot_id": None, "sequence_number": None, "data_file": added},
        {"status": 0, "snapshot_id": 7, "sequence_number": 2, "data_file": existing},
    ]
    return [row | {"no_id_at_all": "BLUE"} for row in rows] if variant == "strange_order" else rows


def write_with_fastavro() -> None:
    """Write one manifest per variant."""
    variants = {
        "null_first": (False, int, "deflate"),
        "null_last": (True, int, "null"),
        "text_ids": (False, str, "deflate"),
        "plain_day": (True, str, "snappy"),
        "strange_order": (False, int, "zstandard"),
        "version_1": (False, int, "deflate"),
        "version_3": (False, int, "deflate"),
    }
    for name, (null_last, as_id, codec) in variants.items():
        metadata = {
            "schema": SCHEMA,
            "partition-spec": SPEC_FIELDS,
            "partition-spec-id": "0",
            "format-version": name[-1] if name.startswith("version_") else "2",
            "content": "data",
        }
        schema = entry_schema(null_last=null_last, as_id=as_id, variant=name)
        with (HERE / f"{name}.avro").open("wb") as out:
            fastavro.writer(out, schema, entries(name), codec=codec, metadata=metadata, sync_marker=SYNC)


def write_with_pyiceberg() -> None:
    """Write a manifest, and a manifest list of each version."""
    spec = PartitionSpec(
        PartitionField(2, 1000, DayTransform(), "at_day"), PartitionField(1, 1001, BucketTransform(8), "id_bucket")
    )
    schema = Schema.model_validate_json(SCHEMA)
    io = PyArrowFileIO()
    manifest = write_pyiceberg_manifest(io.new_output(str(HERE / "pyiceberg_v2.avro")), spec, schema)
    manifest[0] = "s3://bucket/metadata/m0.avro"
    for version in (1, 2):
        path = HERE / f"pyiceberg_list_v{version}.avro"
        path.unlink(missing_ok=True)
        number = 3 if version > 1 else None
        with write_manifest_list(version, io.new_output(str(path)), 7, None, number, "deflate") as manifests:
            manifests.add_manifests([manifest])


def write_pyiceberg_manifest(output: OutputFile, spec: PartitionSpec, schema: Schema) -> ManifestFile:
    """Write a manifest of version 2."""
    Path(output.location).unlink(missing_ok=True)
    with write_manifest(2, spec, schema, output, 7, "deflate") as writer:
        for row in entries("plain_day"):
            file = row["data_file"]
            data_file = DataFile.from_args(
                content=DataFileContent.DATA,
                file_path=file["file_path"],
                file_format=FileFormat.PARQUET,
                partition=Record(file["partition"]["at_day"], file["partition"]["id_bucket"]),
                record_count=file["record_count"],
                file_size_in_bytes=file["file_size_in_bytes"],
                value_counts={pair["key"]: pair["value"] for pair in file["value_counts"] or []} or None,
                lower_bounds={pair["key"]: pair["value"] for pair in file["lower_bounds"]},
                split_offsets=file["split_offsets"],
                equality_ids=file["equality_ids"],
            )
            entry = ManifestEntry.from_args(
                status=ManifestEntryStatus(row["status"]),
                snapshot_id=7,
                sequence_number=row["sequence_number"],
                file_sequence_number=row["sequence_number"],
                data_file=data_file,
            )
            writer.add_entry(entry)
    return writer.to_manifest_file()


if __name__ == "__main__":
    write_with_fastavro()
    write_with_pyiceberg()
