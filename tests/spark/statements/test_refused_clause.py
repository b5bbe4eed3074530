"""Clauses and statements of other databases are refused by their names, and the same words are names elsewhere."""

from __future__ import annotations

import re

import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.statements.refused_clause import check_clauses, check_insert_clauses

MERGE = "MERGE INTO {t} t USING (SELECT 1L id, 'x' name) s ON t.id = s.id "
REFUSED = {
    "UPDATE {t} SET name = 'x' FROM s WHERE s.id = 1": "UPDATE: FROM is not supported; expected MERGE INTO",
    "UPDATE {t} u JOIN s ON u.id = s.id SET name = 'x'": "UPDATE: JOIN is not supported; expected MERGE INTO",
    "UPDATE {t} SET name = 'x' WHERE id > 1 ORDER BY id LIMIT 1": "UPDATE: ORDER BY is not supported; expected a WHERE",
    "DELETE FROM {t} WHERE id < 3 LIMIT 2": "DELETE: LIMIT is not supported; expected a WHERE clause",
    "DELETE FROM {t} LIMIT 3": "DELETE: LIMIT is not supported",
    "DELETE FROM {t} AS x LIMIT 3": "DELETE: LIMIT is not supported",
    "DELETE FROM {t} USING": "DELETE: USING is not supported",
    "DELETE FROM {t} USING s WHERE s.id = 1": "DELETE: USING is not supported; expected WHERE with a subquery, or MERGE",
    "DELETE FROM {t} VERSION AS OF 'x'": "DELETE: VERSION AS OF is not supported; expected a table or a branch",
    "DELETE FROM {t} WHERE id = 1 RETURNING *": "DELETE: RETURNING is not supported",
    "TRUNCATE TABLE {t} PARTITION (id = 1)": "TRUNCATE TABLE: PARTITION is not supported; expected DELETE FROM",
    MERGE + "WHEN MATCHED THEN UPDATE SET name = s.name RETURNING *": "MERGE: RETURNING is not supported",
    MERGE + "WHEN MATCHED THEN DELETE RETURNING t.id": "MERGE: RETURNING is not supported",
    MERGE + "WHEN NOT MATCHED THEN INSERT * RETURNING *": "MERGE: RETURNING is not supported",
    MERGE + "WHEN MATCHED THEN DO NOTHING": "MERGE: DO NOTHING is not supported; expected UPDATE, DELETE or INSERT",
    MERGE + "WHEN NOT MATCHED THEN INSERT VALUES (1, 'a')": "MERGE: INSERT without columns is not Spark SQL",
    "INSERT INTO {t} AS x VALUES (1, 'a')": "INSERT: AS is not supported",
    "INSERT INTO {t} VALUES (1, 'a') ON CONFLICT (id) DO NOTHING": "INSERT: ON CONFLICT is not supported; expected MERGE",
    "INSERT INTO {t} SELECT 1, 'a' RETURNING id": "INSERT: RETURNING is not supported",
    "CREATE TABLE lake.db.wrong LIKE {t}": "CREATE TABLE: LIKE is not supported; expected CREATE TABLE ... AS SELECT",
    "CREATE TABLE own_table LIKE {t}": "CREATE TABLE: LIKE is not supported",
    "CREATE TABLE lake.db.wrong (id int PRIMARY KEY)": "CREATE TABLE: PRIMARY KEY is not supported; expected ALTER TABLE",
    "CREATE TABLE lake.db.wrong (id int, PRIMARY KEY (id))": "CREATE TABLE: PRIMARY KEY is not supported",
    "CREATE TABLE lake.db.wrong (id int CHECK (id > 0))": "CREATE TABLE: CHECK is not supported",
    "CREATE TABLE lake.db.wrong (id int, CONSTRAINT c FOREIGN KEY (id) REFERENCES o (id))": "FOREIGN KEY is not supported",
    "ALTER TABLE {t} ADD COLUMN x int UNIQUE": "UNIQUE is not supported",
    "MSCK REPAIR TABLE {t}": "MSCK REPAIR TABLE is not supported for attached tables; expected CALL lake.system.add_files",
    "LOAD DATA INPATH 'x' INTO TABLE {t}": "LOAD DATA is not supported for attached tables; expected CALL",
    "OPTIMIZE {t}": "expected CALL lake.system.rewrite_data_files",
    "VACUUM {t}": "expected CALL lake.system.expire_snapshots",
    "CREATE OR REPLACE TEMPORARY FUNCTION f() RETURNS BIGINT RETURN (SELECT max(id) FROM {t})": "and CREATE TEMPORARY",
    "SELEC 1 FROM {t}": "SQL: no statement of Spark SQL begins with 'SELEC'",
    "SELECT id a b FROM {t}": "SQL: the statement does not parse at 'b': ",
}


def test_clauses_are_refused_by_name(sql, name):
    wrong = {}
    for text, message in REFUSED.items():
        with pytest.raises((FeatureUnsupportedError, ValidationError)) as caught:
            sql(text.format(t=name))
        error = str(caught.value)
        if message not in error or "expected" not in error or re.search(r"Col:|at character|spark\.sql on", error):
            wrong[text] = error
    assert wrong == {}
    assert sql(f"SELECT count(*) FROM {name}") == [(3,)]


def test_words_of_clauses_are_names(sql):
    sql("CREATE TABLE lake.db.keywords (limit bigint, order bigint, primary int, check string)")
    sql(
        "INSERT INTO lake.db.keywords SELECT limit, limit AS returning, 1, 'a' FROM VALUES (1L), (2L), (3L) AS v(limit)"
    )
    sql("DELETE FROM lake.db.keywords limit WHERE limit.limit = 1 AND order > 0 AND limit IS DISTINCT FROM 5")
    sql(
        "UPDATE lake.db.keywords version SET order = limit * order, check = left('xyz', 1) WHERE order = 3 OR limit > 3"
    )
    assert sql("SELECT * FROM lake.db.keywords ORDER BY 1") == [(2, 2, 1, "a"), (3, 9, 1, "x")]
    sql("DROP TABLE lake.db.keywords")


@pytest.mark.parametrize(
    "text",
    [
        "a = limit, b = order",
        "a BETWEEN limit AND order",
        "a = CASE WHEN limit THEN order ELSE returning END",
        "a = (SELECT 1 FROM b ORDER BY c LIMIT 2)",
        "a IS NOT DISTINCT FROM `x` AND b = t.limit * from",
    ],
)
def test_conditions_with_such_names_have_no_refused_clause(text):
    check_clauses(text, "UPDATE")


def test_queries_with_such_names_have_no_refused_clause():
    check_insert_clauses("SELECT a returning FROM b JOIN c ON conflict = 1")
    check_insert_clauses("SELECT returning FROM b returning WHERE returning.x = 1")
    for clause in ("SORT BY a", "DISTRIBUTE BY a", "CLUSTER BY a", "OFFSET 1", "MINUS SELECT 1"):
        check_insert_clauses(f"SELECT a FROM b returning {clause}")
