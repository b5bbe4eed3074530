"""CREATE TABLE: the definition of a table of a query."""

from __future__ import annotations


def test_table_of_a_query_has_no_required_fields_at_any_depth(sql, lake):
    query = (
        "SELECT array(1, 2) AS numbers, named_struct('a', 1, 'b', array(map('k', 1))) AS pair, map('k', 1) AS counts"
    )
    sql(f"CREATE TABLE lake.db.no_required_fields AS {query}")
    sql(
        "INSERT INTO lake.db.no_required_fields VALUES (array(NULL), named_struct('a', NULL, 'b', array(map('k', NULL))), map('k', NULL))"
    )
    found = sql("SELECT numbers[0], pair.a, counts['k'] FROM lake.db.no_required_fields WHERE numbers[0] IS NULL")
    assert found == [(None, None, None)]
