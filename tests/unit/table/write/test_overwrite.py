import pyarrow as pa
import pytest
from icefloe.exceptions import SchemaMismatchError


def test_overwrite_replaces_everything_in_one_snapshot(new_table, rows, content):
    table = new_table()
    table.overwrite(rows((9, "z", 1.0)))
    assert content(table) == {(9, "z", 1.0)}
    assert len(table.snapshots()) == 3
    assert table.current_snapshot().summary["deleted-records"] == "6"


def test_overwrite_of_a_filter_keeps_the_other_rows_of_its_files(new_table, rows, content, spec):
    table = new_table(spec)
    table.overwrite(rows((9, "z", 1.0)), "id = 2 or id = 4")
    assert {row[0] for row in content(table)} == {1, 3, 5, 6, 9}
    assert len(table.snapshots()) == 3


def test_dynamic_overwrite_replaces_the_partitions_of_the_rows(catalog, new_table, rows, content):
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.transforms import IdentityTransform

    table = new_table(PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind")))
    table.dynamic_partition_overwrite(rows((7, "a", 7.0), (8, None, 8.0)))
    assert {row[0] for row in content(table)} == {2, 5, 7, 8}
    assert table.current_snapshot().summary["replace-partitions"] == "true"


def test_dynamic_overwrite_with_no_rows_commits_nothing(new_table, rows):
    table = new_table()
    table.dynamic_partition_overwrite(rows())
    assert len(table.snapshots()) == 2


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"id": ["x"], "kind": ["a"], "value": [1.0]}),
        pa.table({"id": [1], "kind": ["a"], "value": [1.0], "more": [1]}),
        pa.table({"kind": ["a"], "value": [1.0]}),
        pa.table({"id": pa.array([1, None], pa.int64()), "kind": ["a", "b"], "value": [1.0, 2.0]}),
    ],
    ids=["type", "extra column", "missing column", "null in required column"],
)
def test_mismatched_rows_change_nothing(new_table, content, data):
    table = new_table()
    before = content(table)
    for act in (table.append, table.overwrite, table.dynamic_partition_overwrite):
        with pytest.raises(SchemaMismatchError):
            act(data)
    assert content(table) == before
    assert len(table.snapshots()) == 2


def test_rows_come_from_anything_that_exports_arrow(new_table, rows):
    import pandas as pd
    import polars as pl

    table = new_table()
    data = rows((7, "x", 1.0))
    for form in (data, data.to_batches()[0], data.to_reader(), pl.from_arrow(data), data.to_pandas()):
        table.append(form)
    assert isinstance(data.to_pandas(), pd.DataFrame)
    assert table.scan("id = 7").count() == 5


def test_columns_are_matched_by_name(new_table, content):
    table = new_table()
    table.append(pa.table({"value": [1.0], "kind": ["x"], "id": [7]}))
    assert (7, "x", 1.0) in content(table)


# ---- operations, which streams and changelogs read


@pytest.mark.parametrize(("rows_of", "operation"), [([(9, "z", 1.0)], "overwrite"), ([], "delete")])
@pytest.mark.parametrize("where", ["true", "id <= 3", "id = 99"])
def test_operation_of_an_overwrite_is_independent_of_the_files_that_match(new_table, rows, where, rows_of, operation):
    table = new_table()
    table.overwrite(rows(*rows_of), where)
    assert table.current_snapshot().operation.value == operation


@pytest.mark.parametrize(("rows_of", "operation"), [([(9, "z", 1.0)], "overwrite"), ([], "delete")])
def test_overwrite_of_an_empty_table_has_the_operation_of_other_overwrites(new_table, rows, rows_of, operation):
    table = new_table()
    table.delete("true")
    table.overwrite(rows(*rows_of))
    assert table.current_snapshot().operation.value == operation
    assert table.current_snapshot().summary["changed-partition-count"] == str(len(rows_of))
