"""Conditions of changes have the same value at each evaluation, or are refused."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark.dml.determinism import calls_function

MERGE = "MERGE INTO {t} AS t USING (SELECT 1L AS id, 'x' AS name) AS s ON t.id = s.id "
REFUSED = (
    "DELETE FROM {t} WHERE rand() < 2",
    "DELETE FROM {t} AS x WHERE x.id > 100 OR uuid() IS NOT NULL",
    "DELETE FROM {t} WHERE id IN (SELECT int(rand() * 0) + 1)",
    "DELETE FROM {t} WHERE EXISTS (SELECT 1 FROM {t} u WHERE rand() < 2)",
    "UPDATE {t} SET name = 'x' WHERE monotonically_increasing_id() >= 0",
    "WITH r AS (SELECT 1) UPDATE {t} SET name = 'x' WHERE rand(5) < 2",
    MERGE + "AND rand() < 2 WHEN MATCHED THEN DELETE",
    MERGE + "AND s.id > -rand() WHEN MATCHED THEN DELETE",
    MERGE + "WHEN MATCHED AND rand() < 2 THEN DELETE",
    MERGE + "WHEN NOT MATCHED AND rand() < 2 THEN INSERT *",
    MERGE + "WHEN NOT MATCHED BY SOURCE AND rand() < 2 THEN DELETE",
)


@pytest.mark.parametrize("statement", REFUSED)
def test_a_condition_that_changes_from_one_evaluation_to_the_next_is_refused(sql, name, statement):
    with pytest.raises(ValidationError, match=r"the condition is not deterministic; expected .* got .*\(\w*\)"):
        sql(statement.format(t=name))
    assert sql(f"SELECT * FROM {name} ORDER BY id") == [(1, "a"), (2, "b"), (3, None)]


def test_functions_of_one_value_and_times_are_accepted(sql, name):
    sql(f"DELETE FROM {name} WHERE current_timestamp() IS NOT NULL AND upper(name) = 'A'")
    sql(f"UPDATE {name} SET name = string(rand() < 2) WHERE id IN (SELECT max(id) FROM {name})")
    sql(f"DELETE FROM {name} t WHERE id = (SELECT min(u.id) FROM {name} u WHERE abs(u.id) = t.id) AND name = 'b'")
    assert sql(f"SELECT * FROM {name}") == [(3, "true")]


def test_words_before_parentheses_are_no_functions():
    assert not calls_function("a IN (1, 2) AND (b OR NOT (c)) AND EXISTS (SELECT x FROM (t))")
    assert calls_function("a < f(b)")
    assert calls_function("a < `f`(b)")
