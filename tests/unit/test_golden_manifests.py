"""Manifests and manifest lists of versions 1 to 3 that the Java reference wrote, read as it reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.conversions import from_json_value
from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema

GOLDEN = Path(__file__).parents[1] / "golden" / "reference"
LISTS = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
MAPS = ["column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"]
IO = _core.FileIo({})


def header(name: str) -> dict[str, str]:
    """Return the metadata of an Avro file."""
    with (GOLDEN / name).open("rb") as stored:
        return dict(fastavro.reader(stored).metadata)


SCHEMA = header("v2_data.avro")["schema"]
SPECS = [{"spec-id": 0, "fields": []}, {"spec-id": 3, "fields": json.loads(header("v2_data.avro")["partition-spec"])}]
KINDS = [
    field.field_type
    for field in PartitionSpec.model_validate(SPECS[1]).partition_type(Schema.model_validate_json(SCHEMA)).fields
]


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with bytes in hexadecimal, maps as lists of pairs, and the values of its tuple."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, bytes):
            found[key] = value.hex()
        elif key in MAPS and value is not None:
            found[key] = [[k, v.hex() if isinstance(v, bytes) else v] for k, v in sorted(value)]
        elif key == "partitions":
            found[key] = [plain(summary) for summary in value or []]
        else:
            found[key] = value
    if isinstance(row.get("partition"), (str, list)):
        values = json.loads(row["partition"]) if isinstance(row["partition"], str) else row["partition"]
        found["partition"] = [from_json_value(kind, value) for kind, value in zip(KINDS, values, strict=False)]
    return found


def without_entries(manifest: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key != "entries"}


@pytest.mark.parametrize("case", LISTS, ids=lambda case: case["list"])
def test_lists_are_read_as_the_reference_reads_them(case: dict[str, Any]) -> None:
    found = [plain(row) for row in _core.read_manifest_list(IO, str(GOLDEN / case["list"])).to_pylist()]
    expected = [without_entries(manifest) for manifest in case["manifests"]]
    assert [{key: row[key] for key in expected[0]} for row in found] == expected


STATISTICS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")


def located(manifests: pa.RecordBatch) -> pa.RecordBatch:
    """Return a list's manifests where they are stored; the list has their names alone."""
    paths = pa.array([str(GOLDEN / path) for path in manifests["manifest_path"].to_pylist()])
    return manifests.set_column(0, "manifest_path", paths)


@pytest.mark.parametrize("case", LISTS, ids=lambda case: case["list"])
@pytest.mark.parametrize("keep", ["all", "live"])
def test_entries_are_read_as_the_reference_reads_them(case: dict[str, Any], keep: str) -> None:
    manifests = located(_core.read_manifest_list(IO, str(GOLDEN / case["list"])))
    entries = _core.read_manifest(IO, manifests, schema=SCHEMA, specs=json.dumps(SPECS), keep=keep).to_pylist()
    expected = [plain(entry) for manifest in case["manifests"] for entry in manifest["entries"]]
    if keep == "live":
        expected = [entry for entry in expected if entry["status"] != 2]
    assert [plain(entry) for entry in entries] == expected


@pytest.mark.parametrize("case", LISTS, ids=lambda case: case["list"])
def test_entries_without_statistics_are_the_same_otherwise(case: dict[str, Any]) -> None:
    manifests = located(_core.read_manifest_list(IO, str(GOLDEN / case["list"])))
    every, fewer = (
        _core.read_manifest(IO, manifests, schema=SCHEMA, specs=json.dumps(SPECS), keep="all", statistics=known)
        for known in (True, False)
    )
    assert fewer.schema == every.schema
    for name in every.column_names:
        expected = pa.nulls(every.num_rows, every[name].type) if name in STATISTICS else every[name].combine_chunks()
        assert fewer[name].combine_chunks() == expected


def plan(**source: Any) -> _core.ScanPlan:
    context = {"schema": json.loads(SCHEMA), "schemas": [json.loads(SCHEMA)], "partition-specs": SPECS}
    return _core.plan(IO, json.dumps(context), filter="true", split_size=None, include_stats=False, **source)


def test_inline_manifests_of_version_1_are_planned_without_a_list() -> None:
    paths = [str(GOLDEN / name) for name in ("v1_data.avro", "v1_unpartitioned.avro")]
    files = plan(manifest_list=None, manifests=paths).files
    assert sorted(files["file_path"].to_pylist()) == ["s3://b/added", "s3://b/existing", "s3://b/plain"]
    assert files["data_sequence_number"].to_pylist() == [0, 0, 0]
    assert sorted(files["spec_id"].to_pylist()) == [0, 3, 3]


def test_list_of_version_2_carries_manifests_of_version_1(tmp_path: Path) -> None:
    """Rewritten with the golden manifests' places, and one commit later."""
    head = located(_core.read_manifest_list(IO, str(GOLDEN / "v2_list.avro")))
    location = str(tmp_path / "list.avro")
    ids = {"format_version": 2, "snapshot_id": 80, "parent_snapshot_id": 72, "sequence_number": 10}
    _core.write_manifest_list(IO, location, head, **ids)
    assert _core.read_manifest_list(IO, location).equals(head)
    planned = plan(manifest_list=location, manifests=[])
    rows = sorted((row["file_path"], row["data_sequence_number"]) for row in planned.files.to_pylist())
    assert rows == [
        ("s3://b/added", 0),
        ("s3://b/added", 9),
        ("s3://b/existing", 0),
        ("s3://b/existing", 2),
        ("s3://b/plain", 0),
        ("s3://b/plain", 9),
    ]
    assert sorted(planned.deletes["file_path"].to_pylist()) == ["s3://b/equality", "s3://b/positions"]


def test_manifests_of_every_version_are_merged_into_one(tmp_path: Path) -> None:
    """The columns that version 3 adds are read without harm, and left behind in version 2."""
    rows = [
        row for case in LISTS for row in case["manifests"] if row["manifest_path"] in {"v1_data.avro", "v3_data.avro"}
    ]
    assert {row["manifest_path"] for row in rows} == {"v1_data.avro", "v3_data.avro"}
    head = located(_core.read_manifest_list(IO, str(GOLDEN / "v3_list.avro")))
    data = head.filter(pa.compute.equal(head["content"], 0)).filter(
        pa.compute.equal(head.filter(pa.compute.equal(head["content"], 0))["partition_spec_id"], 3)
    )
    merged = _core.merge_manifests(
        IO,
        str(tmp_path / "m"),
        data,
        schema=SCHEMA,
        specs=json.dumps(SPECS),
        format_version=2,
        snapshot_id=90,
        first_index=0,
        target_size_bytes=8 << 20,
        min_count_to_merge=2,
        properties={},
    )
    assert merged.num_rows == 1
    entries = _core.read_manifest(IO, merged, schema=SCHEMA, specs=json.dumps(SPECS), keep="all").to_pylist()
    facts = sorted((e["file_path"], e["status"], e["snapshot_id"], e["sequence_number"]) for e in entries)
    assert facts == [
        ("s3://b/added", 0, 71, 0),
        ("s3://b/added", 0, 73, 9),
        ("s3://b/existing", 0, 5, 0),
        ("s3://b/existing", 0, 5, 2),
    ]
