"""Filters as pyarrow expressions: they select the rows of a scan."""

from __future__ import annotations

import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.expressions import EqualTo, Not
from icefloe.expressions.parser import parse
from icefloe.expressions.visitors import bind
from icefloe.io.pyarrow import expression_to_pyarrow, schema_to_pyarrow
from icefloe.schema import Schema
from icefloe.table import Table
from icefloe.types import NestedField, StructType

SCHEMA = Schema(
    NestedField(1, "id", "long", required=True),
    NestedField(2, "n", "int"),
    NestedField(3, "f", "float"),
    NestedField(4, "d", "double"),
    NestedField(5, "text", "string"),
    NestedField(6, "raw", "binary"),
    NestedField(7, "key", "uuid"),
    NestedField(8, "day", "date"),
    NestedField(9, "at", "timestamp"),
    NestedField(10, "at_utc", "timestamptz"),
    NestedField(11, "clock", "time"),
    NestedField(12, "price", "decimal(9, 2)"),
    NestedField(13, "flag", "boolean"),
    NestedField(14, "code", "fixed[2]"),
    NestedField(15, "point", StructType(NestedField(16, "n", "double"), NestedField(17, "a.b", "string"))),
)
MOMENT = datetime(2026, 1, 31, 10)
FULL = {
    "n": 5, "f": 0.1, "d": 5.0, "text": "été", "raw": b"\x00\xff", "key": uuid.UUID(int=5).bytes, "day": date(2026, 1, 31), "at": MOMENT,
    "at_utc": MOMENT.replace(tzinfo=timezone.utc), "clock": time(10), "price": Decimal("1.20"), "flag": True, "code": b"ab",
    "point": {"n": 1.0, "a.b": "x"},
}  # fmt: skip
OTHER = {
    **FULL, "n": -7, "f": -0.0, "d": 9.5, "text": "z", "raw": b"\xff", "key": uuid.UUID(int=2**127 + 1).bytes, "day": date(1969, 1, 1),
    "at": datetime(1969, 1, 1), "clock": time(23, 59), "price": Decimal("-3.10"), "flag": False, "code": b"\xff\x00",
    "point": {"n": float("nan"), "a.b": None},
}  # fmt: skip
ROWS = [
    FULL,
    OTHER,
    {},
    {**FULL, "f": float("nan"), "d": float("nan"), "point": {"n": None, "a.b": "y"}},
    {**OTHER, "d": -0.0, "text": "", "point": None},
    {**OTHER, "d": 0.0, "f": float("inf"), "text": "étage"},
]
FILTERS = [
    f"{column} {operator} {value}"
    for column, value in {
        "n": "5", "f": "0.1", "d": "0", "text": "'été'", "raw": "X'00ff'", "key": "'00000000-0000-0000-0000-000000000005'",
        "day": "'2026-01-31'", "at": "'2026-01-31T10:00:00'", "at_utc": "'2026-01-31T11:00:00+01:00'", "clock": "'10:00:00'",
        "price": "1.2", "flag": "true", "code": "X'6162'", "point.n": "1",
    }.items()
    for operator in ("=", "!=", "<", "<=", ">", ">=")
] + [
    "n in (5, 6)", "n not in (5, 6)", "d in (0, 7)", "d not in (0, 7)", "f in (-0.0, 0.1)", "text in ('z', 'é')", "text not in ('z', 'q')",
    "raw in (X'ff', X'00')", "price not in (1.2, 5)", "day in ('1969-01-01', '2026-01-30')", "at_utc not in ('2026-01-31T10:00:00Z', '2025-01-31T10:00:00Z')",
    "key in ('00000000-0000-0000-0000-000000000005', '80000000-0000-0000-0000-000000000001')",
    "n is null", "n is not null", "d is nan", "d is not nan", "point.n is nan", "point.n is not nan", "point.n is null", "point.n is not null",
    "text like 'ét%'", "text not like 'ét%'", "n = 99999999999", "n != 99999999999", "n < 99999999999", "id is null",
    "n = 5 or d is nan", "n != 5 and text like 'z%'", "true", "false", "n is null or n < 0 and d >= 0",
]  # fmt: skip


@pytest.fixture(scope="module")
def table() -> Table:
    catalog = InMemoryCatalog("rows")
    catalog.create_namespace("db")
    made = catalog.create_table("db.t", SCHEMA)
    rows = [{"id": number, **row} for number, row in enumerate(ROWS)]
    made.append(pa.Table.from_pylist(rows, made.schema().as_arrow()))
    return made


@pytest.mark.parametrize("text", FILTERS)
@pytest.mark.parametrize("negated", [False, True], ids=["", "not"])
def test_expression_to_pyarrow_selects_the_rows_of_a_scan(table: Table, text: str, negated: bool) -> None:
    found = Not(parse(text)) if negated else parse(text)
    expression = expression_to_pyarrow(bind(table.schema(), found, True), table.schema())
    selected = table.scan().to_arrow().filter(expression)
    assert selected["id"].to_pylist() == table.scan(found).to_arrow()["id"].to_pylist()


def test_expression_to_pyarrow_filters_other_layouts_of_a_type(table: Table) -> None:
    rows = table.scan().to_arrow().select(["id", "text", "key"])
    large = rows.cast(pa.schema([("id", pa.int64()), ("text", pa.large_string()), ("key", pa.binary(16))]))
    for text in ("text in ('z', 'q')", "text = 'z'", "text like 'z%'", "key > '00000000-0000-0000-0000-000000000005'"):
        expression = expression_to_pyarrow(bind(table.schema(), parse(text), True))
        assert large.filter(expression)["id"].to_pylist() == table.scan(text).to_arrow()["id"].to_pylist()


def test_expression_to_pyarrow_finds_names_with_dots_by_their_path() -> None:
    schema = Schema(NestedField(1, "a.b", "long"), NestedField(2, "s", StructType(NestedField(3, "c.d", "long"))))
    rows = pa.Table.from_pylist([{"a.b": 1, "s": {"c.d": 2}}, {"a.b": 2, "s": {"c.d": 1}}], schema_to_pyarrow(schema))
    for name, number in (("a.b", 0), ("s.c.d", 1)):
        expression = expression_to_pyarrow(bind(schema, EqualTo(name, 1), True), schema)
        assert rows.filter(expression).to_pylist() == [rows.to_pylist()[number]]


def test_expression_to_pyarrow_refuses_unbound_and_transformed_terms() -> None:
    with pytest.raises(TypeError, match="not a bound predicate"):
        expression_to_pyarrow(EqualTo("n", 5), SCHEMA)
    with pytest.raises(ValidationError, match=r"point\.n: a field of a struct; pass the schema"):
        expression_to_pyarrow(bind(SCHEMA, EqualTo("point.n", 5), True))
    with pytest.raises(ValidationError, match="no column of id 2"):
        expression_to_pyarrow(bind(SCHEMA, EqualTo("n", 5), True), Schema(NestedField(1, "n", "int")))
    with pytest.raises(FeatureUnsupportedError, match=r"bucket\[4\]"):
        expression_to_pyarrow(bind(SCHEMA, parse("bucket(4, n) = 1"), True), SCHEMA)
