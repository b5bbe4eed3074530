"""Entries of one manifest, read with the schema and the partition spec of its own header. Spec: Manifests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe import _core
from icefloe.exceptions import CorruptFileError
from icefloe.manifest.data_file import ManifestEntry
from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema

if TYPE_CHECKING:
    from icefloe.io import FileIO

AVRO_MAGIC = b"Obj\x01"
_SUMMARY = pa.struct(
    [
        ("contains_null", pa.bool_()),
        ("contains_nan", pa.bool_()),
        ("lower_bound", pa.binary()),
        ("upper_bound", pa.binary()),
    ]
)
MANIFEST_SCHEMA = pa.schema(
    [
        ("manifest_path", pa.string()),
        ("manifest_length", pa.int64()),
        ("partition_spec_id", pa.int32()),
        ("content", pa.int32()),
        ("sequence_number", pa.int64()),
        ("min_sequence_number", pa.int64()),
        ("added_snapshot_id", pa.int64()),
        ("added_files_count", pa.int32()),
        ("existing_files_count", pa.int32()),
        ("deleted_files_count", pa.int32()),
        ("added_rows_count", pa.int64()),
        ("existing_rows_count", pa.int64()),
        ("deleted_rows_count", pa.int64()),
        ("partitions", pa.list_(_SUMMARY)),
        ("key_metadata", pa.binary()),
    ]
)


def read_entries(io: FileIO, manifest: dict[str, Any], keep: str) -> list[ManifestEntry]:
    """Return the entries of a manifest.

    Args:
        io: Storage of the manifest.
        manifest: The row of the manifest list, by the names of ``MANIFEST_SCHEMA``.
        keep: ``live`` to omit entries with status DELETED, or ``all``.

    Raises:
        CorruptFileError: The file is not a manifest, or is damaged.
        MissingFileError: The file does not exist.
    """
    schema, spec = schema_and_spec(io, manifest["manifest_path"])
    rows = pa.Table.from_pylist([manifest], MANIFEST_SCHEMA)
    entries = _core.read_manifest(
        io.core, rows, schema=schema.model_dump_json(), specs=f"[{spec.model_dump_json()}]", keep=keep
    )
    types = [field.field_type for field in spec.partition_type(schema).fields]
    return [ManifestEntry.from_row(row, types) for row in entries.to_pylist()]


def schema_and_spec(io: FileIO, location: str) -> tuple[Schema, PartitionSpec]:
    """Return the table schema and the partition spec in the header of a manifest.

    Raises:
        CorruptFileError: The file is not an Avro file, or its header lacks a valid schema or partition spec.
    """
    header = avro_header(io.core.read(location), location)
    try:
        schema = Schema.model_validate(json.loads(header["schema"]))
        spec_id = int(header.get("partition-spec-id", b"0"))
        spec = PartitionSpec.model_validate({"spec-id": spec_id, "fields": json.loads(header["partition-spec"])})
    except (KeyError, ValueError) as error:
        raise CorruptFileError(
            f"manifest {location}: invalid header; expected `schema` and `partition-spec` as JSON, got {error}"
        ) from error
    return schema, spec


def avro_header(data: bytes, location: str) -> dict[str, bytes]:
    """Return the metadata in the header of an Avro file. Spec: Avro, Object Container Files.

    Args:
        data: The bytes of the file, at least to the end of the header.
        location: The location of the file, for errors.

    Raises:
        CorruptFileError: The bytes do not start with an Avro header, or end within it.
    """
    if not data.startswith(AVRO_MAGIC):
        raise CorruptFileError(
            f"{location}: not an Avro file; expected the magic bytes {AVRO_MAGIC!r}, got {data[: len(AVRO_MAGIC)]!r}"
        )
    reader = _Bytes(data, len(AVRO_MAGIC), location)
    header: dict[str, bytes] = {}
    while (count := reader.long()) != 0:
        if count < 0:
            count = -count
            reader.long()  # the size of the block in bytes
        for _ in range(count):
            key = reader.bytes().decode("utf-8", "replace")
            header[key] = reader.bytes()
    return header


class _Bytes:
    """A reader of consecutive Avro primitives; it raises CorruptFileError at the end of the bytes."""

    def __init__(self, data: bytes, position: int, location: str) -> None:
        self._data = data
        self._position = position
        self._location = location

    def long(self) -> int:
        """Return a zigzag variable-length integer."""
        value = 0
        for shift in range(0, 70, 7):
            if self._position >= len(self._data):
                break
            byte = self._data[self._position]
            self._position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise CorruptFileError(
            f"{self._location}: byte {self._position}: invalid header; expected a variable-length integer, got the end of the file"
        )

    def bytes(self) -> bytes:
        """Return length-prefixed bytes."""
        length = self.long()
        start = self._position
        if length < 0 or start + length > len(self._data):
            raise CorruptFileError(
                f"{self._location}: byte {start}: invalid header; expected {length} bytes, got {len(self._data) - start}"
            )
        self._position = start + length
        return self._data[start : self._position]
