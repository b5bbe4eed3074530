"""Arguments that scans refuse, and the errors that name them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import FeatureUnsupportedError, ResolveError, ValidationError
from icefloe.partitioning import PartitionSpec
from icefloe.schema import Schema

COLUMNS = pa.schema([("id", pa.int64()), ("s", pa.string())])


@pytest.fixture(scope="module")
def table():
    """A table with two snapshots on main and one on a branch from the first of them."""
    with load_catalog("bad_arguments", type="memory") as catalog:
        catalog.create_namespace("db")
        made = catalog.create_table("db.t", COLUMNS)
        rows = pa.table({"id": [1], "s": ["a"]}, schema=COLUMNS)
        made.append(rows)
        with made.manage_snapshots() as snapshots:
            snapshots.create_branch(made.current_snapshot().snapshot_id, "other")
        made.append(rows, branch="other")
        made.append(rows)
        yield made


ARGUMENTS = {
    "negative limit": ({"limit": -1}, "limit: expected a whole number of rows, zero or above, .*; got -1"),
    "limit of parts": ({"limit": 1.5}, r"limit: expected .*; got 1\.5"),
    "limit as text": ({"limit": "3"}, "limit: expected .*; got '3'"),
    "limit as truth": ({"limit": True}, "limit: expected .*; got True"),
    "one name": (
        {"selected_fields": "id"},
        r"selected_fields: expected a list or tuple of names such as \('id',\), got 'id'",
    ),
    "no names": ({"selected_fields": None}, "selected_fields: expected a list or tuple of names .*, got None"),
    "filter of another kind": ({"row_filter": 5}, "not an expression: 5"),
    "filter without an end": ({"row_filter": "id >"}, r"position 4: expected a literal, got the end"),
    "no filter": ({"row_filter": ""}, "position 0: expected a column name"),
    "snapshot": ({"snapshot_id": 5}, "db.t has no snapshot 5; it may have been expired"),
    "option": (
        {"options": {"batch_size": "5"}},
        "scan options: expected split-size, lookback, file-open-cost, batch-size; got batch_size",
    ),
}


@pytest.mark.parametrize("case", ARGUMENTS)
@pytest.mark.parametrize("kind", ["scan", "incremental_append_scan", "incremental_changelog_scan"])
def test_scan_refuses_argument(table, kind, case):
    arguments, reason = ARGUMENTS[case]
    if kind != "scan" and "snapshot_id" in arguments:
        arguments = {"to_snapshot_id_inclusive": arguments["snapshot_id"]}
    with pytest.raises(ValidationError, match=reason):
        getattr(table, kind)(**arguments).to_arrow()


@pytest.mark.parametrize("kind", ["scan", "incremental_append_scan", "incremental_changelog_scan"])
def test_scan_refuses_missing_columns(table, kind):
    with pytest.raises(ResolveError, match=r"Could not find column: 'idd'; did you mean id\?"):
        getattr(table, kind)(selected_fields=("idd",)).to_arrow()
    with pytest.raises(ResolveError, match="no column named foo; the columns are id, s"):
        getattr(table, kind)(row_filter="foo = 1").to_arrow()


@pytest.mark.parametrize("kind", ["incremental_append_scan", "incremental_changelog_scan"])
def test_range_refuses_snapshots_of_different_lineages(table, kind):
    first, _, last = [snapshot.snapshot_id for snapshot in table.metadata.snapshots]
    branched = table.scan().use_ref("other").snapshot().snapshot_id
    for start, end in ((branched, last), (last, first)):
        with pytest.raises(ValidationError, match=f"snapshot {start} is not an ancestor of snapshot {end}"):
            getattr(table, kind)(from_snapshot_id_exclusive=start, to_snapshot_id_inclusive=end).to_arrow()


def test_scan_refuses_unknown_refs_and_times(table):
    with pytest.raises(ValidationError, match="no branch or tag 'nope'; it has main, other"):
        table.scan().use_ref("nope")
    with pytest.raises(ValidationError, match="had no snapshot at 0, or it has been expired"):
        table.scan().as_of(0)
    with pytest.raises(ValidationError, match="milliseconds since 1970-01-01 UTC, got '2026-01-01'"):
        table.scan().as_of("2026-01-01")


def test_partition_field_that_does_not_exist_is_not_removed():
    with load_catalog("removed_twice", type="memory") as catalog:
        catalog.create_namespace("db")
        made = catalog.create_table("db.t", COLUMNS, properties={"format-version": "1"})
        with made.update_spec() as update:
            update.add_field("id", "identity", "part")
        with made.update_spec() as update:
            update.remove_field("part")
        with pytest.raises(ValidationError, match="no partition field is named 'other'; the table is unpartitioned"):
            made.update_spec().remove_field("other")


@pytest.mark.parametrize("kind", ["blob", "interval(month)", "vector<float, 3>", {"type": "union"}], ids=str)
def test_types_of_later_versions_are_unsupported(kind):
    field = {"id": 1, "name": "x", "required": False, "type": kind}
    with pytest.raises(FeatureUnsupportedError, match=r"type '(blob|interval|vector|union).*' is not supported"):
        Schema.model_validate({"type": "struct", "schema-id": 0, "fields": [field]})


@pytest.mark.parametrize("kind", ["decimal(50, 2)", "fixed[x]", "", "in t", 5], ids=str)
def test_malformed_types_are_refused(kind):
    field = {"id": 1, "name": "x", "required": False, "type": kind}
    with pytest.raises(ValueError, match=r"x|type|decimal"):
        Schema.model_validate({"type": "struct", "schema-id": 0, "fields": [field]})


def test_transforms_of_several_columns_are_unsupported():
    field = {"source-ids": [1, 2], "field-id": 1000, "name": "b", "transform": "bucket[4]"}
    with pytest.raises(FeatureUnsupportedError, match="several columns"):
        PartitionSpec.model_validate({"spec-id": 0, "fields": [field]})
