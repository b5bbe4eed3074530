"""The data files of each task that rewrites files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.io import FileIO
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.spark.dml.rewrite_groups import rewrite_groups, rewrites_by_file
from icefloe.spark.writer.layout import WriteLayout
from icefloe.table.scan.plan import ScanPlan
from icefloe.table.sorting import SortField, SortOrder
from icefloe.types import LongType, NestedField

MIB = 1024 * 1024
SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", LongType()))
SPEC = PartitionSpec(PartitionField(2, 1000, "identity", "part"), spec_id=3)


def layout_of(mode, *, partitioned=False, is_sorted=False, **properties):
    return WriteLayout(
        schema=SCHEMA,
        spec=SPEC if partitioned else PartitionSpec(),
        sort_order=SortOrder(SortField(1)) if is_sorted else SortOrder(),
        location="/t",
        properties={"write.distribution-mode": mode, **properties},
    )


def plan_of(sizes, partitions=None, spec_id=3):
    parts = [f"[{one}]" for one in partitions or [0] * len(sizes)]
    files = pa.record_batch(
        {
            "length": pa.array(sizes, pa.int64()),
            "spec_id": pa.array([spec_id] * len(sizes), pa.int32()),
            "partition": pa.array(parts),
        }
    )
    return ScanPlan(files, files.slice(0, 0), {}, "{}", "{}", FileIO({}))


def groups_of(sizes, layout, cores, partitions=None):
    plan = plan_of([one * MIB for one in sizes], partitions)
    return [group.tolist() for group in rewrite_groups(plan, np.arange(len(sizes)), layout, cores)]


@pytest.mark.parametrize(
    ("sizes", "cores", "groups"),
    [
        ([150], 2, [[0]]),
        ([30, 30, 30, 30], 2, [[0, 1], [2, 3]]),
        ([30, 30, 30, 30], 4, [[0], [1], [2], [3]]),
        ([100, 100, 100], 1, [[0], [1], [2]]),
        ([60, 60, 60, 60], 1, [[0, 1], [2, 3]]),
        ([0, 0, 0], 8, [[0, 1, 2]]),
    ],
)
def test_groups_have_a_share_of_the_bytes_or_128_mib(sizes, cores, groups):
    assert groups_of(sizes, layout_of("hash"), cores) == groups


def test_groups_have_at_most_the_target_file_size():
    layout = layout_of("none", **{"write.target-file-size-bytes": str(20 * MIB)})
    assert groups_of([10, 10, 10], layout, 1) == [[0, 1], [2]]


def test_files_of_a_partition_are_in_one_group():
    assert groups_of([10, 10, 10, 10], layout_of("hash", partitioned=True), 4, [1, 2, 1, 2]) == [[0, 2], [1, 3]]
    assert groups_of([10, 10, 10, 10], layout_of("none", partitioned=True), 4, [1, 2, 1, 2]) == [[0], [1], [2], [3]]
    assert groups_of([100, 10, 100, 10], layout_of("hash", partitioned=True), 2, [1, 2, 1, 2]) == [[0], [2], [1, 3]]


def test_groups_are_of_the_given_files_alone():
    plan = plan_of([10 * MIB] * 4)
    groups = rewrite_groups(plan, np.array([1, 3]), layout_of("hash"), 2)
    assert [group.tolist() for group in groups] == [[1], [3]]


@pytest.mark.parametrize(
    ("layout", "by_file"),
    [
        (layout_of("none"), True),
        (layout_of("none", partitioned=True, is_sorted=True), True),
        (layout_of("hash", is_sorted=True), True),
        (layout_of("hash", partitioned=True), True),
        (layout_of("range"), True),
        (layout_of("range", is_sorted=True), False),
        (layout_of("range", partitioned=True), False),
    ],
)
def test_tasks_rewrite_files_where_the_distribution_mode_lets_them(layout, by_file):
    assert rewrites_by_file(plan_of([1, 1]), layout) is by_file


def test_files_of_another_spec_need_a_shuffle_by_partition():
    plan = plan_of([1, 1], spec_id=0)
    assert not rewrites_by_file(plan, layout_of("hash", partitioned=True))
    assert rewrites_by_file(plan, layout_of("none", partitioned=True))


@pytest.mark.parametrize(
    ("operation", "partitioned", "properties", "mode"),
    [
        ("delete", False, {}, "hash"),
        ("update", True, {"write.distribution-mode": "none"}, "hash"),
        ("update", False, {"write.update.distribution-mode": "none"}, "none"),
        ("merge", False, {}, "none"),
        ("merge", True, {"write.distribution-mode": "none"}, "hash"),
        ("merge", False, {"write.distribution-mode": "range"}, "range"),
        ("merge", True, {"write.merge.distribution-mode": "range"}, "range"),
    ],
)
def test_default_modes_are_the_modes_of_the_java_runtime(operation, partitioned, properties, mode):
    catalog = load_catalog("modes", type="memory")
    catalog.create_namespace("db")
    spec = PartitionSpec(PartitionField(2, 1000, "identity", "part")) if partitioned else PartitionSpec()
    table = catalog.create_table("db.t", SCHEMA, partition_spec=spec, properties=properties)
    assert WriteLayout.of_operation(table.metadata, operation).mode() == mode
