"""Names and places of files, names of columns in them, widths of decimals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.conversions import from_json_value
from icefloe.io import FileIO
from icefloe.partitioning import PartitionFieldValue, PartitionKey, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.commit.manifest_writer import ManifestWriter
from icefloe.table.locations import load_location_provider
from icefloe.table.metadata import TableMetadata, new_table_metadata
from icefloe.table.metadata.files import hadoop_location, next_catalog_location
from icefloe.table.sorting import UNSORTED_SORT_ORDER
from icefloe.typedef import Record

from tests.unit.vectors.vector_cases import cases, column, schema_of

UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def partition(case: dict[str, Any]) -> tuple[PartitionSpec, Schema, list[Any]]:
    """Return a case's spec, schema and values."""
    schema = Schema.model_validate_json(json.dumps(case["schema"]))
    spec = PartitionSpec.model_validate_json(json.dumps(case["spec"]))
    kinds = [field.field_type for field in spec.partition_type(schema).fields]
    values = [from_json_value(kind, value) for kind, value in zip(kinds, case["partition"], strict=True)]
    return spec, schema, values


def test_partition_paths_are_those_of_the_vectors() -> None:
    different = []
    for case in cases("partition_path"):
        spec, schema, values = partition(case)
        found = {
            spec.partition_to_path(Record(*values), schema),
            _core.partition_path(json.dumps(case["spec"]), json.dumps(case["schema"]), json.dumps(case["partition"])),
        }
        if found != {case["path"]}:
            different.append((case, found))
    assert not different, "\n".join(map(str, different))


def test_data_files_go_where_the_vectors_say() -> None:
    different = []
    for case in cases("data_location"):
        properties = {
            "write.object-storage.enabled": str(case["object_storage"]).lower(),
            "write.object-storage.partitioned-paths": str(case["partitioned_paths"]).lower(),
        }
        if case["data_path"] is not None:
            properties["write.data.path"] = case["data_path"]
        key = None
        if "spec" in case:
            spec, schema, values = partition(case)
            fields = [PartitionFieldValue(field, value) for field, value in zip(spec.fields, values, strict=True)]
            key = PartitionKey(fields, spec, schema)
        found = load_location_provider(case["table_location"], properties).new_data_location(case["file"], key)
        if found != case["location"]:
            different.append((case, found))
    assert not different, "\n".join(map(str, different))


def manifest_schema(directory: Path, kind: str, name: str) -> dict[str, Any]:
    """Return the Avro field of a partition field of a manifest that the core writes."""
    spec = {"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "name": name, "transform": "identity"}]}
    entry = {
        "content": 0,
        "file_path": "f",
        "file_format": "PARQUET",
        "spec_id": 0,
        "partition": "[null]",
        "record_count": 1,
        "file_size_in_bytes": 1,
    }
    kinds = {str: pa.string(), int: pa.int64()}
    schema = pa.schema([(key, kinds[type(value)]) for key, value in entry.items()])
    for key in ("content", "spec_id"):
        schema = schema.set(schema.get_field_index(key), pa.field(key, pa.int32()))
    written = _core.write_manifests(
        _core.FileIo({}),
        str(directory),
        pa.RecordBatch.from_pylist([entry], schema=schema),
        schema=json.dumps(schema_of(kind)),
        specs=json.dumps([spec]),
        format_version=2,
        snapshot_id=1,
        content=0,
        first_index=0,
        properties={},
    )
    with Path(written["manifest_path"][0].as_py()).open("rb") as stored:
        avro: Any = fastavro.reader(stored).writer_schema
    record = next(field["type"] for field in avro["fields"] if field["name"] == "data_file")
    tuple_type = next(field["type"] for field in record["fields"] if field["name"] == "partition")
    (found,) = tuple_type["fields"]
    return dict(found)


def test_names_are_sanitized_as_the_vectors_say(tmp_path: Path) -> None:
    different = []
    for number, case in enumerate(cases("name")):
        found = manifest_schema(tmp_path / str(number), "int", case["name"])
        original = found.get("iceberg-field-name", found["name"])
        if (found["name"], original) != (case["sanitized"], case["name"]):
            different.append((case, found))
    assert not different, "\n".join(map(str, different))


@pytest.mark.parametrize("case", cases("decimal_storage"), ids=lambda case: str(case["precision"]))
def test_decimals_are_stored_in_as_many_bytes_as_the_vectors_say(case: dict[str, Any], tmp_path: Path) -> None:
    union = manifest_schema(tmp_path / "m", f"decimal({case['precision']}, 0)", "d")["type"]
    fixed = next(branch for branch in union if branch != "null")
    assert fixed["size"] == case["bytes"]


def created(directory: Path, compression: str = "none") -> TableMetadata:
    properties = {"write.metadata.compression-codec": compression}
    schema = Schema.model_validate(schema_of("long"))
    return new_table_metadata(schema, PartitionSpec(), UNSORTED_SORT_ORDER, str(directory), properties)


def written_names(case: dict[str, Any], directory: Path) -> str:
    """Return the name that icefloe gives a file of a kind."""
    metadata = created(directory, case.get("compression", "none"))
    if case["kind"] == "hadoop_metadata":
        return hadoop_location(metadata, case["version"])
    if case["kind"] == "catalog_metadata":
        return next_catalog_location(metadata, case["previous"])
    if case["kind"] == "manifest_list":
        writer = ManifestWriter(FileIO({}), 5, "0f7c4b61-6f1a-4d3c-8a52-2f4f6d3a9b10")
        return writer.write_list(metadata, pa.Table.from_batches([], schema=empty_list()), case["attempt"], None, 1)
    raise AssertionError(case["kind"])


def empty_list() -> pa.Schema:
    from icefloe.table.commit.manifest_writer import MANIFEST_SCHEMA

    return MANIFEST_SCHEMA


def data_names(case: dict[str, Any], directory: Path) -> str:
    """Return the location of a data or delete file that the core writes."""
    shared = {
        "schema": json.dumps(schema_of("long")),
        "table_location": str(directory),
        "properties": {},
        "operation_id": case["operation_id"],
        "partition_id": case["partition_id"],
        "task_id": case["task_id"],
    }
    spec = {"spec-id": 0, "fields": []}
    if case["kind"] == "data":
        data = pa.table({"x": column("long", [1])})
        files = _core.write_data_files(_core.FileIo({}), data, spec=json.dumps(spec), sort_order=None, **shared)
    else:
        rows = pa.table({"file_path": ["f"], "pos": pa.array([0], pa.int64())})
        targets = pa.record_batch({"file_path": ["f"], "spec_id": pa.array([0], pa.int32()), "partition": ["[]"]})
        files = _core.write_position_deletes(
            _core.FileIo({}), rows, targets=targets, specs=json.dumps([spec]), **shared
        )
    return str(files["file_path"][0].as_py())


@pytest.mark.parametrize("case", cases("file_name"), ids=lambda case: case["name"])
def test_files_are_named_as_the_vectors_say(case: dict[str, Any], tmp_path: Path) -> None:
    if case["kind"] == "manifest":
        prefix = "0f7c4b61-6f1a-4d3c-8a52-2f4f6d3a9b10"
        manifest_schema(tmp_path / prefix, "int", "x")
        (location,) = (str(path) for path in tmp_path.glob("*.avro"))
    else:
        location = data_names(case, tmp_path) if "operation_id" in case else written_names(case, tmp_path)
    pattern = re.escape(case["name"]).replace("<uuid>", UUID).replace("<id>", r"\d+")
    assert re.fullmatch(pattern, Path(location).name), location
