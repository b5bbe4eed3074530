"""Commits to tables whose manifests have partition values of other types than the table's columns."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import FeatureUnsupportedError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform
from icefloe.types import DateType, IntegerType, LongType, NestedField

BY_P = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "p"))
MERGING = {"commit.manifest.min-count-to-merge": "2"}


def rows(p, q):
    return pa.table({"p": p, "q": pa.array(q, pa.int64())})


@pytest.mark.parametrize("version", ["1", "2"])
def test_manifests_from_before_and_after_the_promotion_of_a_removed_partition_column_are_merged(catalog, version):
    schema = Schema(NestedField(1, "p", IntegerType()), NestedField(2, "q", LongType()))
    properties = {"format-version": version, **MERGING}
    table = catalog.create_table("db.t", schema, partition_spec=BY_P, properties=properties)
    table.append(rows(pa.array([1], pa.int32()), [1]))
    table.update_spec().remove_field("p").commit()
    table.append(rows(pa.array([2], pa.int32()), [2]))
    table.update_schema().update_column("p", LongType()).commit()
    table.append(rows(pa.array([3], pa.int64()), [3]))
    table.update_spec().add_field("q", "identity", "r").commit()
    table.append(rows(pa.array([4], pa.int64()), [4]))
    assert sorted(table.scan().to_arrow()["q"].to_pylist()) == [1, 2, 3, 4]
    specs = [manifest.partition_spec_id for manifest in table.current_snapshot().manifests(table.io)]
    assert sorted(specs) == [0, 1, 2]


@pytest.fixture
def unknown(catalog, tmp_path):
    """A table of two snapshots, partitioned by days, whose transform nobody knows; rows of q = 2 and 4 are deleted by position."""
    schema = Schema(NestedField(1, "p", DateType()), NestedField(2, "q", LongType()))
    properties = {"write.delete.mode": "merge-on-read", **MERGING}
    table = catalog.create_table("db.t", schema, partition_spec=BY_P, properties=properties)
    for day, values in [(0, [1, 2]), (1, [3, 4])]:
        table.append(rows(pa.array([day] * 2, pa.int32()).cast(pa.date32()), values))
    table.delete("q in (2, 4)")
    metadata = json.loads(Path(table.metadata_location).read_text())
    metadata["partition-specs"][0]["fields"][0]["transform"] = "zorder[4]"
    location = tmp_path / "00009-unknown.metadata.json"
    location.write_text(json.dumps(metadata))
    return catalog.register_table("db.unknown", str(location))


def test_rewrite_of_manifests_leaves_values_of_an_unknown_transform_as_they_are(unknown):
    before = unknown.current_snapshot().manifest_list
    unknown.maintenance.rewrite_manifests().execute()
    change = unknown.transaction().rewrite_manifests()
    change.commit()
    assert unknown.current_snapshot().manifest_list == before


def test_rows_beside_delete_files_of_an_unknown_transform_are_deleted_by_position(unknown):
    unknown.delete("q = 3")
    assert unknown.scan().to_arrow()["q"].to_pylist() == [1]


def test_whole_files_beside_delete_files_of_an_unknown_transform_are_deleted(unknown):
    with unknown.transaction() as transaction:
        transaction.set_properties({"write.delete.mode": "copy-on-write"})
    with pytest.raises(FeatureUnsupportedError, match="writing with the transform zorder"):
        unknown.delete("q = 3")
    unknown.delete("q > 2")
    assert unknown.scan().to_arrow()["q"].to_pylist() == [1]
