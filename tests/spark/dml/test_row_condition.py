"""Conditions of DELETE and UPDATE that only Spark can evaluate, in both modes and on branches."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.table.row_level.merge import MergeResult
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def table(spark, new_table, request):
    frame = spark.range(20).selectExpr("id", "concat('n', id) AS name")
    modes = {"write__delete__mode": request.param, "write__update__mode": request.param}
    made = new_table(frame.schema, **modes, write__update__distribution_mode="none")
    icefloe.spark.write(frame, made)
    return made


def ids(table):
    return sorted(table.refresh().scan().to_arrow()["id"].to_pylist())


def test_delete_by_column_and_by_sql(spark, table):
    deleted = icefloe.spark.delete_from(table, F.col("id") % 4 == 0, spark=spark)
    assert deleted == MergeResult(0, 5, 0)
    assert icefloe.spark.delete_from(table, "length(name) = 2 AND id % 2 = 1", spark=spark).rows_deleted == 5
    assert ids(table) == [one for one in range(20) if one % 4 and not (one < 10 and one % 2)]
    assert icefloe.spark.delete_from(table, F.lit(None).cast("boolean"), spark=spark) == MergeResult(0, 0, 0)


def test_update_by_column_on_a_branch(spark, table):
    updated = icefloe.spark.update(table, {"name": "upper(name)"}, F.length("name") == 2, spark=spark, branch="audit")
    assert updated.rows_updated == 10
    rows = table.refresh().scan().use_ref("audit").to_arrow().to_pylist()
    assert sorted(row["id"] for row in rows if row["name"].startswith("N")) == list(range(10))
    assert not any(name.startswith("N") for name in table.scan().to_arrow()["name"].to_pylist())


@pytest.mark.parametrize(
    ("where", "error", "words"),
    [
        (lambda: "upper(nam) = 'A'", ResolveError, "delete, condition"),
        (lambda: F.col("nam") == 1, ResolveError, "delete, condition"),
        (lambda: F.col("id") + 1, ValidationError, "delete, condition"),
        (lambda: "id >>> 3 <", ValidationError, "id >>> 3 <"),
        (lambda: "max(id) > 1", ValidationError, "delete, condition .*: expected an expression over one row"),
        (lambda: "row_number() OVER (ORDER BY id) > 1", ValidationError, "delete, condition .*window functions"),
    ],
)
def test_wrong_conditions_change_nothing(spark, table, where, error, words):
    with pytest.raises(error, match=words):
        icefloe.spark.delete_from(table, where(), spark=spark)
    assert ids(table) == list(range(20))


def test_delete_refuses_a_condition_of_none(spark, table):
    with pytest.raises(ValidationError, match="delete: expected the condition of the rows to delete, got None"):
        icefloe.spark.delete_from(table, None, spark=spark)
    assert ids(table) == list(range(20))
    assert icefloe.spark.delete_from(table, "true", spark=spark).rows_deleted == 20


@pytest.mark.parametrize(
    ("values", "where"),
    [({"name": "max(name)"}, lambda: None), ({"name": "'x'"}, lambda: F.max("id") > 1)],
)
def test_update_refuses_aggregates(spark, table, values, where):
    with pytest.raises(ValidationError, match=r"update, .*: expected an expression over one row, got an aggregate"):
        icefloe.spark.update(table, values, where(), spark=spark)
    assert ids(table) == list(range(20))


@pytest.mark.parametrize("condition", [lambda: "rand() < 0.5", lambda: F.rand() < 2, lambda: F.col("id") < F.rand()])
def test_a_condition_that_changes_from_one_evaluation_to_the_next_is_refused(spark, table, condition):
    source = spark.range(5).withColumn("name", F.lit("x"))
    operations = (
        lambda: icefloe.spark.delete_from(table, condition(), spark=spark),
        lambda: icefloe.spark.update(table, {"name": "'x'"}, condition(), spark=spark),
    )
    if isinstance(condition(), str) or "id" not in str(condition()):
        merge = icefloe.spark.merge_into(table, source, ["id"])
        operations += (
            lambda: merge.when_matched_delete(condition()).execute(),
            lambda: icefloe.spark.merge_into(table, source, ["id"]).when_not_matched_insert_all(condition()).execute(),
        )
    for operation in operations:
        with pytest.raises(ValidationError, match=r"condition: the condition is not deterministic; expected .* got "):
            operation()
    assert ids(table) == list(range(20))


def test_merge_refuses_a_join_condition_that_changes_from_one_evaluation_to_the_next(spark, table):
    merge = icefloe.spark.merge_into(table, spark.range(5), "target.id = source.id AND rand() < 0.5")
    with pytest.raises(ValidationError, match=r"merge, on: the condition is not deterministic; expected .* got "):
        merge.when_matched_delete().execute()
    assert ids(table) == list(range(20))


def test_values_that_are_not_deterministic_and_conditions_by_functions_are_accepted(spark, table):
    def odd(name):
        return F.udf(lambda value: value % 2 == 1, "boolean")(F.col(name))

    assert icefloe.spark.update(table, {"name": F.uuid()}, odd("id"), spark=spark).rows_updated == 10
    merge = icefloe.spark.merge_into(table, spark.range(10), ["id"]).when_matched_delete(odd("target.id"))
    assert merge.execute().rows_deleted == 5
