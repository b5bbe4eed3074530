"""What a statement of a random program leaves in each engine, in a form that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from tests.property.typed_program import Statement, TypedProgram

SEVERAL_MATCHES = "several source rows match one row of the target"
JAVA_ALONE = "Java alone"
ARITHMETIC = "a value is out of range"
KEY_OUT_OF_RANGE = "a key of the join is out of range"
"""As ARITHMETIC, for a value that a join needs of every source row."""
_SEVERAL_WORDS = ("MERGE_CARDINALITY_VIOLATION", "everal source rows")
_ARITHMETIC_WORDS = (
    "OVERFLOW",
    "overflow",
    "OUT_OF_RANGE",
    "out of range",
    "does not fit",
    "CAST_INVALID",
    "cannot be cast",
    "not in range",
)


class Engine(Protocol):
    """A table of one engine."""

    def apply(self, statement: Statement) -> str | None:
        """Apply a statement, and return why it is refused."""

    def rows(self) -> Counter[tuple[Any, ...]]:
        """Return the rows of the table."""


@dataclass(frozen=True)
class Outcome:
    """Why a statement was refused, None if it was not, and the rows after it."""

    refused: str | None
    rows: Counter[tuple[Any, ...]]


def refusal(error: Exception) -> str:
    """Return why an engine refused a statement."""
    text = str(error)
    if any(word in text for word in _SEVERAL_WORDS):
        return SEVERAL_MATCHES
    if any(word in text for word in _ARITHMETIC_WORDS):
        return ARITHMETIC
    first, *others = text.splitlines() or [""]
    causes = (line.strip()[:300] for line in others if line.strip().startswith((": ", "Caused by")))
    return "; ".join([first[:500], *causes])


def disagreement(program: TypedProgram, engines: Mapping[str, Engine]) -> tuple[str, int, dict[str, Outcome]] | None:
    """Run a program in several engines until a statement is refused.

    Returns:
        The first difference with the number of its statement and the outcomes; None if the engines agree.
    """
    for number, statement in enumerate([None, *program.statements]):
        refusals = {name: None if statement is None else engine.apply(statement) for name, engine in engines.items()}
        outcomes = {name: Outcome(refusals[name], engine.rows()) for name, engine in engines.items()}
        wrong = difference(outcomes)
        if wrong is not None:
            return fault_of_java(statement, outcomes) or wrong, number, outcomes
        if any(refusals.values()):
            break
    return None


def difference(outcomes: Mapping[str, Outcome]) -> str | None:
    """Return how outcomes differ.

    Three differences are none. DuckDB may evaluate a value that no row needs, and refuse; keys of a join are needed of every source row. Spark may evaluate more or fewer values than the
    text's order needs. Spark refuses several matches of a row also where at most one of them changes the row, which the SQL standard and
    icefloe accept.
    """
    compared = {name: _as_arithmetic(one) for name, one in outcomes.items()}
    model, java, is_certain = compared["duckdb"], outcomes.get("java"), outcomes["duckdb"].refused == KEY_OUT_OF_RANGE
    if not is_certain and model.refused == ARITHMETIC and any(one.refused != ARITHMETIC for one in outcomes.values()):
        del compared["duckdb"]
    if java is not None and java.refused == SEVERAL_MATCHES and model.refused in (None, ARITHMETIC):
        del compared["java"]
    if java is not None and (java.refused == ARITHMETIC) != (compared.get("icefloe", model).refused == ARITHMETIC):
        del compared["java"]
    first = next(iter(compared), "")
    for name, outcome in compared.items():
        if outcome.refused != compared[first].refused:
            return f"{first} and {name} differ in refusals"
        if outcome.rows != compared[first].rows:
            return f"{first} and {name} differ in rows"
    return None


def _as_arithmetic(outcome: Outcome) -> Outcome:
    return replace(outcome, refused=ARITHMETIC) if outcome.refused == KEY_OUT_OF_RANGE else outcome


def fault_of_java(statement: Statement | None, outcomes: Mapping[str, Outcome]) -> str | None:
    """Return a known fault of the Java reference on Spark 4.1 that a difference is due to, where the other engines agree.

    A copy-on-write delete by a condition with BETWEEN may fail as Spark or Iceberg plans it. A copy-on-write merge without clauses of matched rows, but
    with one of rows that the source does not match, repeats a row of the target for each source row that matches it. A delete of whole files
    by NOT LIKE 'a%' deletes nulls.
    """
    java = outcomes.get("java")
    others = {name: one for name, one in outcomes.items() if name != "java"}
    if java is None or statement is None or difference(others) is not None:
        return None
    marks = ("_common_expr_", "ATTRIBUTE_NOT_FOUND", "AssertionError")
    if java.refused is not None and any(mark in java.refused for mark in marks):
        return f"{JAVA_ALONE}: BETWEEN"
    rows = outcomes["duckdb"].rows
    is_repeated = java.rows.keys() == rows.keys() and java.rows >= rows
    if statement.kind == "merge" and is_repeated and all(one.match != "matched" for one in statement.clauses):
        return f"{JAVA_ALONE}: repeated rows"
    if statement.kind == "delete" and "not like" in statement.condition and java.rows <= rows:
        return f"{JAVA_ALONE}: deleted nulls"
    return None


def counted(rows: Iterable[Mapping[str, Any]]) -> Counter[tuple[Any, ...]]:
    """Return rows as comparable values: NaN equals NaN, and zeros have no sign: DuckDB updates 0.0 to -0.0 in no row."""
    return Counter(tuple(_comparable(value) for value in row.values()) for row in rows)


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(_comparable(one) for one in value.values())
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, float) and value == 0.0:
        return "0.0"
    return value if isinstance(value, (str, int, type(None))) else repr(value)
