"""Manifests that may list files of a partition."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.manifest import ManifestEntryStatus
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.commit.manifest_writer import ManifestWriter, manifests_of
from icefloe.table.commit.manifests_of_partitions import may_list_partitions
from icefloe.transforms import IdentityTransform, UnknownTransform, VoidTransform
from icefloe.types import DateType, DoubleType, LongType, NestedField, StringType

DAYS = [dt.date(1969, 12, 31), dt.date(2026, 1, 1), None]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (DateType(), DAYS),
        (StringType(), ["a", "it's.b", None]),
        (DoubleType(), [-1.5, float("nan"), None]),
    ],
)
def test_manifests_of_other_partitions_are_left_out(catalog, kind, values):
    schema = Schema(NestedField(1, "p.q", kind))
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "p.q"))
    table = catalog.create_table("db.parts", schema, partition_spec=spec)
    for value in values:
        table.append(pa.table({"p.q": pa.array([value], schema.as_arrow().field(0).type)}))
    manifests = manifests_of(table.io, table.current_snapshot())
    entries = ManifestWriter(table.io, 1, "uuid").live_entries(table.metadata, manifests)
    numbers = manifests.column("sequence_number").to_pylist()
    for place in range(entries.num_rows):
        one = entries.slice(place, 1)
        expected = [number == one.column("sequence_number")[0].as_py() for number in numbers]
        assert may_list_partitions(table.metadata, manifests, one).to_pylist() == expected
    assert may_list_partitions(table.metadata, manifests, entries).to_pylist() == [True] * 3


def test_manifests_of_another_spec_are_left_out(catalog):
    schema = Schema(NestedField(1, "p", StringType()))
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "p"))
    table = catalog.create_table("db.specs", schema, partition_spec=spec)
    table.append(pa.table({"p": ["a"]}))
    table.update_spec().remove_field("p").commit()
    table.append(pa.table({"p": ["a"]}))
    manifests = manifests_of(table.io, table.current_snapshot())
    entries = ManifestWriter(table.io, 1, "uuid").live_entries(table.metadata, manifests)
    for place in range(entries.num_rows):
        one = entries.slice(place, 1)
        expected = [
            spec == one.column("spec_id")[0].as_py() for spec in manifests.column("partition_spec_id").to_pylist()
        ]
        assert may_list_partitions(table.metadata, manifests, one).to_pylist() == expected


@pytest.mark.parametrize("transform", [UnknownTransform("zorder"), VoidTransform()])
def test_fields_without_known_values_leave_no_manifest_out(catalog, transform):
    schema = Schema(NestedField(1, "p", StringType()), NestedField(2, "q", LongType()))
    table = catalog.create_table("db.open", schema, partition_spec=_spec("p", "q"))
    table.append(pa.table({"p": ["a", "b"], "q": [1, 2]}))
    manifests = manifests_of(table.io, table.current_snapshot())
    spec = PartitionSpec(
        PartitionField(1, 1000, transform, "p"), PartitionField(2, 1001, IdentityTransform(), "q"), spec_id=0
    )
    base = table.metadata.model_copy(update={"partition_specs": [spec]})
    files = pa.table({"spec_id": pa.array([0, 0], pa.int32()), "partition": ["[null, 1]", '["a", 2]']})
    assert may_list_partitions(base, manifests, files.slice(0, 1)).to_pylist() == [True]
    assert may_list_partitions(base, manifests, files.slice(1, 1)).to_pylist() == [True]
    others = pa.table({"spec_id": pa.array([0], pa.int32()), "partition": ['["a", 3]']})
    assert may_list_partitions(base, manifests, others).to_pylist() == [False]


MODES = ["copy-on-write", "merge-on-read"]
CHANGES = {
    "delete of whole files": lambda table: table.delete("p = 'b'"),
    "delete of rows": lambda table: table.delete("p = 'b' and q = 2"),
    "overwrite": lambda table: table.overwrite(pa.table({"p": ["b"], "q": [5]}), "p = 'b'"),
    "dynamic overwrite": lambda table: table.dynamic_partition_overwrite(pa.table({"p": ["b"], "q": [5]})),
    "update": lambda table: table.update("p = 'b'", {"q": "q + 5"}),
    "rewrite": lambda table: (
        table.maintenance.rewrite_data_files().filter("p = 'b'").options(rewrite_all=True).execute()
    ),
}


@pytest.mark.parametrize(
    ("change", "mode"),
    # A rewrite of files with deletes looks for other files that the deletes apply to.
    [(change, mode) for change in CHANGES for mode in MODES if (change, mode) != ("rewrite", "merge-on-read")],
)
def test_changes_of_a_partition_read_no_manifest_of_others(catalog, change, mode):
    properties = {"commit.manifest-merge.enabled": "false"}
    properties |= {f"write.{verb}.mode": mode for verb in ("delete", "update")}
    schema = Schema(NestedField(1, "p", StringType()), NestedField(2, "q", LongType()))
    table = catalog.create_table("db.parts", schema, partition_spec=_spec("p"), properties=properties)
    for part, *values in [("a", 1, 11), ("b", 2, 3, 12), ("c", 4, 14)]:
        table.append(pa.table({"p": [part] * len(values), "q": values}))
        table.delete(f"p = '{part}' and q > 10")
    with_files = [
        one
        for one in table.current_snapshot().manifests(table.io)
        if any(entry.status != ManifestEntryStatus.DELETED for entry in one.fetch_manifest_entry(table.io))
    ]
    others = [one for one in with_files if one.partitions[0].lower_bound != b"b"]
    assert len(others) == len(with_files) - (2 if mode == "merge-on-read" else 1)
    contents = {one.manifest_path: Path(one.manifest_path.removeprefix("file://")).read_bytes() for one in others}
    for path in contents:
        Path(path.removeprefix("file://")).unlink()
    CHANGES[change](table)
    for path, content in contents.items():
        Path(path.removeprefix("file://")).write_bytes(content)
    rows = table.scan("p != 'b'").to_arrow().sort_by("q").to_pylist()
    assert rows == [{"p": "a", "q": 1}, {"p": "c", "q": 4}]
    assert {one.manifest_path for one in table.current_snapshot().manifests(table.io)} >= set(contents)


def _spec(*names):
    places = {"p": 1, "q": 2}
    return PartitionSpec(*[PartitionField(places[one], 999 + places[one], IdentityTransform(), one) for one in names])
