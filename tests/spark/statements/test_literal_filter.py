"""Filters of conditions that are long chains."""

from __future__ import annotations

import pytest
import sqlglot
from icefloe.spark.statements.literal_filter import FilterBuilder
from icefloe.types import LongType

TERMS = 5_000


@pytest.mark.parametrize(("operator", "comparison"), [("or", "="), ("and", "<>")])
def test_filter_of_a_long_chain_is_a_shallow_tree(operator, comparison):
    text = f" {operator} ".join(f"id {comparison} {number}" for number in range(TERMS))
    where = sqlglot.parse_one(f"SELECT 1 FROM t WHERE {text}", dialect="spark").args["where"].this
    found = FilterBuilder(lambda tree: ("id", LongType()), {}).of(where)
    assert found.exact
    assert found.expression.size == TERMS
    assert found.expression.depth < 20


def test_filter_of_a_chain_with_an_unknown_operand_keeps_only_what_every_row_satisfies():
    def filter_of(condition):
        where = sqlglot.parse_one(f"SELECT 1 FROM t WHERE {condition}", dialect="spark").args["where"].this
        return FilterBuilder(lambda tree: ("id", LongType()) if tree.name == "id" else None, {}).of(where)

    found = filter_of("id = 1 and rand() < 0.5 and id = 2")
    assert not found.exact
    assert found.expression.size == 2
    assert filter_of("id = 1 or rand() < 0.5 or id = 2") is None
    assert filter_of("rand() < 0.5 and rand() > 0.1") is None
