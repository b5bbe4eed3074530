"""Manifests that may list files of a partition."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.commit.manifest_writer import ManifestWriter, manifests_of
from icefloe.table.commit.manifests_of_partitions import may_list_partitions
from icefloe.transforms import IdentityTransform
from icefloe.types import DateType, DoubleType, NestedField, StringType

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
