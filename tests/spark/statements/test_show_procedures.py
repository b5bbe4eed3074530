"""SHOW PROCEDURES and DESCRIBE PROCEDURE of an attached catalog, and names of tables that CALL takes."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import ValidationError
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

COLUMNS = StructType(
    [
        StructField("catalog", StringType(), nullable=False),
        StructField("namespace", ArrayType(StringType(), containsNull=False)),
        StructField("schema", StringType()),
        StructField("procedure_name", StringType(), nullable=False),
    ]
)
SIGNATURE = "cherrypick_snapshot(table string, snapshot_id bigint) returns source_snapshot_id bigint, current_snapshot_id bigint"
CHERRYPICK = [
    ("Procedure:   cherrypick_snapshot",),
    (f"Description: {SIGNATURE}",),
]


@pytest.fixture
def in_db(sql):
    sql("USE lake.db")
    yield
    sql("USE spark_catalog")


def test_procedures_are_in_the_namespace_system(spark, sql, lake):
    rows = sql("SHOW PROCEDURES IN lake.system")
    assert len(rows) == 20
    assert rows[0] == ("lake", ["system"], "system", "add_files")
    assert sql("SHOW PROCEDURES FROM lake.System")[-1] == ("lake", ["System"], "System", "snapshot")
    assert icefloe.spark.sql(spark, "SHOW PROCEDURES IN lake.system").schema == COLUMNS


@pytest.mark.parametrize("place", ["lake", "lake.db", "lake.absent"])
def test_other_namespaces_have_no_procedures(spark, sql, lake, place):
    assert sql(f"SHOW PROCEDURES IN {place}") == []
    assert icefloe.spark.sql(spark, f"SHOW PROCEDURES IN {place}").schema == COLUMNS


def test_procedures_take_no_pattern(sql):
    with pytest.raises(ValidationError, match="expected the end of the statement, got 'LIKE'"):
        sql("SHOW PROCEDURES IN lake.system LIKE 'r*'")


@pytest.mark.parametrize("verb", ["DESCRIBE", "DESC"])
def test_description_has_the_parameters_and_the_columns(sql, verb):
    assert sql(f"{verb} PROCEDURE lake.system.cherrypick_snapshot") == CHERRYPICK
    assert sql(f"{verb} PROCEDURE lake.SYSTEM.Cherrypick_Snapshot") == CHERRYPICK


def test_description_has_optional_parameters_in_brackets(sql):
    (_, (described,)) = sql("DESCRIBE PROCEDURE lake.system.ancestors_of")
    assert described == (
        "Description: ancestors_of(table string, [snapshot_id bigint]) returns snapshot_id bigint, timestamp bigint"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lake.system.nope", "DESCRIBE PROCEDURE: expected one of add_files, .*, got nope"),
        ("lake.ancestors_of", "DESCRIBE PROCEDURE: expected lake.system.<procedure>, got lake.ancestors_of: SHOW"),
        ("lake.db.ancestors_of", "DESCRIBE PROCEDURE: expected lake.system.<procedure>, got lake.db.ancestors_of"),
    ],
)
def test_names_of_no_procedure_are_refused(sql, name, message):
    with pytest.raises(ValidationError, match=message):
        sql(f"DESCRIBE PROCEDURE {name}")


def test_names_are_relative_to_the_current_catalog(sql, in_db):
    assert sql("SHOW PROCEDURES") == []
    assert len(sql("SHOW PROCEDURES IN system")) == 20
    assert sql("DESCRIBE PROCEDURE system.cherrypick_snapshot") == CHERRYPICK


def test_a_table_may_be_called_procedure(sql, in_db):
    sql("CREATE OR REPLACE TABLE lake.db.procedure (id bigint)")
    described = [("id", "bigint", None)]
    for name in ("lake.db.procedure", "db.procedure", "procedure", "TABLE procedure"):
        assert sql(f"DESCRIBE {name}") == described
    sql("DROP TABLE lake.db.procedure")


def test_tables_of_call_are_relative_to_the_current_namespace(sql, name, in_db):
    table = name.rpartition(".")[2]
    relative = sql(f"CALL system.ancestors_of('{table}')")
    assert len(relative) == 1
    assert sql(f"CALL lake.system.ancestors_of(table => '{table}')") == relative
    assert sql(f"CALL lake.system.ancestors_of('db.{table}')") == relative
