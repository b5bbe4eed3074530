"""The source of MERGE: names of its columns, and all of its columns at once."""

from __future__ import annotations

import pytest
from icefloe.exceptions import SchemaMismatchError, ValidationError


def rows(sql, name):
    return sql(f"SELECT * FROM {name} ORDER BY id")


def test_merge_names_the_columns_of_its_source(sql, name):
    values = "(VALUES (1, 'x'), (4, 'y')) AS s (key, label)"
    clauses = (
        "WHEN MATCHED THEN UPDATE SET name = s.label WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.key, label)"
    )
    sql(f"MERGE INTO {name} AS t USING {values} ON t.id = s.key {clauses}")
    assert rows(sql, name) == [(1, "x"), (2, "b"), (3, None), (4, "y")]


def test_merge_stores_all_columns_as_spark_stores_them(sql, name):
    source = "(SELECT 1 AS id, 5 AS name UNION ALL SELECT 2.0BD, null UNION ALL SELECT 9, 7) AS s"
    clauses = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    sql(f"MERGE INTO {name} AS t USING {source} ON t.id = s.id {clauses}")
    assert rows(sql, name) == [(1, "5"), (2, None), (3, None), (9, "7")]
    sql(f"MERGE INTO {name} AS t USING (SELECT 1L AS id, null AS name) AS s ON t.id = s.id {clauses}")
    assert rows(sql, name)[0] == (1, None)
    with pytest.raises(SchemaMismatchError, match="got id: add the column"):
        sql(f"MERGE INTO {name} AS t USING (SELECT 1 AS id) AS s ON t.id = s.id {clauses}")


@pytest.mark.parametrize(
    "clauses",
    ["t.id = s.id WHEN MATCHED THEN UPDATE SET name = max(s.id)", "t.id = max(s.id) WHEN MATCHED THEN DELETE"],
)
def test_merge_refuses_aggregates(sql, name, clauses):
    with pytest.raises(ValidationError, match=r"expected an expression over one row, got an aggregate"):
        sql(f"MERGE INTO {name} AS t USING (SELECT 1L AS id) AS s ON {clauses}")
