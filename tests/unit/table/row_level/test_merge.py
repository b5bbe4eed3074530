import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError


def test_merge_updates_deletes_and_inserts_in_one_snapshot(new_table, rows, content, mode, spec):
    table = new_table(spec, mode)
    source = rows((1, "new", 9.0), (2, "drop", None), (7, "ins", 7.0))
    merge = table.merge(source, on=["id"])
    merge.when_matched_delete("source.kind == 'drop'").when_matched_update().when_not_matched_insert()
    result = merge.execute()
    assert (result.rows_updated, result.rows_deleted, result.rows_inserted) == (1, 1, 1)
    assert content(table) == {
        (1, "new", 9.0),
        (3, None, 1.5),
        (4, "a", 2.0),
        (5, "b", 2.5),
        (6, None, None),
        (7, "ins", 7.0),
    }
    assert len(table.snapshots()) == 3


def test_merge_applies_the_first_clause_whose_condition_is_true(new_table, rows, content, mode):
    table = new_table(properties=mode)
    merge = table.merge(rows((1, "x", 1.0), (4, "x", 1.0), (5, "x", 1.0)), on=["id"])
    merge.when_matched_update({"kind": "'first'"}, condition=pc.field("target.id") < 4)
    merge.when_matched_delete(condition=pc.field("target.value") > 2.2)
    merge.when_matched_update({"kind": pc.scalar("last")})
    merge.execute()
    assert {row for row in content(table) if row[0] in (1, 4, 5)} == {(1, "first", 0.5), (4, "last", 2.0)}


def test_merge_accepts_columns_expressions_and_literals_as_values(new_table, rows, content, mode):
    table = new_table(properties=mode)
    merge = table.merge(rows((1, "src", 10.0)), on=["id"])
    merge.when_matched_update({"kind": "source.kind", "value": pc.field("source.value") + pc.field("target.value")})
    merge.execute()
    assert (1, "src", 10.5) in content(table)


def test_merge_insert_leaves_other_columns_null(new_table, rows, content):
    table = new_table()
    table.merge(rows((7, "x", 1.0)), on=["id"]).when_not_matched_insert(
        {"id": "source.id", "kind": "'fixed'"}
    ).execute()
    assert (7, "fixed", None) in content(table)


def test_merge_changes_rows_not_matched_by_source(new_table, rows, content, mode):
    table = new_table(properties=mode)
    merge = table.merge(rows((1, "x", 1.0)), on=["id"])
    merge.when_not_matched_by_source_delete("target.id > 4").when_not_matched_by_source_update({"kind": "'old'"})
    result = merge.execute()
    assert (result.rows_updated, result.rows_deleted) == (3, 2)
    assert content(table) == {(1, "a", 0.5), (2, "old", None), (3, "old", 1.5), (4, "old", 2.0)}


def test_merge_condition_that_is_null_does_not_apply(new_table, rows, content):
    table = new_table()
    merge = table.merge(rows((2, "x", 1.0), (5, "x", 1.0)), on=["id"])
    merge.when_matched_delete("target.value > 0").execute()
    assert {row[0] for row in content(table)} == {1, 2, 3, 4, 6}


def test_merge_refuses_two_source_rows_for_one_target_row(new_table, rows):
    table = new_table()
    with pytest.raises(ValidationError, match=r"several source rows change the target row with keys .*'id': 1"):
        table.merge(rows((1, "x", 1.0), (1, "y", 1.0)), on=["id"]).when_matched_update().execute()
    assert len(table.snapshots()) == 2


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_merge_that_deletes_all_matches_accepts_two_source_rows_for_one_target_row(new_table, rows, content, mode):
    table = new_table(properties={"write.merge.mode": mode})
    merge = table.merge(rows((1, "x", 1.0), (1, "y", 1.0), (7, "z", 1.0)), on=["id"])
    result = merge.when_matched_delete().when_not_matched_insert().execute()
    assert (result.rows_deleted, result.rows_inserted) == (1, 1)
    assert {row[0] for row in content(table)} == {2, 3, 4, 5, 6, 7}
    merge = table.merge(rows((2, "x", 1.0), (2, "y", 1.0)), on=["id"])
    with pytest.raises(ValidationError, match="several source rows"):
        merge.when_matched_delete("source.value > 0").execute()


def test_merge_of_rows_that_the_source_misses_keeps_a_row_that_two_source_rows_match(new_table, rows, content, mode):
    """The Java reference on Spark 4.1 repeats such a row with copy-on-write."""
    table = new_table(properties=mode)
    merge = table.merge(rows((1, "x", 1.0), (1, "y", 1.0), (7, "z", 1.0)), on=["id"])
    merge.when_not_matched_insert().when_not_matched_by_source_update({"kind": "'old'"}, "target.id < 3").execute()
    assert table.scan().count() == 7
    assert {row for row in content(table) if row[0] < 3} == {(1, "a", 0.5), (2, "old", None)}


def test_merge_inserts_every_equal_source_row(new_table, rows):
    table = new_table()
    result = table.merge(rows((7, "x", 1.0), (7, "y", 1.0)), on=["id"]).when_not_matched_insert().execute()
    assert result.rows_inserted == 2


def test_merge_keys_that_are_null_match_nothing(new_table, content):
    table = new_table()
    source = pa.table({"kind": pa.array([None, "zz"], pa.string()), "id": [70, 71], "value": [0.0, 0.0]})
    result = table.merge(source, on=["kind"]).when_matched_delete().when_not_matched_insert().execute()
    assert (result.rows_deleted, result.rows_inserted) == (0, 2)


def test_merge_joins_on_several_keys(new_table, rows, content):
    table = new_table()
    merge = table.merge(rows((1, "a", 5.0), (2, "a", 5.0)), on=["id", "kind"])
    result = merge.when_matched_update().execute()
    assert result.rows_updated == 1
    assert (1, "a", 5.0) in content(table)


def test_merge_without_changes_makes_no_snapshot(new_table, rows):
    table = new_table()
    table.merge(rows((70, "x", 1.0)), on=["id"]).when_matched_update().execute()
    assert len(table.snapshots()) == 2


def test_merge_into_an_empty_table_inserts(catalog, rows):
    table = catalog.create_table(
        "db.empty", pa.schema([("id", pa.int64()), ("kind", pa.string()), ("value", pa.float64())])
    )
    result = table.merge(rows((1, "x", 1.0)), on=["id"]).when_matched_update().when_not_matched_insert().execute()
    assert result.rows_inserted == 1
    assert table.scan().count() == 1


def test_merge_of_no_rows_changes_nothing(new_table, rows):
    table = new_table()
    result = table.merge(rows(), on=["id"]).when_matched_update().when_not_matched_insert().execute()
    assert (result.rows_updated, result.rows_deleted, result.rows_inserted) == (0, 0, 0)


def test_merge_reads_no_files_outside_the_key_range(new_table, rows):
    table = new_table(properties={"write.merge.mode": "merge-on-read"})
    file_path = table.scan("id > 3").plan().files.column("file_path")[0].as_py()
    table.io.core.delete(file_path)
    assert table.merge(rows((1, "x", 1.0)), on=["id"]).when_matched_update().execute().rows_updated == 1


def test_merge_error_names_a_missing_key(new_table, rows):
    with pytest.raises(ResolveError, match="'nokey'"):
        new_table().merge(rows((1, "x", 1.0)), on=["nokey"]).when_matched_delete().execute()


def test_merge_refuses_a_value_that_does_not_fit(new_table, rows):
    table = new_table()
    with pytest.raises(SchemaMismatchError, match="'value'"):
        table.merge(rows((1, "x", 1.0)), on=["id"]).when_matched_update({"value": "'text'"}).execute()
    assert len(table.snapshots()) == 2


def test_merge_refuses_missing_clauses(new_table, rows):
    with pytest.raises(ValidationError, match="no clause"):
        new_table().merge(rows((1, "x", 1.0)), on=["id"]).execute()


def test_upsert_counts_rows_that_differ(new_table, rows, content, mode):
    table = new_table(properties=mode)
    result = table.upsert(rows((1, "a", 0.5), (2, "b", None), (3, "new", 1.5), (7, "x", None)))
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    assert (3, "new", 1.5) in content(table)
    assert len(table.snapshots()) == 3
    assert table.upsert(rows((1, "a", 0.5))).rows_updated == 0
    assert len(table.snapshots()) == 3


def test_upsert_refuses_repeated_keys(new_table, rows):
    with pytest.raises(ValidationError, match="several rows have the key"):
        new_table().upsert(rows((1, "a", 0.5), (1, "b", 0.5)))


@pytest.mark.parametrize("keys", [["ID"], ["id"], None])
def test_upsert_ignores_case_on_request(new_table, rows, content, mode, keys):
    table = new_table(properties=mode)
    shouted = rows((1, "new", 0.5), (7, "x", None)).rename_columns(["Id", "KIND", "value"])
    result = table.upsert(shouted, join_cols=keys, case_sensitive=False)
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    assert {(1, "new", 0.5), (7, "x", None)} <= content(table)
    with pytest.raises(ValidationError, match="no key column"):
        table.upsert(shouted, join_cols=["id"])


def test_upsert_refuses_ambiguous_names(catalog):
    table = catalog.create_table("db.cases", pa.schema([("id", pa.int64()), ("a", pa.int64()), ("A", pa.int64())]))
    data = pa.table({"id": [1], "a": [1], "A": [2]})
    with pytest.raises(ValidationError, match=r"'a' is ambiguous.* got a, A"):
        table.upsert(data, ["id"], case_sensitive=False)
    assert table.upsert(data, ["id"]).rows_inserted == 1


def test_upsert_refuses_data_with_ambiguous_names(new_table, rows):
    data = rows((1, "a", 0.5)).append_column("KIND", pa.array(["b"]))
    with pytest.raises(ValidationError, match="several columns kind"):
        new_table().upsert(data, case_sensitive=False)


def test_upsert_refuses_missing_keys(catalog, rows):
    table = catalog.create_table("db.u", pa.schema([("id", pa.int64())]))
    with pytest.raises(ValidationError, match="join_cols"):
        table.upsert(pa.table({"id": [1]}))
