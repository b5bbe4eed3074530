"""Updates of metadata: their effect, what the result shares with the base, and the errors of invalid updates."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from icefloe.exceptions import CommitFailedException, FeatureUnsupportedError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import update
from icefloe.table.metadata import TableMetadata, TableMetadataUtil, TableMetadataV2, new_table_metadata
from icefloe.table.refs import SnapshotRefType
from icefloe.table.snapshots import Snapshot, Summary
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortField, SortOrder
from icefloe.table.statistics import StatisticsFile
from icefloe.table.update import update_table_metadata
from icefloe.types import NestedField


def table(**properties: Any) -> TableMetadata:
    schema = Schema(NestedField(1, "id", "long", required=True), NestedField(2, "day", "date"))
    return new_table_metadata(
        schema, PartitionSpec(PartitionField(2, 1000, "month", "day_month")), UNSORTED_SORT_ORDER, "/t", properties
    )


def snapshot(number: int, base: TableMetadata, parent: int | None = None) -> Snapshot:
    return Snapshot(
        snapshot_id=number,
        parent_snapshot_id=parent,
        sequence_number=number,
        timestamp_ms=base.last_updated_ms + number,
        manifest_list=f"/t/metadata/{number}.avro",
        summary=Summary("append"),
        schema_id=0,
    )


def commit(
    base: TableMetadata, number: int, branch: str = "main", parent: int | None = None
) -> tuple[update.TableUpdate, ...]:
    return (
        update.AddSnapshotUpdate(snapshot=snapshot(number, base, parent)),
        update.SetSnapshotRefUpdate(ref_name=branch, type=SnapshotRefType.BRANCH, snapshot_id=number),
    )


def test_commit_moves_main_and_both_logs() -> None:
    base = table()
    after = update_table_metadata(base, commit(base, 1), metadata_location="/t/metadata/00000.json")
    assert after.current_snapshot_id == 1
    assert after.last_sequence_number == 1
    assert after.last_updated_ms == base.last_updated_ms + 1
    assert [entry.snapshot_id for entry in after.snapshot_log] == [1]
    assert [(entry.metadata_file, entry.timestamp_ms) for entry in after.metadata_log] == [
        ("/t/metadata/00000.json", base.last_updated_ms)
    ]
    assert base.current_snapshot_id is None
    assert TableMetadataUtil.parse_raw(after.model_dump_json()) == after


def test_commit_shares_what_it_does_not_change() -> None:
    base = update_table_metadata(table(), commit(table(), 1))
    after = update_table_metadata(base, commit(base, 2, parent=1))
    assert after.schemas is base.schemas
    assert after.properties is base.properties
    assert after.snapshots[0] is base.snapshots[0]


def test_commit_to_a_branch_leaves_main_and_the_log() -> None:
    base = update_table_metadata(table(), commit(table(), 1))
    after = update_table_metadata(base, commit(base, 2, branch="dev", parent=1))
    assert after.current_snapshot_id == 1
    assert after.refs["dev"].snapshot_id == 2
    assert len(after.snapshot_log) == 1


def test_heads_between_two_changes_of_one_commit_do_not_enter_the_log() -> None:
    base = table()
    after = update_table_metadata(base, (*commit(base, 1), *commit(base, 2, parent=1)))
    assert [entry.snapshot_id for entry in after.snapshot_log] == [2]


def test_rollback_enters_the_log_at_the_present_time() -> None:
    base = table()
    later = update_table_metadata(base, (*commit(base, 1), *commit(base, 2, parent=1)))
    move = update.SetSnapshotRefUpdate(ref_name="main", type=SnapshotRefType.BRANCH, snapshot_id=1)
    now_ms = base.last_updated_ms + 50
    after = update_table_metadata(later, (move,), now_ms=now_ms)
    assert [(entry.snapshot_id, entry.timestamp_ms) for entry in after.snapshot_log][-1] == (1, now_ms)
    assert after.last_updated_ms == now_ms


def test_metadata_log_keeps_the_newest() -> None:
    metadata = table(**{"write.metadata.previous-versions-max": "2"})
    for number in range(1, 5):
        metadata = update_table_metadata(metadata, commit(metadata, number), metadata_location=f"/{number}")
    assert [entry.metadata_file for entry in metadata.metadata_log] == ["/3", "/4"]


def test_no_change_returns_the_base() -> None:
    base = table()
    assert update_table_metadata(base, (update.SetLocationUpdate(location="/t/"),), metadata_location="/x") is base


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda base: update.AddSnapshotUpdate(snapshot=snapshot(1, base)), "already has a snapshot"),
        (
            lambda base: update.AddSnapshotUpdate(
                snapshot=snapshot(9, base, 1).model_copy(update={"sequence_number": 1})
            ),
            "sequence number 1",
        ),
        (
            lambda base: update.AddSnapshotUpdate(snapshot=snapshot(9, base).model_copy(update={"timestamp_ms": 1})),
            "clock",
        ),
        (
            lambda _: update.SetSnapshotRefUpdate(ref_name="b", type=SnapshotRefType.TAG, snapshot_id=5),
            "no such snapshot",
        ),
        (
            lambda _: update.SetSnapshotRefUpdate(ref_name="main", type=SnapshotRefType.TAG, snapshot_id=1),
            "main is a branch",
        ),
        (lambda _: update.RemoveSnapshotsUpdate(snapshot_ids=[7]), "remove snapshot 7: the table has no such snapshot"),
        (
            lambda _: update.SetCurrentSchemaUpdate(schema_id=7),
            r"the current schema: expected one of the table's ids \[0\], got 7",
        ),
        (lambda _: update.SetCurrentSchemaUpdate(), "resolve schema id -1, .*: the commit adds none"),
        (
            lambda _: update.SetDefaultSpecUpdate(spec_id=7),
            r"the default partition spec: expected one of the table's ids \[0\], got 7",
        ),
        (
            lambda _: update.SetDefaultSortOrderUpdate(sort_order_id=7),
            r"the default sort order: expected one of the table's ids \[0\], got 7",
        ),
        (
            lambda _: update.UpgradeFormatVersionUpdate(format_version=1),
            "cannot lower the format version: expected at least 2, got 1",
        ),
        (lambda _: update.AssignUUIDUpdate(uuid=uuid.uuid4()), "already has UUID"),
        (lambda _: update.SetPropertiesUpdate(updates={"format-version": "2"}), "cannot set format-version: reserved"),
        (
            lambda _: update.RemovePartitionSpecsUpdate(spec_ids=[0]),
            "cannot remove partition spec 0: the table uses it",
        ),
        (lambda _: update.RemoveSchemasUpdate(schema_ids=[0]), "cannot remove schema 0: the table uses it"),
        (lambda _: update.RemoveStatisticsUpdate(snapshot_id=1), "statistics of snapshot 1: it has none"),
    ],
)
def test_invalid_update_is_refused(change: Any, why: str) -> None:
    base = update_table_metadata(table(), commit(table(), 1))
    with pytest.raises(ValidationError, match=why):
        update_table_metadata(base, (change(base),))


def test_upgrade_to_version_3_is_unsupported() -> None:
    with pytest.raises(FeatureUnsupportedError, match="format version 3"):
        update_table_metadata(table(), (update.UpgradeFormatVersionUpdate(format_version=3),))


def test_version_1_is_upgraded_in_place() -> None:
    base = table(**{"format-version": "1"})
    after = update_table_metadata(base, (update.UpgradeFormatVersionUpdate(format_version=2),))
    assert isinstance(after, TableMetadataV2)
    assert after.table_uuid == base.table_uuid
    assert after.next_sequence_number() == 1
    assert json.loads(after.model_dump_json())["last-sequence-number"] == 0


def test_schema_is_added_once_and_becomes_current() -> None:
    base = table()
    wider = Schema(*base.schema().fields, NestedField(3, "x", "int"))
    changes = (update.AddSchemaUpdate(schema=wider), update.SetCurrentSchemaUpdate())
    after = update_table_metadata(base, changes)
    assert (after.current_schema_id, after.last_column_id, len(after.schemas)) == (1, 3, 2)
    again = update_table_metadata(
        after, (update.AddSchemaUpdate(schema=base.schema()), update.SetCurrentSchemaUpdate())
    )
    assert (again.current_schema_id, again.last_column_id, len(again.schemas)) == (0, 3, 2)


def test_schema_without_a_column_that_the_spec_needs_is_refused() -> None:
    base = table()
    narrow = Schema(base.schema().fields[0])
    with pytest.raises(ValidationError, match="no column has the id 2"):
        update_table_metadata(base, (update.AddSchemaUpdate(schema=narrow), update.SetCurrentSchemaUpdate()))
    changes = (
        update.AddSchemaUpdate(schema=narrow),
        update.SetCurrentSchemaUpdate(),
        update.AddPartitionSpecUpdate(spec=PartitionSpec()),
        update.SetDefaultSpecUpdate(),
    )
    assert update_table_metadata(base, changes).spec().is_unpartitioned()


def test_spec_and_order_are_reused_if_the_same() -> None:
    base = table()
    spec = PartitionSpec(PartitionField(1, 1001, "bucket[8]", "id_bucket"))
    order = SortOrder(SortField(1))
    changes = (
        update.AddPartitionSpecUpdate(spec=spec),
        update.SetDefaultSpecUpdate(),
        update.AddSortOrderUpdate(sort_order=order),
        update.SetDefaultSortOrderUpdate(),
    )
    after = update_table_metadata(base, changes)
    assert (after.default_spec_id, after.last_partition_id, after.default_sort_order_id) == (1, 1001, 1)
    assert len(update_table_metadata(after, changes).partition_specs) == 2


def test_removed_snapshot_takes_its_names_log_and_statistics_along() -> None:
    base = table()
    base = update_table_metadata(base, commit(base, 1))
    base = update_table_metadata(base, commit(base, 2, parent=1))
    statistics = StatisticsFile(
        snapshot_id=1, statistics_path="/s", file_size_in_bytes=1, file_footer_size_in_bytes=1, blob_metadata=[]
    )
    tag = update.SetSnapshotRefUpdate(ref_name="v1", type=SnapshotRefType.TAG, snapshot_id=1)
    base = update_table_metadata(base, (update.SetStatisticsUpdate(statistics=statistics), tag))
    after = update_table_metadata(base, (update.RemoveSnapshotsUpdate(snapshot_ids=[1]),))
    assert [each.snapshot_id for each in after.snapshots] == [2]
    assert set(after.refs) == {"main"}
    assert after.statistics == ()
    assert [entry.snapshot_id for entry in after.snapshot_log] == [2]
    without_head = update_table_metadata(base, (update.RemoveSnapshotsUpdate(snapshot_ids=[2]),))
    assert without_head.current_snapshot_id is None
    assert len(without_head.snapshot_log) == 0


@pytest.mark.parametrize(
    "requirement",
    [
        update.AssertCreate(),
        update.AssertTableUUID(uuid=uuid.UUID(int=1)),
        update.AssertRefSnapshotId(ref="main", snapshot_id=5),
        update.AssertRefSnapshotId(ref="main"),
        update.AssertLastAssignedFieldId(last_assigned_field_id=9),
        update.AssertCurrentSchemaId(current_schema_id=9),
        update.AssertLastAssignedPartitionId(last_assigned_partition_id=9),
        update.AssertDefaultSpecId(default_spec_id=9),
        update.AssertDefaultSortOrderId(default_sort_order_id=9),
    ],
    ids=lambda requirement: requirement.type,
)
def test_requirement_fails_and_survives_json(requirement: update.TableRequirement) -> None:
    base = update_table_metadata(table(), commit(table(), 1))
    with pytest.raises(CommitFailedException, match=requirement.type):
        requirement.validate(base)
    assert update.requirement_from_json(json.loads(requirement.model_dump_json())) == requirement


def test_requirements_hold_of_the_table_they_were_made_from() -> None:
    base = update_table_metadata(table(), commit(table(), 1))
    assert base.table_uuid is not None
    for requirement in (
        update.AssertTableUUID(uuid=base.table_uuid),
        update.AssertRefSnapshotId(ref="main", snapshot_id=1),
        update.AssertRefSnapshotId(ref="other"),
        update.AssertLastAssignedFieldId(last_assigned_field_id=base.last_column_id),
        update.AssertLastAssignedPartitionId(last_assigned_partition_id=base.last_partition_id),
    ):
        requirement.validate(base)
    update.AssertCreate().validate(None)
    with pytest.raises(CommitFailedException, match="current table metadata is missing"):
        update.AssertDefaultSpecId(default_spec_id=0).validate(None)


def test_absent_ref_is_an_explicit_null_in_json() -> None:
    assert json.loads(update.AssertRefSnapshotId(ref="main").model_dump_json()) == {
        "type": "assert-ref-snapshot-id",
        "ref": "main",
        "snapshot-id": None,
    }


@pytest.mark.parametrize(
    "change",
    [
        *commit(table(), 1),
        update.AddSchemaUpdate(schema=table().schema(), last_column_id=2),
        update.AddPartitionSpecUpdate(spec=table().spec()),
        update.AddSortOrderUpdate(sort_order=SortOrder(SortField(1))),
        update.SetPropertiesUpdate(updates={"a": "b"}),
        update.RemoveSnapshotRefUpdate(ref_name="x"),
    ],
    ids=lambda change: change.action,
)
def test_update_survives_json(change: update.TableUpdate) -> None:
    assert update.update_from_json(json.loads(change.model_dump_json())) == change


def test_unknown_update_is_refused() -> None:
    with pytest.raises(ValidationError, match="table update"):
        update.update_from_json({"action": "explode"})


@pytest.mark.parametrize("late_ms", [0, 10, 10_000_000])
def test_update_with_a_slow_clock_keeps_the_time_of_the_last_change(late_ms: int) -> None:
    base = table()
    change = update.SetPropertiesUpdate(updates={"owner": "me"})
    after = update_table_metadata(base, (change,), now_ms=base.last_updated_ms - late_ms)
    assert after.last_updated_ms == base.last_updated_ms


@pytest.mark.filterwarnings("ignore::icefloe.exceptions.MetadataWarning")
def test_requirements_hold_of_counters_as_the_file_states_them_and_as_repaired() -> None:
    stated = {"last-column-id": 1, "last-partition-id": 999}
    base = TableMetadataUtil.parse_obj({**table().model_dump(), **stated})
    kept = update_table_metadata(base, (update.SetPropertiesUpdate(updates={"a": "b"}),))
    for metadata in (base, kept):
        assert (metadata.last_column_id, metadata.stated("last_column_id")) == (2, 1)
        for number in (1, 2):
            update.AssertLastAssignedFieldId(last_assigned_field_id=number).validate(metadata)
        for number in (999, 1000):
            update.AssertLastAssignedPartitionId(last_assigned_partition_id=number).validate(metadata)
        with pytest.raises(CommitFailedException, match="expected 3, found 2"):
            update.AssertLastAssignedFieldId(last_assigned_field_id=3).validate(metadata)
    wider = Schema(*base.schema().fields, NestedField(3, "more", "long"), schema_id=1)
    changed = update_table_metadata(kept, (update.AddSchemaUpdate(schema_=wider),))
    assert changed.repaired == {"last_partition_id": 999}
    with pytest.raises(CommitFailedException, match="expected 1, found 3"):
        update.AssertLastAssignedFieldId(last_assigned_field_id=1).validate(changed)
