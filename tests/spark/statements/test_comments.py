"""COMMENT ON a table or namespace."""

from __future__ import annotations


def test_comment_on_table_sets_and_removes_the_property(sql, lake, name):
    sql(f"COMMENT ON TABLE {name} IS 'it''s small'")
    assert lake.catalog.load_table(name.removeprefix("lake.")).properties["comment"] == "it's small"
    sql(f"COMMENT ON TABLE {name} IS NULL")
    assert "comment" not in lake.catalog.load_table(name.removeprefix("lake.")).properties


def test_comment_on_namespace_sets_and_removes_the_property(sql, lake):
    sql("CREATE NAMESPACE lake.noted")
    sql("COMMENT ON SCHEMA lake.noted IS 'notes'")
    assert ("Comment", "notes") in sql("DESCRIBE NAMESPACE lake.noted")
    sql("COMMENT ON NAMESPACE lake.noted IS NULL")
    assert "comment" not in lake.catalog.load_namespace_properties("noted")
