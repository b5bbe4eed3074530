"""Metadata tables beside a naive reading of manifests, and filters beside a filter over all rows."""

import json

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform, IdentityTransform, TruncateTransform
from icefloe.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "kind", StringType()))
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
KINDS = st.one_of(st.none(), st.sampled_from(["a", "b", "ü", ""]))
ROWS = st.lists(st.tuples(st.one_of(st.none(), st.integers(-3, 12)), KINDS), min_size=1, max_size=6)
STEPS = st.lists(
    st.one_of(
        ROWS.map(lambda rows: ("append", rows)),
        st.integers(-3, 12).map(lambda value: ("delete", f"id = {value}")),
        st.sampled_from([("spec", "bucket"), ("spec", "truncate"), ("spec", "none"), ("branch", "side")]),
    ),
    min_size=1,
    max_size=8,
)
WHERES = st.sampled_from(
    [
        "partition.kind = 'a'",
        "partition.kind is null",
        "partition.kind != 'b'",
        "not (partition.kind = 'ü') and content = 0",
        "partition.kind in ('a', '') or record_count > 2",
        "content = 1",
        "record_count > 1 and spec_id = 0",
        "readable_metrics.id.lower_bound > 3 or partition.kind = 'b'",
        "readable_metrics.kind.null_value_count = 0",
        "file_path like 'x%'",
    ]
)


def built(steps):
    catalog = load_catalog("scratch", type="memory")
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA, partition_spec=SPEC, properties={"write.delete.mode": "merge-on-read"})
    for step, value in steps:
        if step == "append":
            ids, kinds = zip(*value, strict=True)
            table.append(pa.table({"id": pa.array(ids, pa.int64()), "kind": pa.array(kinds, pa.string())}))
        elif step == "delete":
            table.delete(value)
        elif step == "branch" and table.current_snapshot() is not None and "side" not in table.refs():
            table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "side").commit()
        elif step == "spec":
            names = {field.name for field in table.spec().fields}
            with table.update_spec() as update:
                if value == "bucket" and "id_bucket" not in names:
                    update.add_field("id", BucketTransform(3), "id_bucket")
                elif value == "truncate" and "kind_trunc" not in names:
                    update.add_field("kind", TruncateTransform(1), "kind_trunc")
                elif value == "none":
                    for name in names - {"kind"}:
                        update.remove_field(name)
    return table


def naive_files(table):
    """The live files of the current snapshot by an object for each entry."""
    found = []
    names = {field.field_id: field.name for spec in table.specs().values() for field in spec.fields}
    for manifest in table.current_snapshot().manifests(table.io):
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            file = entry.data_file
            fields = table.specs()[file.spec_id].fields
            partition = dict.fromkeys(names.values())
            partition.update({field.name: file.partition[place] for place, field in enumerate(fields)})
            bounds = dict(file.lower_bounds or {}).get(1)
            found.append(
                {
                    "content": int(file.content),
                    "file_path": file.file_path,
                    "spec_id": file.spec_id,
                    "partition": partition,
                    "record_count": file.record_count,
                    "file_size_in_bytes": file.file_size_in_bytes,
                    "value_counts": dict(file.value_counts or {}),
                    "lowest id": None if bounds is None else int.from_bytes(bounds, "little", signed=True),
                }
            )
    return found


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(STEPS)
def test_files_equal_a_naive_reading_of_manifests(steps):
    table = built(steps)
    if table.current_snapshot() is None:
        return
    names = ("content", "file_path", "spec_id", "partition", "record_count", "file_size_in_bytes", "value_counts")
    rows = table.inspect.files().to_pylist()
    found = [
        {name: dict(row[name] or []) if name == "value_counts" else row[name] for name in names}
        | {"lowest id": row["readable_metrics"]["id"]["lower_bound"]}
        for row in rows
    ]
    assert found == naive_files(table)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(STEPS, WHERES)
def test_filters_of_files_neither_lose_nor_add_rows(steps, where):
    table = built(steps)
    if table.current_snapshot() is None:
        return
    from icefloe import _core
    from icefloe.expressions.filter import Filter
    from icefloe.table.read_context import schema_json

    schema = table.inspect.scan("files").schema()
    every = table.inspect.files()
    kept = _core.filter_rows(schema_json(schema), Filter.of(where, schema).json, every)
    expected = every.filter(kept).column("file_path").to_pylist()
    found = table.inspect.scan("files", where=where, selected_fields=("file_path",)).to_arrow()
    assert found.column("file_path").to_pylist() == expected


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(STEPS, st.integers(-3, 12))
def test_row_filters_keep_every_file_with_a_matching_row(steps, value):
    table = built(steps)
    if table.current_snapshot() is None:
        return
    scan = table.scan(f"id = {value}", selected_fields=("id", "_file"))
    needed = set(scan.to_arrow().column("_file").to_pylist())
    found = table.inspect.scan("data_files", row_filter=f"id = {value}").to_arrow()
    assert needed <= set(found.column("file_path").to_pylist())


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(STEPS)
def test_partitions_add_up_the_files(steps):
    table = built(steps)
    files = table.inspect.files()
    sums = {}
    for file in files.to_pylist():
        key = (json.dumps(file["partition"]), file["spec_id"])
        counts = sums.setdefault(key, [0, 0, 0, 0])
        place = 0 if file["content"] == 0 else 2
        counts[place] += 1
        counts[place + 1] += file["record_count"]
    rows = table.inspect.partitions().to_pylist()
    names = ("file_count", "record_count", "position_delete_file_count", "position_delete_record_count")
    assert {(json.dumps(row["partition"]), row["spec_id"]): [row[name] for name in names] for row in rows} == sums
    assert len(rows) == len(sums)


@pytest.mark.parametrize("name", ["files", "entries", "all_files", "all_entries", "partitions"])
def test_streams_and_tables_have_equal_rows(name):
    table = built([("append", [(1, "a"), (2, None)]), ("spec", "bucket"), ("append", [(3, "b")]), ("delete", "id = 1")])
    scan = table.inspect.scan(name)
    assert pa.table(scan).to_pylist() == getattr(table.inspect, name)().to_pylist()
