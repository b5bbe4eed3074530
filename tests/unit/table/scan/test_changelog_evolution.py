"""Changes across schemas, partition specs and branches."""

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.transforms import BucketTransform
from icefloe.types import IntegerType

from tests.unit.table.scan.test_changelog import CHANGE, change_tuples, since


@pytest.fixture
def table(new_table, spec, mode):
    return new_table(spec, mode)


def later(*rows):
    names = ("id", "sort", "value", "more")
    columns = zip(*rows, strict=True)
    types = (pa.int64(), pa.string(), pa.float64(), pa.int32())
    return pa.table({name: pa.array(c, t) for name, c, t in zip(names, columns, types, strict=True)})


@pytest.fixture
def evolved(table):
    """A table with changes of rows before and after a change of its schema, and the snapshot that the changes begin after."""
    begun = table.current_snapshot().snapshot_id
    table.delete("id = 1")
    with table.update_schema() as update:
        update.rename_column("kind", "sort").add_column("more", IntegerType())
    table.append(later((7, "q", None, 7), (8, "a", None, None)))
    table.upsert(later((2, "b", 2.5, None), (9, "n", None, 1)))
    return table, begun


def test_changes_have_the_columns_of_the_current_schema(evolved):
    table, begun = evolved
    scan = table.incremental_changelog_scan(from_snapshot_id_exclusive=begun)
    rows = scan.to_arrow()
    assert rows.column_names == ["id", "sort", "value", "more", *CHANGE]
    expected = [
        (0, "DELETE", 1),
        (1, "INSERT", 7),
        (1, "INSERT", 8),
        (2, "DELETE", 2),
        (2, "INSERT", 2),
        (2, "INSERT", 9),
    ]
    assert change_tuples(scan) == expected
    assert change_tuples(scan.filter("more = 1 or sort = 'a'")) == [
        (0, "DELETE", 1),
        (1, "INSERT", 8),
        (2, "INSERT", 9),
    ]
    updates = table.incremental_changelog_scan(from_snapshot_id_exclusive=begun, identifier_columns=("id",))
    assert change_tuples(updates.filter("value > 2")) == [(2, "UPDATE_AFTER", 2)]


def test_rows_that_differ_only_in_a_dropped_column_are_equal(evolved):
    table, begun = evolved
    with table.update_schema() as update:
        update.delete_column("value")
    scan = table.incremental_changelog_scan(from_snapshot_id_exclusive=begun)
    assert change_tuples(scan) == [(0, "DELETE", 1), (1, "INSERT", 7), (1, "INSERT", 8), (2, "INSERT", 9)]


def test_rows_that_move_to_another_partition_spec_are_no_changes(table, rows):
    begun = since(table)
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(2), "half")
    table.upsert(rows((1, "a", 0.75), (6, None, None)))
    table.append(rows((7, "a", None)))
    table.delete("id in (2, 7)")
    scan = table.incremental_changelog_scan(from_snapshot_id_exclusive=begun.from_snapshot_id, compute_updates=True)
    found = change_tuples(scan)
    assert [one for one in found if one[2] != 6] == [
        (0, "UPDATE_AFTER", 1),
        (0, "UPDATE_BEFORE", 1),
        (1, "INSERT", 7),
        (2, "DELETE", 2),
        (2, "DELETE", 7),
    ]
    net = table.incremental_changelog_scan(from_snapshot_id_exclusive=begun.from_snapshot_id, net_changes=True)
    assert {(kind, key) for _, kind, key in change_tuples(net)} >= {("DELETE", 1), ("INSERT", 1), ("DELETE", 2)}


def test_changes_of_a_branch_are_those_of_its_ancestors(table, rows):
    begun = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_branch(begun, "dev").commit()
    table.append(rows((7, "a", None)))
    table.append(rows((8, "a", None)), branch="dev")
    table.append(rows((9, "a", None)), branch="dev")
    scan = table.incremental_changelog_scan(from_snapshot_id_exclusive=begun)
    assert change_tuples(scan) == [(0, "INSERT", 7)]
    assert change_tuples(scan.to_snapshot_id_inclusive("dev")) == [(0, "INSERT", 8), (1, "INSERT", 9)]
    assert change_tuples(scan.from_snapshot_id_inclusive("dev").to_snapshot_id_inclusive("dev")) == [(0, "INSERT", 9)]
    assert change_tuples(scan.from_snapshot_id_exclusive("main").to_snapshot_id_inclusive("main")) == []
    for options in ({"compute_updates": True}, {"net_changes": True}):
        empty = scan.from_snapshot_id_exclusive("main").update(**options)
        assert empty.to_arrow().schema == scan.to_arrow().schema
        assert empty.count() == 0
    for other in (
        scan.from_snapshot_id_exclusive("dev"),
        scan.to_snapshot_id_inclusive(begun).from_snapshot_id_exclusive("main"),
    ):
        with pytest.raises(ValidationError, match="is not an ancestor of"):
            other.to_arrow()
