"""MERGE WITH SCHEMA EVOLUTION: columns of the source and the rows are one commit, or none."""

from __future__ import annotations

import pytest
from icefloe.exceptions import CommitFailedException, FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.spark.dml.join import MergeSource

ALL = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


@pytest.fixture
def table(lake, name):
    """Return a function that loads the table of `name`."""
    return lambda: lake.catalog.load_table(name.removeprefix("lake."))


def evolve(sql, name, source, clauses=ALL):
    return sql(f"MERGE WITH SCHEMA EVOLUTION INTO {name} t USING ({source}) s ON t.id = s.id {clauses}")


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_new_columns_and_rows_are_one_commit(sql, name, table, mode):
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.merge.mode' = '{mode}')")
    before = table()
    changed = evolve(sql, name, "SELECT 1L id, 'q' name, 7 extra UNION ALL SELECT 9L, 'n', 8")
    assert changed == [(1, 0, 1)]
    assert sql(f"SELECT id, name, extra FROM {name} ORDER BY id") == [
        (1, "q", 7),
        (2, "b", None),
        (3, None, None),
        (9, "n", 8),
    ]
    after = table()
    assert len(after.metadata.metadata_log) == len(before.metadata.metadata_log) + 1
    assert after.schema().find_field("extra").required is False
    assert after.current_snapshot().schema_id == after.schema().schema_id


def test_the_catalog_of_spark_has_the_new_columns(spark, sql, lake, name):
    evolve(sql, name, "SELECT 1L id, 'q' name, 7 extra")
    shown = lake.tables()[name.removeprefix("lake.")]
    assert sorted(spark.sql(f"SELECT id, extra FROM {shown}").collect()) == [(1, 7), (2, None), (3, None)]


def test_a_merge_without_a_changed_row_adds_the_columns(sql, name, table):
    evolve(sql, name, "SELECT 77L id, 'q' name, 7 extra", "WHEN MATCHED THEN UPDATE SET *")
    assert table().schema().column_names == ["id", "name", "extra"]
    assert len(table().snapshots()) == 1


def test_columns_that_the_source_lacks_keep_their_values(sql, name):
    evolve(sql, name, "SELECT 1L id, 7 extra UNION ALL SELECT 9L, 8")
    assert sql(f"SELECT * FROM {name} WHERE extra > 0 ORDER BY id") == [(1, "a", 7), (9, None, 8)]


def test_narrower_types_are_stored_in_the_types_of_the_table(sql, name):
    evolve(sql, name, "SELECT 1 id, 'q' name, CAST(5 AS SMALLINT) extra")
    assert sql(f"SELECT * FROM {name} WHERE id = 1") == [(1, "q", 5)]
    assert sql(f"DESCRIBE {name}") == [("id", "bigint", None), ("name", "string", None), ("extra", "int", None)]


def test_a_branch_gets_the_rows_and_the_table_the_columns(sql, name):
    sql(f"ALTER TABLE {name} CREATE BRANCH side")
    evolve(sql, f"{name}.branch_side", "SELECT 1L id, 'q' name, 7 extra")
    assert sql(f"SELECT * FROM {name}.branch_side WHERE id = 1") == [(1, "q", 7)]
    assert sql(f"SELECT * FROM {name} WHERE id = 1") == [(1, "a", None)]


FAILING = {
    "SELECT 1L id, 'q' name, 7 extra UNION ALL SELECT 1L, 'r', 8": (ValidationError, "several source rows"),
    "SELECT 1L id, 5 name": (SchemaMismatchError, "types that the table's can be widened to"),
    "SELECT 1L id, 'q' name, NULL extra": (FeatureUnsupportedError, "type void"),
    "SELECT id, 'q' name, 7 extra, int(raise_error('wrong')) AS z FROM VALUES (1L) v(id)": (Exception, "wrong"),
}


@pytest.mark.parametrize("source", FAILING)
def test_a_merge_that_fails_leaves_schema_and_rows(sql, name, table, source):
    before = table().metadata_location
    kind, message = FAILING[source]
    with pytest.raises(kind, match=message):
        evolve(sql, name, source)
    assert table().metadata_location == before


def test_a_concurrent_change_of_the_schema_fails_the_merge(sql, name, table, monkeypatch):
    enter = MergeSource.__enter__

    def change_first(source):
        with table().update_schema() as update:
            update.add_column("other", "string")
        return enter(source)

    monkeypatch.setattr(MergeSource, "__enter__", change_first)
    with pytest.raises(CommitFailedException):
        evolve(sql, name, "SELECT 1L id, 'q' name, 7 extra")
    monkeypatch.undo()
    assert table().schema().column_names == ["id", "name", "other"]
    assert sql(f"SELECT name FROM {name} WHERE id = 1") == [("a",)]


def test_a_concurrent_append_is_kept(sql, name, table, monkeypatch):
    enter = MergeSource.__enter__

    def append_first(source):
        table().append(table().scan().to_arrow().slice(0, 1).set_column(0, "id", [[50]]))
        return enter(source)

    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.merge.isolation-level' = 'snapshot')")
    monkeypatch.setattr(MergeSource, "__enter__", append_first)
    evolve(sql, name, "SELECT 1L id, 'q' name, 7 extra")
    monkeypatch.undo()
    assert sql(f"SELECT id, extra FROM {name} ORDER BY id") == [(1, 7), (2, None), (3, None), (50, None)]


def test_the_property_of_the_table_turns_evolution_off(sql, name):
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('write.spark.auto-schema-evolution.enabled' = 'false')")
    evolve(sql, name, "SELECT 1L id, 'q' name, 7 extra")
    assert sql(f"SELECT * FROM {name} WHERE id = 1") == [(1, "q")]
