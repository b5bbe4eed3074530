"""Messages of errors in Arrow schemas, manifests and files."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from icefloe.exceptions import IcebergError
from icefloe.io import FileIO, load_file_io
from icefloe.io.pyarrow import pyarrow_to_schema
from icefloe.manifest import DataFileContent, ManifestFile

from tests.unit.messages import Case, check_message

CASES: dict[str, Case] = {
    "data file content": (
        lambda: DataFileContent.from_rest_type("rows"),
        ["Invalid file content value: rows", "expected one of data, equality-deletes, position-deletes"],
    ),
    "Arrow column of a wide decimal": (
        lambda: pyarrow_to_schema(pa.schema([("d", pa.decimal256(40, 2))])),
        ["column d: ", "decimal256(40, 2) has more than 38 digits", "cast the column"],
    ),
    "Arrow column of nanoseconds": (
        lambda: pyarrow_to_schema(pa.schema([("t", pa.timestamp("ns"))])),
        ["column t: ", "timestamp[ns] needs format version 3", "got 2", "cast the column to microseconds"],
    ),
    "Arrow column of another zone": (
        lambda: pyarrow_to_schema(pa.schema([("t", pa.timestamp("us", "Europe/Berlin"))])),
        ["column t: ", "time zone Europe/Berlin", "expected UTC", "cast the column to timestamp[us, tz=UTC]"],
    ),
    "Arrow column of a union": (
        lambda: pyarrow_to_schema(pa.schema([("u", pa.dense_union([pa.field("a", pa.int8())]))])),
        ["column u: ", "Arrow type dense_union", "has no Iceberg type", "cast or drop the column"],
    ),
    "Arrow schema with some ids": (
        lambda: pyarrow_to_schema(
            pa.schema([pa.field("a", pa.int8(), metadata={"PARQUET:field_id": "1"}), ("b", pa.int8())])
        ),
        ["Arrow schema: ", "some fields have an id", "expected ids for all fields or none"],
    ),
    "another FileIO": (
        lambda: load_file_io({"py-io-impl": "my.FileIO"}),
        ["property py-io-impl: ", "not supported", "got 'my.FileIO'", "remove it"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message_names_subject_expectation_and_what_was_got(case: str) -> None:
    check_message(*CASES[case])


def test_manifest_message_names_the_file_and_the_byte(tmp_path: Any) -> None:
    location = str(tmp_path / "m.avro")
    manifest = ManifestFile(manifest_path=location, manifest_length=4, partition_spec_id=0)
    for data, parts in (
        (b"PAR1", ["m.avro: ", "not an Avro file", "got b'PAR1'"]),
        (b"Obj\x01\x02\x10", ["m.avro: byte ", "expected 8 bytes", "got 0"]),
    ):
        with FileIO().new_output(location).create(overwrite=True) as stream:
            stream.write(data)
        with pytest.raises(IcebergError) as caught:
            manifest.fetch_manifest_entry(FileIO())
        assert [part for part in parts if part not in str(caught.value)] == []


def test_file_message_says_how_to_replace_it(tmp_path: Any) -> None:
    file = FileIO().new_output(str(tmp_path / "a"))
    file.create().close()
    with pytest.raises(IcebergError, match=r"file .*a exists already; pass overwrite=True to replace it"):
        file.create()
