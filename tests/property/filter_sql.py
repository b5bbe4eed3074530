"""Random filters in the SQL of Spark and DuckDB, and random rows to ask them of."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
from icefloe.schema import Schema
from icefloe.types import NestedField, StructType

from tests.property.random_filter import Leaf, Row, Tree
from tests.property.random_schema import PRIMITIVES, named, random_value

KINDS = ["int", "float", "double", "boolean", "decimal(9, 2)", "date", "timestamp", "timestamptz", "string", "binary"]
COLUMNS = [NestedField(number, f"c{number}", kind) for number, kind in enumerate(KINDS, 2)]
INSIDE = StructType(NestedField(21, "x", "int"), NestedField(22, "y", "double"))
SCHEMA = Schema(NestedField(1, "id", "long", required=True), *COLUMNS, NestedField(20, "p", INSIDE))
COMPARED = {
    "lt": "<",
    "lt-eq": "<=",
    "gt": ">",
    "gt-eq": ">=",
    "eq": "=",
    "not-eq": "!=",
    "in": "IN",
    "not-in": "NOT IN",
}


def random_rows(rng: Random, first: int, count: int) -> list[Row]:
    """Rows with ids of their own; of each column all values, some values and nulls, one value and nulls, or nulls alone."""
    shapes: dict[int, Any] = {}
    for column in COLUMNS:
        pool = PRIMITIVES[str(column.field_type)]
        shapes[column.field_id] = rng.choice([pool, rng.sample(pool, 2), [rng.choice(pool)], [None]])
    nulls = {column.field_id: rng.choice([0.0, 0.0, 0.3]) for column in COLUMNS}
    rows = []
    for row_id in range(first, first + count):
        row = {key: None if rng.random() < nulls[key] else rng.choice(pool) for key, pool in shapes.items()}
        rows.append({1: row_id, **row, 20: random_value(rng, INSIDE)})
    return rows


def arrow(rows: list[Row]) -> pa.Table:
    struct = StructType(*SCHEMA.fields)
    return pa.Table.from_pylist([named(row, struct) for row in rows], schema=SCHEMA.as_arrow())


def sql(part: Leaf | Tree, dialect: str) -> str:
    """A filter as SQL that means the same: NaN has an order in SQL, and none here."""
    if isinstance(part, Tree):
        inside = [f"({sql(each, dialect)})" for each in part.parts]
        return f"NOT {inside[0]}" if part.kind == "not" else f" {part.kind.upper()} ".join(inside)
    column = part.name
    match part.operator:
        case "is-null":
            return f"{column} IS NULL"
        case "not-null":
            return f"{column} IS NOT NULL"
        case "is-nan" | "not-nan":
            # DuckDB's is unknown of null.
            return f"{'NOT ' if part.operator == 'not-nan' else ''}coalesce(isnan({column}), false)"
        case "starts" | "not-starts":
            call = "starts_with" if dialect == "duckdb" else "startswith"
            return f"{'NOT ' if part.operator == 'not-starts' else ''}{call}({column}, {text(part.literal, dialect)})"
        case "in" | "not-in":
            values = ", ".join(sorted(text(each, dialect) for each in part.literal))
            return f"{column} {COMPARED[part.operator]} ({values})"
    if isinstance(part.literal, float) and part.operator not in {"eq", "not-eq"}:
        column = f"nullif({column}, CAST('NaN' AS DOUBLE))"
    return f"{column} {COMPARED[part.operator]} {text(part.literal, dialect)}"


def text(value: Any, dialect: str) -> str:
    """A literal."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"CAST('{str(value).replace('inf', 'Infinity')}' AS DOUBLE)"
    if isinstance(value, Decimal):
        return f"CAST('{value}' AS DECIMAL(9, 2))"
    if isinstance(value, dt.datetime):
        naive = "TIMESTAMP" if dialect == "duckdb" else "TIMESTAMP_NTZ"
        zoned = "TIMESTAMPTZ" if dialect == "duckdb" else "TIMESTAMP"
        return f"{naive if value.tzinfo is None else zoned} '{value.isoformat(' ')}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, bytes):
        return f"from_hex('{value.hex()}')" if dialect == "duckdb" else f"X'{value.hex()}'"
    return f"'{value}'" if isinstance(value, str) else str(value)
