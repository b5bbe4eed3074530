"""A merge refuses clauses that no row can reach, before it reads a row of the table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysFalse, AlwaysTrue, IsNull

DEAD = "the clause can never apply"
SOURCE = pa.table({"id": [1, 5], "n": [9, 9]})
NEVER = [
    "false",
    "(null)",
    "1 = 0",
    "null and 1 = 1",
    "'a' in ('b', null)",
    "case when true then false end",
    "coalesce(null, false)",
    "1 = 0 and 1 / 0 = 1",
    AlwaysFalse(),
    pc.scalar(False),
    pc.scalar(None),
    pc.scalar(pa.scalar(None, pa.bool_())),
]
ALWAYS = ["true", "1 = 1", "not false or null", AlwaysTrue(), pc.scalar(True)]
DEPENDS = ["source.n = 77 and false", "target.n is null", IsNull("target.n"), pc.field("source.n") == 77]


@pytest.fixture
def table(catalog):
    table = catalog.create_table("db.dead", SOURCE.schema)
    table.append(pa.table({"id": [1, 2], "n": [1, 2]}))
    return table


@pytest.mark.parametrize(
    ("clause", "add"),
    [
        (r"1 \(when_matched_delete\)", lambda merge, never: merge.when_matched_delete(never)),
        (
            r"2 \(when_not_matched_insert\)",
            lambda merge, never: merge.when_matched_update_all().when_not_matched_insert_all(never),
        ),
        (
            r"1 \(when_not_matched_by_source_delete\)",
            lambda merge, never: merge.when_not_matched_by_source_delete(never),
        ),
    ],
    ids=["matched", "not matched", "not matched by source"],
)
@pytest.mark.parametrize("condition", NEVER, ids=str)
def test_merge_refuses_a_condition_that_is_never_true(table, condition, clause, add):
    before = table.metadata_location
    with pytest.raises(ValidationError, match=rf"merge, clause {clause}: {DEAD}; expected a condition"):
        add(table.merge(SOURCE, ["id"]), condition).execute()
    assert table.refresh().metadata_location == before


@pytest.mark.parametrize("condition", ALWAYS, ids=str)
def test_merge_refuses_a_clause_after_a_condition_that_is_always_true(table, condition):
    before = table.metadata_location
    merge = table.merge(SOURCE, ["id"]).when_matched_delete(condition)
    with pytest.raises(
        ValidationError, match=rf"merge, clause 2 \(when_matched_update\): {DEAD}; expected a condition"
    ):
        merge.when_matched_update_all("source.n > 3").execute()
    assert table.refresh().metadata_location == before
    merge = table.merge(SOURCE, ["id"]).when_matched_update_all(condition).when_not_matched_insert_all(condition)
    assert merge.execute().rows_inserted == 1


@pytest.mark.parametrize("condition", DEPENDS, ids=str)
def test_merge_accepts_a_condition_that_reads_columns_and_is_true_for_no_row(table, condition):
    merge = table.merge(SOURCE, ["id"]).when_matched_delete(condition).when_matched_update_all()
    assert merge.execute().rows_updated == 1


def test_merge_evaluates_a_constant_that_fails_for_rows_alone(table):
    table.merge(SOURCE.slice(0, 0), ["id"]).when_matched_delete("1 / 0 = 1").when_matched_update_all().execute()
    with pytest.raises(ValidationError, match="division by zero"):
        table.merge(SOURCE, ["id"]).when_matched_delete("1 / 0 = 1").execute()
