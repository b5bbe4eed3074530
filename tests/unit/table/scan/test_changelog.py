import json
import pickle

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.schema import Schema
from icefloe.table.metadata import TableMetadataUtil
from icefloe.types import LongType, NestedField, StructType

CHANGE = ["_change_type", "_change_ordinal", "_commit_snapshot_id"]


def change_tuples(scan):
    """Return the changes as sorted tuples of ordinal, type and id."""
    found = scan.to_arrow()
    return sorted(
        zip(*(found.column(name).to_pylist() for name in ("_change_ordinal", "_change_type", "id")), strict=True)
    )


@pytest.fixture
def table(new_table, spec, mode):
    return new_table(spec, mode)


def since(table, **options):
    return table.incremental_changelog_scan(from_snapshot_id_exclusive=table.current_snapshot().snapshot_id, **options)


def changes(table, scan, **options):
    """Return a scan of the changes after a snapshot."""
    return table.incremental_changelog_scan(from_snapshot_id_exclusive=scan.from_snapshot_id, **options)


def test_changelog_reports_inserts_and_deletes_of_each_snapshot(table, rows):
    begun = since(table)
    table.append(rows((7, "a", None)))
    table.delete("id in (2, 4)")
    table.overwrite(rows((50, "z", 0.0)), "id = 5")
    table.delete("kind = 'a'")
    assert change_tuples(changes(table, begun)) == [
        (0, "INSERT", 7),
        (1, "DELETE", 2),
        (1, "DELETE", 4),
        (2, "DELETE", 5),
        (2, "INSERT", 50),
        (3, "DELETE", 1),
        (3, "DELETE", 7),
    ]
    snapshots = [one.snapshot_id for one in table.snapshots()][-4:]
    found = changes(table, begun).to_arrow()
    by_ordinal = dict(
        zip(found.column("_change_ordinal").to_pylist(), found.column(CHANGE[2]).to_pylist(), strict=True)
    )
    assert by_ordinal == dict(enumerate(snapshots))
    assert found.schema.names == ["id", "kind", "value", *CHANGE]
    assert [str(found.schema.field(name).type) for name in CHANGE] == ["string", "int32", "int64"]


def test_changelog_reports_a_deleted_row_once_with_its_snapshot(table):
    begun = since(table)
    table.delete("id = 1")
    table.delete("id in (1, 3)")
    table.delete("id > 0")
    assert change_tuples(changes(table, begun)) == [
        (0, "DELETE", 1),
        (1, "DELETE", 3),
        (2, "DELETE", 2),
        (2, "DELETE", 4),
        (2, "DELETE", 5),
        (2, "DELETE", 6),
    ]


def test_updates_have_rows_before_and_after(table, rows):
    begun = since(table)
    table.upsert(rows((2, "b", 9.0), (6, None, 6.0), (8, "n", None)))
    plain = change_tuples(changes(table, begun))
    assert plain == [(0, "DELETE", 2), (0, "DELETE", 6), (0, "INSERT", 2), (0, "INSERT", 6), (0, "INSERT", 8)]
    expected = [
        (0, "INSERT", 8),
        (0, "UPDATE_AFTER", 2),
        (0, "UPDATE_AFTER", 6),
        (0, "UPDATE_BEFORE", 2),
        (0, "UPDATE_BEFORE", 6),
    ]
    assert change_tuples(changes(table, begun, compute_updates=True)) == expected
    assert change_tuples(changes(table, begun, identifier_columns=("id",))) == expected
    rows_found = changes(table, begun, compute_updates=True).to_arrow().to_pylist()
    images = {(row["_change_type"], row["id"]): row["value"] for row in rows_found}
    assert images["UPDATE_BEFORE", 2] is None
    assert images["UPDATE_AFTER", 2] == 9.0


def test_filter_applies_to_each_half_of_an_update(table, rows):
    begun = since(table)
    table.upsert(rows((2, "b", 9.0), (6, None, 6.0), (8, "n", 9.0)))
    both = [(0, "UPDATE_AFTER", 2), (0, "UPDATE_BEFORE", 2)]
    for row_filter, expected in {
        "id = 2": both,
        "value = 9.0": [(0, "INSERT", 8), both[0]],
        "id = 2 and value = 9.0": both[:1],
        "id in (2, 8) and not (kind = 'n')": both,
        "value is null and kind = 'b'": both[1:],
        "value = 100": [],
    }.items():
        scan = changes(table, begun, compute_updates=True, row_filter=row_filter)
        assert change_tuples(scan) == expected, row_filter
        assert scan.count() == len(expected), row_filter
        net = changes(table, begun, compute_updates=True, row_filter=row_filter, net_changes=True)
        assert change_tuples(net) == expected, row_filter
    alone = changes(table, begun, compute_updates=True, row_filter="value = 9.0", selected_fields=("id",))
    assert sorted(alone.to_arrow().column("id").to_pylist()) == [2, 8]


def test_filter_applies_to_deletes_without_inserts(table):
    begun = since(table)
    table.delete("id in (1, 2)")
    scan = changes(table, begun, compute_updates=True, row_filter="kind = 'b'")
    assert change_tuples(scan) == [(0, "DELETE", 2)]
    assert scan.count() == 1


def test_change_columns_may_be_selected(table):
    found = table.incremental_changelog_scan(selected_fields=("id", "_change_type")).select("id").to_arrow()
    assert found.column_names == ["id", *CHANGE]
    with pytest.raises(ValidationError, match="which a changelog always has"):
        table.incremental_changelog_scan(selected_fields=("_change_type",))


def test_equal_rows_are_compared_by_all_columns(table, rows):
    begun = since(table)
    table.upsert(rows((2, "b", 9.0)))
    narrow = changes(table, begun, selected_fields=("id",)).to_arrow()
    assert narrow.column_names == ["id", *CHANGE]
    assert narrow.column("id").to_pylist() == [2, 2]
    both = changes(table, begun, selected_fields=("value", "_pos"), row_filter="value = 9.0").to_arrow().to_pylist()
    assert [(row["value"], row["_change_type"]) for row in both] == [(9.0, "INSERT")]


def test_net_changes_omit_rows_that_cancel(table, rows, mode):
    begun = since(table)
    table.append(rows((7, "a", None), (8, "a", None)))
    table.delete("id in (7, 1)")
    table.append(rows((1, "a", 0.5)))
    # Copy-on-write rewrites row 8 when it deletes row 7, so the second snapshot wrote row 8 last.
    writer = 1 if mode["write.delete.mode"] == "copy-on-write" else 0
    assert change_tuples(changes(table, begun, net_changes=True)) == [(writer, "INSERT", 8)]
    assert len(change_tuples(changes(table, begun))) == 5
    narrow = changes(table, begun, net_changes=True, selected_fields=("id",))
    assert narrow.to_arrow().column("id").to_pylist() == [8]


def test_net_changes_of_equal_rows_have_the_first_snapshot(table, rows):
    begun = since(table)
    table.append(rows((7, "a", None)))
    table.append(rows((7, "a", None), (8, "a", None)))
    assert change_tuples(changes(table, begun, net_changes=True)) == [
        (0, "INSERT", 7),
        (0, "INSERT", 7),
        (1, "INSERT", 8),
    ]


def test_changelog_reports_each_of_several_equal_rows(catalog, mode):
    schema = pa.schema(
        [("id", pa.int64()), ("s", pa.struct([("l", pa.list_(pa.int64()))])), ("m", pa.map_("string", "double"))]
    )
    table = catalog.create_table("db.bag", schema, properties=mode)
    row = {"id": 1, "s": {"l": [1, None]}, "m": [("k", 1.5)]}
    other = {"id": 2, "s": None, "m": None}
    table.append(pa.Table.from_pylist([row, row, row, other], schema=schema))
    begun = since(table)
    table.overwrite(pa.Table.from_pylist([row, row, other], schema=schema))
    assert change_tuples(changes(table, begun)) == [(0, "DELETE", 1)]
    assert change_tuples(changes(table, begun, net_changes=True)) == [(0, "DELETE", 1)]


def test_compaction_has_no_changes(table, rows):
    table.append(rows((7, "a", None)))
    found = json.loads(table.metadata.model_dump_json())
    found["snapshots"][1]["summary"]["operation"] = "replace"
    table.metadata = TableMetadataUtil.parse_obj(found)
    first, _, third = (one.snapshot_id for one in table.snapshots())
    changed = table.incremental_changelog_scan().to_arrow()
    assert changed.column("id").to_pylist() == [1, 2, 3, 7]
    assert changed.column("_change_ordinal").to_pylist() == [0, 0, 0, 1]
    assert changed.column("_commit_snapshot_id").to_pylist() == [first, first, first, third]


def test_changelog_counts_and_limits_rows(table, rows):
    begun = since(table)
    table.append(rows((7, "a", None), (8, "a", None)))
    table.delete("id in (7, 1)")
    table.upsert(rows((2, "b", 9.0)))
    scan = changes(table, begun)
    assert scan.count() == scan.to_arrow().num_rows == 6
    assert changes(table, begun, limit=3).count() == changes(table, begun, limit=3).to_arrow().num_rows == 3
    assert scan.filter("id = 7").count() == 2
    assert changes(table, begun, net_changes=True).count() == 4
    kinds = {(task.change_type, task.change_ordinal) for task in scan.plan_files()}
    assert {("INSERT", 0), ("DELETE", 1), ("INSERT", 2), ("DELETE", 2)} <= kinds
    assert scan.to_polars().height == 6
    assert pa.table(scan).num_rows == 6
    assert sum(batch.num_rows for batch in scan.to_arrow_batch_reader()) == 6


def test_change_groups_pickle_and_read_changed_rows(new_table):
    table = new_table(properties={"write.delete.mode": "merge-on-read"})
    begun = since(table)
    table.delete("id in (1, 5)")
    table.delete("id = 3")
    tasks = pickle.loads(pickle.dumps(list(changes(table, begun).plan_files())))
    # The second delete file repeats the position of the first one, which it replaces: no row comes back.
    read = [
        (one.change_ordinal, one.change_type, found)
        for one in tasks
        for found in one.task.read().read_all().column("id").to_pylist()
    ]
    assert sorted(read) == [(0, "DELETE", 1), (0, "DELETE", 5), (1, "DELETE", 3)]
    groups = pickle.loads(pickle.dumps(list(changes(table, begun).plan_tasks())))
    assert sum(batch.num_rows for group in groups for batch in group.read()) == 3


def test_changelog_refuses_invalid_columns(table, rows, catalog):
    with pytest.raises(ValidationError, match="nothing"):
        table.incremental_changelog_scan(identifier_columns=("nothing",)).to_arrow()
    with pytest.raises(ValidationError, match="expected a list or tuple of names"):
        table.incremental_changelog_scan(identifier_columns="id")
    plain = catalog.create_table("db.plain", pa.schema([("id", pa.int64())]))
    with pytest.raises(ValidationError, match="no identifier fields"):
        plain.incremental_changelog_scan(compute_updates=True).to_arrow()
    begun = since(table)
    table.overwrite(rows((2, "b", 9.0), (2, "b", 10.0)), "id = 2")
    with pytest.raises(ValidationError, match="identifier columns"):
        changes(table, begun, compute_updates=True).to_arrow()
    own = catalog.create_table("db.own", pa.schema([("_change_type", pa.int64())]))
    with pytest.raises(ValidationError, match="_change_type is a column of this table"):
        own.incremental_changelog_scan().to_arrow()


def test_changelog_refuses_the_deleted_column(table):
    scan = table.incremental_changelog_scan(selected_fields=("id", "_deleted"))
    for read in (scan.to_arrow, scan.count):
        with pytest.raises(ValidationError, match="_change_type"):
            read()


def test_updates_are_found_by_an_identifier_column_whose_name_has_a_dot(catalog):
    fields = (NestedField(1, "order.id", LongType(), required=True), NestedField(2, "n", LongType()))
    deep = NestedField(3, "deep", StructType(NestedField(4, "a.b", LongType(), required=True)), required=True)
    schema = Schema(*fields, deep, identifier_field_ids=[1, 4])
    table = catalog.create_table("db.dots", schema)

    def rows(n):
        return pa.Table.from_pylist([{"order.id": 1, "n": n, "deep": {"a.b": 2}}], schema=schema.as_arrow())

    table.append(rows(5))
    begun = since(table)
    table.overwrite(rows(6))
    found = changes(table, begun, compute_updates=True).to_arrow()
    assert found.column("_change_type").to_pylist() == ["UPDATE_BEFORE", "UPDATE_AFTER"]
    assert found.column("n").to_pylist() == [5, 6]
