"""Partition evolution: the updates of its builder."""

from __future__ import annotations

from typing import Any

import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.update import (
    SetDefaultSpecUpdate,
    UpgradeFormatVersionUpdate,
)
from icefloe.table.update.spec import UpdateSpec

from tests.unit.table.update.recorder import table


def test_partition_field_inside_a_list_or_map_is_refused() -> None:
    for path in ("tags.element.k", "named.key"):
        with pytest.raises(ValidationError, match="is inside"):
            UpdateSpec(table()).add_field(path, "identity").commit()


def test_default_name_of_a_nested_partition_field_has_the_path() -> None:
    recorder = table()
    with UpdateSpec(recorder) as update:
        update.add_identity("at.x")
    assert recorder.table_metadata.spec().fields[-1].name == "at.x"


def test_spec_gains_and_loses_fields() -> None:
    recorder = table()
    with UpdateSpec(recorder) as update:
        update.add_field("id", "bucket[16]").add_field("at.x", "identity", "lat").remove_field("day_month")
    spec = recorder.table_metadata.spec()
    assert [(field.field_id, field.name, str(field.transform)) for field in spec.fields] == [
        (1001, "id_bucket_16", "bucket[16]"),
        (1002, "lat", "identity"),
    ]
    with UpdateSpec(recorder) as update:
        update.remove_field("id_bucket_16").add_field("day", "month").rename_field("lat", "latitude")
    assert [(field.field_id, field.name) for field in recorder.table_metadata.spec().fields] == [
        (1002, "latitude"),
        (1000, "day_month"),
    ]


def test_version_1_keeps_removed_fields_as_void() -> None:
    recorder = table(**{"format-version": "1"})
    with UpdateSpec(recorder) as update:
        update.remove_field("day_month").add_field("day", "year", "day_month")
    assert [(field.field_id, field.name, str(field.transform)) for field in recorder.table_metadata.spec().fields] == [
        (1000, "day_month_1000", "void"),
        (1001, "day_month", "year"),
    ]


def test_column_is_partitioned_by_a_second_unit_of_time_in_a_later_change() -> None:
    recorder = table()
    UpdateSpec(recorder).add_field("day", "year").commit()
    assert [(field.field_id, field.name) for field in recorder.table_metadata.spec().fields] == [
        (1000, "day_month"),
        (1001, "day_year"),
    ]


def test_void_field_of_an_upgraded_table_is_removed() -> None:
    recorder = table(**{"format-version": "1"})
    UpdateSpec(recorder).remove_field("day_month").commit()
    removed = recorder.table_metadata
    UpdateSpec(recorder).remove_field("day_month").commit()
    assert recorder.table_metadata is removed
    recorder.apply_updates((UpgradeFormatVersionUpdate(format_version=2),))
    UpdateSpec(recorder).remove_field("day_month").commit()
    assert recorder.table_metadata.spec().fields == ()


@pytest.mark.parametrize("name", [None, "day_month", "month"])
def test_partition_field_returns_for_the_void_field_of_an_upgraded_table(name: str | None) -> None:
    recorder = table(**{"format-version": "1"})
    UpdateSpec(recorder).add_field("id", "bucket[16]").commit()
    UpdateSpec(recorder).remove_field("day_month").commit()
    recorder.apply_updates((UpgradeFormatVersionUpdate(format_version=2),))
    UpdateSpec(recorder).add_field("day", "month", name).commit()
    fields = {field.name: (field.field_id, str(field.transform)) for field in recorder.table_metadata.spec().fields}
    bucket = {"id_bucket_16": (1001, "bucket[16]")}
    void = {"day_month": (1000, "void")} if name == "month" else {}
    assert fields == bucket | void | {name or "day_month": (1002 if name == "month" else 1000, "month")}


@pytest.mark.parametrize("version", ["1", "2"])
def test_removed_partition_field_that_is_added_again_returns_to_its_place(version: str) -> None:
    recorder = table(**{"format-version": version})
    UpdateSpec(recorder).add_field("id", "bucket[16]").add_field("at.x", "identity", "lat").commit()
    before = recorder.table_metadata
    UpdateSpec(recorder).remove_field("id_bucket_16").remove_field("day_month").add_field("id", "bucket[16]").add_field(
        "day", "month"
    ).commit()
    assert recorder.table_metadata is before
    UpdateSpec(recorder).remove_field("id_bucket_16").add_field("at.y", "identity", "long").add_field(
        "id", "bucket[16]", "bucket"
    ).commit()
    assert [(field.field_id, field.name) for field in recorder.table_metadata.spec().fields] == [
        (1000, "day_month"),
        (1001, "bucket"),
        (1002, "lat"),
        (1003, "long"),
    ]


def test_returning_partition_field_leaves_its_name_to_the_added_field() -> None:
    recorder = table()
    update = UpdateSpec(recorder).remove_field("day_month").add_field("id", "bucket[4]", "day_month")
    update.add_field("day", "month").commit()
    assert [(field.field_id, field.name) for field in recorder.table_metadata.spec().fields] == [
        (1000, "day_month_1000"),
        (1001, "day_month"),
    ]


def test_partition_fields_swap_their_names() -> None:
    recorder = table()
    UpdateSpec(recorder).add_field("id", "bucket[4]", "key").commit()
    UpdateSpec(recorder).rename_field("day_month", "key").rename_field("key", "day_month").commit()
    assert [(field.field_id, field.name) for field in recorder.table_metadata.spec().fields] == [
        (1000, "key"),
        (1001, "day_month"),
    ]


def test_partition_field_has_the_name_of_its_source_column() -> None:
    recorder = table()
    UpdateSpec(recorder).add_field("id", "bucket[4]", "id").commit()
    assert str(recorder.table_metadata.spec().fields[-1]) == "1001: id: bucket[4](1)"


def test_void_field_is_renamed() -> None:
    recorder = table(**{"format-version": "1"})
    UpdateSpec(recorder).remove_field("day_month").commit()
    UpdateSpec(recorder).rename_field("day_month", "old").commit()
    assert str(recorder.table_metadata.spec().fields[0]) == "1000: old: void(2)"


def test_update_of_the_spec_without_a_change_commits_nothing() -> None:
    recorder = table()
    UpdateSpec(recorder).commit()
    UpdateSpec(recorder).remove_field("day_month").add_field("day", "month").commit()
    UpdateSpec(recorder).rename_field("day_month", "month").rename_field("day_month", "day_month").commit()
    assert recorder.commits == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda update: update.add_field("day", "month"), "already"),
        (lambda update: update.add_field("day", "day").add_field("day", "year"), "already"),
        (lambda update: update.add_field("at", "identity"), "does not apply"),
        (lambda update: update.add_field("id", "day"), "does not apply"),
        (lambda update: update.add_field("id", "zorder"), "does not apply"),
        (lambda update: update.add_field("id", "bucket[2]", "day"), "column's name"),
        (lambda update: update.remove_field("nope"), "no partition field"),
        (lambda update: update.add_field("id", "bucket[2]", "day_month"), "used twice"),
    ],
)
def test_invalid_partition_field_is_refused(change: Any, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        change(UpdateSpec(table()))


def test_spec_of_an_earlier_version_is_chosen_by_its_id() -> None:
    recorder = table()
    UpdateSpec(recorder).add_identity("id").commit()
    UpdateSpec(recorder).remove_field("id").commit()
    assert recorder.updates == (SetDefaultSpecUpdate(spec_id=0),)
    assert len(recorder.table_metadata.partition_specs) == 2
