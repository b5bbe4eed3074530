"""The texts of snapshots, specs, sort orders, refs and name mappings, and missing keys of summaries."""

from __future__ import annotations

import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.name_mapping import parse_mapping_from_json
from icefloe.table.refs import SnapshotRef
from icefloe.table.snapshots import Operation, Snapshot, Summary
from icefloe.table.sorting import SortField, SortOrder
from icefloe.typedef import EMPTY_DICT, KeyDefaultDict, Record, StructProtocol


def test_summary_has_none_for_missing_keys() -> None:
    summary = Summary(Operation.APPEND, **{"added-records": "3"})
    assert summary["deleted-records"] is None
    assert summary.get("deleted-records", "0") == "0"
    assert "deleted-records" not in summary
    assert summary["operation"] is Operation.APPEND
    assert dict(summary) == {"operation": "append", "added-records": "3"}


def test_snapshot_prints_its_operation_and_parent() -> None:
    snapshot = Snapshot(
        snapshot_id=5, parent_snapshot_id=4, timestamp_ms=1, manifest_list="a.avro", summary=Summary(Operation.APPEND)
    )
    assert str(snapshot) == "Operation.APPEND: id=5, parent_id=4"
    assert repr(snapshot) == (
        "Snapshot(snapshot_id=5, parent_snapshot_id=4, sequence_number=0, timestamp_ms=1, "
        "manifest_list='a.avro', summary=Summary(Operation.APPEND))"
    )


def test_specs_and_orders_print_as_they_are_written() -> None:
    spec = PartitionSpec(PartitionField(1, 1000, "bucket[4]", "a"), spec_id=2)
    assert repr(spec) == (
        "PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=BucketTransform(num_buckets=4), "
        "name='a'), spec_id=2)"
    )
    assert repr(SortOrder(SortField(1))) == (
        "SortOrder(SortField(source_id=1, transform=IdentityTransform(), direction=SortDirection.ASC, "
        "null_order=NullOrder.NULLS_FIRST), order_id=1)"
    )
    assert "snapshot_ref_type=SnapshotRefType.TAG" in repr(SnapshotRef(snapshot_id=1, snapshot_ref_type="tag"))


def test_name_mapping_prints_names_and_ids() -> None:
    mapping = parse_mapping_from_json(
        '[{"field-id": 1, "names": ["a", "b"], "fields": [{"names": ["c"], "field-id": 2}]}]'
    )
    assert str(mapping) == "[\n  ([a, b] -> 1 ([c] -> 2))\n]"


def test_record_prints_its_values_in_brackets() -> None:
    assert repr(Record(1, "a", None)) == "Record[1, a, None]"
    assert not isinstance(Record(1), StructProtocol), "a record has no setter"


def test_empty_dict_refuses_changes() -> None:
    with pytest.raises(AttributeError, match="does not support assignment"):
        EMPTY_DICT["a"] = 1
    with pytest.raises(AttributeError, match="does not support"):
        EMPTY_DICT.update(a=1)


def test_key_default_dict_computes_missing_values_once() -> None:
    calls: list[str] = []
    found = KeyDefaultDict(lambda key: calls.append(key) or key.upper())
    assert (found["a"], found["a"], calls) == ("A", "A", ["a"])
