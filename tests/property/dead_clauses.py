"""Clauses of random merges that no row can reach, which a merge in Python refuses and other engines run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import duckdb

from tests.property.typed_sql import in_duckdb

DEAD = "the clause can never apply"
_COLUMN = re.compile(r"\b(source|target)\.", re.IGNORECASE)


def has_dead_clause(clauses: Sequence[Any]) -> bool:
    """Return whether a condition that reads no column is never true, or is always true before another clause of the same rows."""
    covered: set[str] = set()
    for clause in clauses:
        applies = clause.condition is None or _constant(clause.condition)
        if clause.match in covered or applies is False:
            return True
        if applies is True:
            covered.add(clause.match)
    return False


def reading_rows(clause: Any) -> Any:
    """Return a clause of the same meaning whose condition, if it has one, reads a column."""
    if clause.condition is None:
        return clause
    name = f"{'source' if clause.match == 'not_matched' else 'target'}.id"
    return replace(clause, condition=f"({clause.condition}) and ({name} is null or {name} is not null)")


def _constant(condition: str) -> bool | None:
    """Return whether DuckDB finds a condition true; None for one that reads columns, or that fails."""
    if _COLUMN.search(condition):
        return None
    with duckdb.connect() as connection:
        try:
            found = connection.execute(f"set timezone = 'UTC'; select ({in_duckdb(condition)})").fetchone()
        except (duckdb.OutOfRangeException, duckdb.ConversionException):
            return None
    assert found is not None
    return found[0] is True
