"""Reading, writing and creating metadata files; agreement with PyIceberg in both directions."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyiceberg.table.metadata as theirs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, MetadataWarning, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadata, TableMetadataUtil, TableMetadataV1, new_table_metadata
from icefloe.table.metadata.entries import Snapshots
from icefloe.table.snapshots import Snapshot
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortField, SortOrder
from icefloe.types import NestedField
from pyiceberg.partitioning import PartitionField as TheirField
from pyiceberg.partitioning import PartitionSpec as TheirSpec
from pyiceberg.schema import Schema as TheirSchema
from pyiceberg.table.sorting import SortField as TheirSortField
from pyiceberg.table.sorting import SortOrder as TheirOrder
from pyiceberg.transforms import parse_transform as their_transform
from pyiceberg.types import LongType as TheirLong
from pyiceberg.types import NestedField as TheirNested
from pyiceberg.types import TimestamptzType as TheirTimestamptz

KEYS_V2 = [
    "format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id", "current-schema-id",
    "schemas", "default-spec-id", "partition-specs", "last-partition-id", "default-sort-order-id", "sort-orders", "properties",
    "current-snapshot-id", "refs", "snapshots", "statistics", "partition-statistics", "snapshot-log", "metadata-log",
]  # fmt: skip


def snapshot_json(number: int, **changes: Any) -> dict[str, Any]:
    value = {
        "snapshot-id": 1000 + number,
        "sequence-number": number,
        "timestamp-ms": 1_700_000_000_000 + number,
        "manifest-list": f"/t/metadata/snap-{number}.avro",
        "summary": {"operation": "append", "added-records": str(number)},
        "schema-id": 0,
    }
    return {key: part for key, part in {**value, **changes}.items() if part is not None}


def created() -> TableMetadata:
    schema = Schema(NestedField(7, "id", "long", required=True), NestedField(9, "ts", "timestamptz"))
    spec = PartitionSpec(PartitionField(9, 1000, "day", "ts_day"), PartitionField(7, 1001, "bucket[4]", "id_bucket"))
    return new_table_metadata(schema, spec, SortOrder(SortField(9)), "/t/", {"a": 1, "b": True, "format-version": "2"})


def with_history() -> dict[str, Any]:
    value = json.loads(created().model_dump_json())
    return {
        **value,
        "last-sequence-number": 2,
        "last-updated-ms": 1_700_000_000_002,
        "current-snapshot-id": 1002,
        "snapshots": [snapshot_json(1), snapshot_json(2, **{"parent-snapshot-id": 1001})],
        "snapshot-log": [{"snapshot-id": 1000 + n, "timestamp-ms": 1_700_000_000_000 + n} for n in (1, 2)],
        "refs": {
            "main": {"snapshot-id": 1002, "type": "branch"},
            "old": {"snapshot-id": 1001, "type": "TAG", "max-ref-age-ms": 5},
        },
    }


def test_new_table_has_fresh_ids_and_no_snapshot() -> None:
    metadata = created()
    assert [field.field_id for field in metadata.schema().fields] == [1, 2]
    assert [(field.source_id, field.field_id) for field in metadata.spec().fields] == [(2, 1000), (1, 1001)]
    assert metadata.sort_order().fields[0].source_id == 2
    assert metadata.sort_order().order_id == 1
    assert (metadata.last_column_id, metadata.last_partition_id, metadata.current_snapshot_id) == (2, 1001, None)
    assert metadata.location == "/t"
    assert metadata.properties == {"a": "1", "b": "true", "write.parquet.compression-codec": "zstd"}


def test_unpartitioned_unsorted_table_has_the_ids_of_the_spec() -> None:
    metadata = new_table_metadata(Schema(NestedField(1, "a", "int")), PartitionSpec(), UNSORTED_SORT_ORDER, "/t")
    assert metadata.last_partition_id == 999
    assert metadata.default_sort_order_id == 0
    assert metadata.spec().is_unpartitioned()


def test_new_table_refuses_invalid_specs_and_properties() -> None:
    schema = Schema(NestedField(1, "a", "double"))
    with pytest.raises(ValidationError, match="bucket"):
        new_table_metadata(schema, PartitionSpec(PartitionField(1, 1000, "bucket[4]", "b")), UNSORTED_SORT_ORDER, "/t")
    with pytest.raises(ValidationError, match="column's name"):
        new_table_metadata(
            schema, PartitionSpec(PartitionField(1, 1000, "truncate[2]", "a")), UNSORTED_SORT_ORDER, "/t"
        )
    with pytest.raises(FeatureUnsupportedError):
        new_table_metadata(schema, PartitionSpec(), UNSORTED_SORT_ORDER, "/t", {"format-version": "3"})
    with pytest.raises(ValidationError, match="None"):
        new_table_metadata(schema, PartitionSpec(), UNSORTED_SORT_ORDER, "/t", {"a": None})


def test_metadata_json_has_ordered_keys_and_no_null() -> None:
    text = created().model_dump_json()
    assert list(json.loads(text)) == KEYS_V2
    assert json.loads(text)["current-snapshot-id"] == -1
    assert "null" not in text.replace("null-order", "").replace("nulls-", "")


def test_metadata_json_of_version_1_has_single_schema_and_spec() -> None:
    metadata = new_table_metadata(
        Schema(NestedField(1, "a", "int")), PartitionSpec(), UNSORTED_SORT_ORDER, "/t", {"format-version": 1}
    )
    value = json.loads(metadata.model_dump_json())
    assert isinstance(metadata, TableMetadataV1)
    assert value["schema"]["fields"] == value["schemas"][0]["fields"]
    assert value["partition-spec"] == []
    assert "last-sequence-number" not in value
    assert TableMetadataUtil.parse_obj(value) == metadata
    assert theirs.TableMetadataUtil.parse_obj(value).format_version == 1


def test_pyiceberg_reads_written_metadata() -> None:
    ours = TableMetadataUtil.parse_obj(with_history())
    other = theirs.TableMetadataUtil.parse_raw(ours.model_dump_json())
    assert other.current_snapshot_id == 1002
    assert [snapshot.snapshot_id for snapshot in other.snapshots] == [1001, 1002]
    assert str(other.spec().fields[1].transform) == "bucket[4]"
    assert other.refs["old"].max_ref_age_ms == 5
    assert TableMetadataUtil.parse_raw(other.model_dump_json()) == ours


def test_pyiceberg_metadata_is_read() -> None:
    schema = TheirSchema(
        TheirNested(1, "id", TheirLong(), required=True), TheirNested(2, "ts", TheirTimestamptz(), required=False)
    )
    other = theirs.new_table_metadata(
        schema,
        TheirSpec(TheirField(2, 1000, their_transform("hour"), "h")),
        TheirOrder(TheirSortField(1, their_transform("truncate[8]"))),
        "/t",
        {"k": "v"},
    )
    ours = TableMetadataUtil.parse_raw(other.model_dump_json())
    assert ours.schema() == Schema.model_validate_json(other.schema().model_dump_json())
    assert (
        json.loads(ours.model_dump_json())["partition-specs"] == json.loads(other.model_dump_json())["partition-specs"]
    )
    assert str(ours.sort_order().fields[0].transform) == "truncate[8]"
    assert ours.table_uuid == other.table_uuid


def test_snapshots_are_found_by_id_and_name() -> None:
    metadata = TableMetadataUtil.parse_obj(with_history())
    current = metadata.current_snapshot()
    assert current is not None
    assert current.snapshot_id == 1002
    assert current.summary is not None
    assert current.summary["added-records"] == "2"
    assert metadata.snapshot_by_name("old") == metadata.snapshot_by_id(1001)
    assert metadata.snapshot_by_id(5) is None
    assert metadata.next_sequence_number() == 3
    assert metadata.new_snapshot_id() not in {1001, 1002}


def test_snapshots_are_found_by_values_of_their_summaries() -> None:
    def summary(note: str | None) -> dict[str, Any]:
        return {"operation": "append"} if note is None else {"operation": "append", "note": note}

    notes = ["a", "b", None, "a", "7", "7", "", "b"]
    made = [snapshot_json(number, summary=summary(note)) for number, note in enumerate(notes, 1)]
    whole = Snapshots([*made, snapshot_json(9, summary=None)])
    grown = Snapshots(made[:3])
    assert grown.having("note", "7") == ()
    for one in made[3:]:
        grown = grown.appended(Snapshot(**one))
    for snapshots in (whole, grown):
        assert snapshots.having("note", "a") == (1001, 1004)
        assert snapshots.having("note", "7") == (1005, 1006)
        assert snapshots.having("note", "") == (1007,)
        assert snapshots.having("other", "a") == ()
        assert snapshots.without({1001, 1008}).having("note", "a") == (1004,)


def test_missing_last_sequence_number_is_the_highest_of_the_snapshots() -> None:
    value = with_history()
    del value["last-sequence-number"]
    with pytest.warns(MetadataWarning, match="`last-sequence-number` is missing"):
        assert TableMetadataUtil.parse_obj(value).next_sequence_number() == 3


def test_metadata_survives_json_and_pickle() -> None:
    metadata = TableMetadataUtil.parse_obj(with_history())
    assert TableMetadataUtil.parse_raw(metadata.model_dump_json()) == metadata
    assert pickle.loads(pickle.dumps(metadata)) == metadata


def test_unknown_snapshot_keys_are_preserved() -> None:
    value = with_history()
    value["snapshots"][0]["first-row-id"] = 7
    value["snapshots"][0]["of-the-future"] = {"a": 1}
    value["snapshots"][1]["parent-snapshot-id"] = None
    written = json.loads(TableMetadataUtil.parse_obj(value).model_dump_json())
    assert written["snapshots"][0]["of-the-future"] == {"a": 1}
    assert "parent-snapshot-id" not in written["snapshots"][1]


def test_absent_refs_and_absent_current_snapshot_are_read() -> None:
    value = with_history()
    del value["refs"]
    assert TableMetadataUtil.parse_obj(value).refs["main"].snapshot_id == 1002
    for nothing in (-1, None):
        assert (
            TableMetadataUtil.parse_obj(
                {**json.loads(created().model_dump_json()), "current-snapshot-id": nothing}
            ).current_snapshot()
            is None
        )


def test_old_version_1_layout_is_read() -> None:
    value = {
        "format-version": 1,
        "location": "/t",
        "last-updated-ms": 1,
        "last-column-id": 1,
        "schema": {"type": "struct", "fields": [{"id": 1, "name": "a", "required": False, "type": "int"}]},
        "partition-spec": [{"name": "a_b", "transform": "bucket[2]", "source-id": 1}],
        "snapshots": [{"snapshot-id": 5, "timestamp-ms": 1, "manifests": ["/m.avro"]}],
        "current-snapshot-id": 5,
    }
    metadata = TableMetadataUtil.parse_obj(value)
    assert metadata.spec().fields[0].field_id == 1000
    assert metadata.last_partition_id == 1000
    assert metadata.sort_order().is_unsorted
    snapshot = metadata.current_snapshot()
    assert snapshot is not None
    assert (snapshot.sequence_number, snapshot.manifest_list, snapshot.manifest_paths) == (0, None, ("/m.avro",))
    assert metadata.next_sequence_number() == 0


def test_version_1_metadata_without_sort_orders_is_unsorted() -> None:
    value = json.loads(
        new_table_metadata(
            Schema(NestedField(1, "a", "int")), PartitionSpec(), UNSORTED_SORT_ORDER, "/t", {"format-version": 1}
        ).model_dump_json()
    )
    del value["sort-orders"]
    metadata = TableMetadataUtil.parse_obj({**value, "default-sort-order-id": 1})
    assert metadata.sort_order() == UNSORTED_SORT_ORDER
    assert json.loads(metadata.model_dump_json())["default-sort-order-id"] == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"table-uuid": None}, "`table-uuid`"),
        ({"last-column-id": "2"}, "`last-column-id`"),
        ({"last-column-id": 2.0}, "`last-column-id`"),
        ({"properties": {"a": [1]}}, "`properties.a`"),
        ({"current-schema-id": 9}, "`current-schema-id` 9 is not in `schemas`"),
        ({"default-spec-id": 9}, "`default-spec-id` 9"),
        ({"default-sort-order-id": 9}, "`default-sort-order-id` 9"),
        ({"current-snapshot-id": 9}, "`current-snapshot-id` 9 is not in `snapshots`"),
        ({"snapshots": {}}, "must be a list"),
        ({"snapshots": [snapshot_json(1, **{"snapshot-id": "x"})]}, "`snapshot-id` of entry 0"),
        ({"snapshots": [snapshot_json(1), snapshot_json(1)]}, "contains an id twice"),
        ({"schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1}]}]}, "`name` of a field is missing"),
        ({"refs": {"b": {"snapshot-id": 77, "type": "branch"}}}, "77"),
        ({"refs": {"main": {"snapshot-id": 1001, "type": "branch"}}}, "branch main is at snapshot 1001"),
        (
            {"refs": {"b": {"snapshot-id": 1001, "type": "tag", "min-snapshots-to-keep": 1}}},
            "tag: `min-snapshots-to-keep` and",
        ),
        ({"refs": {"b": {"snapshot-id": 1001, "type": "branch", "max-ref-age-ms": 0}}}, "greater than 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_contradictory_metadata_is_corrupt_and_names_the_key(change: dict[str, Any], why: str) -> None:
    text = json.dumps({**with_history(), **change})
    with pytest.raises(CorruptFileError) as caught:
        TableMetadataUtil.parse_raw(text, location="file:/t/metadata/v1.metadata.json")
    assert why in str(caught.value)
    assert "file:/t/metadata/v1.metadata.json" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "is empty"), ("not json", "is not JSON"), ("[]", "not a JSON object"), ("{}", "no `format-version`")],
)
def test_other_text_is_corrupt_metadata(text: str, why: str) -> None:
    with pytest.raises(CorruptFileError, match=why):
        TableMetadataUtil.parse_raw(text)


@given(st.data())
@settings(max_examples=50)
def test_truncated_metadata_is_corrupt(data: st.DataObject) -> None:
    text = TableMetadataUtil.parse_obj(with_history()).model_dump_json()
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(CorruptFileError):
        TableMetadataUtil.parse_raw(text[:cut])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2),
        max_leaves=3,
    ),
    st.sampled_from(KEYS_V2),
)
@settings(max_examples=200)
@pytest.mark.filterwarnings("ignore::icefloe.exceptions.MetadataWarning")
def test_any_value_of_any_key_is_read_or_is_an_error(value: Any, key: str) -> None:
    try:
        metadata = TableMetadataUtil.parse_obj({**with_history(), key: value})
    except (CorruptFileError, FeatureUnsupportedError):
        return
    assert TableMetadataUtil.parse_raw(metadata.model_dump_json()) == metadata


def test_newer_format_version_is_refused_as_unsupported() -> None:
    with pytest.raises(FeatureUnsupportedError, match="format version 4"):
        TableMetadataUtil.parse_obj({"format-version": 4})
