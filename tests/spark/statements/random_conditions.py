"""Random conditions of Spark SQL and random rows of a table that they are about."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal

import pyarrow as pa
from icefloe.schema import Schema
from icefloe.types import DecimalType, DoubleType, LongType, NestedField, StructType

UTC = dt.timezone.utc
FIRST = {
    "a": (pa.int64(), [-(2**63), -1, 0, 1, 5, 2**31, 2**63 - 1]),
    "b": (pa.int64(), [-5, 0, 5, 100]),
    "i": (pa.int32(), [-(2**31), -1, 0, 5, 2**31 - 1]),
    "x": (pa.float64(), [-math.inf, -0.0, 0.0, 0.1, 5.0, 1e300, math.nan]),
    "n": (pa.decimal128(9, 2), [Decimal("-9999999.99"), Decimal("0.01"), Decimal("5.00"), Decimal("9999999.99")]),
    "d": (pa.date32(), [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2020, 1, 1), dt.date(9999, 12, 31)]),
    "t": (pa.timestamp("us"), [dt.datetime(1970, 1, 1), dt.datetime(2020, 1, 1, 8), dt.datetime(2024, 3, 10, 2, 30)]),
    "z": (
        pa.timestamp("us", "UTC"),
        [dt.datetime(2020, 1, 1, 8, tzinfo=UTC), dt.datetime(2024, 3, 10, 10, tzinfo=UTC)],
    ),
    "s": (pa.string(), ["", "a", "ab", "ab ", "AB", "a%b", "\ue000", "\U0001f600", "5", "\U0010ffff" * 17]),
    "f": (pa.float32(), [-math.inf, -3e38, -0.0, 0.0, 0.1, 16777216.0, math.inf, math.nan]),
    "y": (pa.binary(), [b"", b"\x00", b"a", b"ab", b"\xff", b"\xff" * 20, b"\xff\xfe"]),
    "o": (pa.bool_(), [False, True]),
}
"""The first columns with their values."""

# Spark itself selects nulls for `bigint < 9223372036854775808`, so no number is beyond the limits of bigint.
WHOLE = ["0", "-1", "1", "5", "100", "2147483647", "2147483648", "-2147483649", "9223372036854775807"]
EXACT = ["5.0", "0.01", "9999999.99", "42949672.96", "-42949672.96", "99999999999.00", "5.5", "5e0", "NULL"]
MOMENTS = ["2020-01-01 00:00:00", "2020-01-01 08:00:00", "2024-03-10 02:30:00", "1970-01-01 00:00:00", "2024-03-10"]
LITERALS = {
    **{name: [*WHOLE, *WHOLE, *EXACT] for name in "abi"},
    "x": ["0", "-0.0", "0.1", "5", "0.1D", "1e300", "double('NaN')", "double('Infinity')"],
    "n": [*EXACT, *EXACT, *WHOLE],
    "d": ["DATE'2020-01-01'", "'1969-12-31'", "DATE'0001-01-01'", "DATE'9999-12-31'", "TIMESTAMP'2020-01-01 08:00:00'"],
    "t": [f"{kind}'{one}'" for kind in ("TIMESTAMP", "TIMESTAMP_NTZ", "") for one in MOMENTS],
    "z": [f"{kind}'{one}'" for kind in ("TIMESTAMP", "TIMESTAMP_NTZ", "") for one in MOMENTS],
    "f": ["0", "-0.0", "0.1", "0.1F", "0.1D", "16777217", "3e38", "float('NaN')", "double('Infinity')", "NULL"],
    "y": ["X''", "X'00'", "X'61'", "X'6162'", "X'FF'", "X'FFFF'", "X'FFFE'"],
    "o": ["true", "false", "NULL"],
    "s": ["''", "'a'", "'ab'", "'ab '", "'AB'", "'a%b'", "'\ue000'", "'\U0001f600'", '"ab"', "'it''s'", "NULL"],
}
OPERATORS = ["=", "<>", "!=", "<", "<=", ">", ">=", "<=>"]
WHOLE_FUNCTIONS = [
    ("coalesce({}, 0)", "a"),
    ("{} % 7", "a"),
    ("CAST({} AS int)", "a"),
    ("CAST({} AS string)", "s"),
    ("-{}", "a"),
]
FUNCTIONS = {
    **dict.fromkeys("abi", WHOLE_FUNCTIONS),
    "x": [("coalesce({}, 0)", "x"), ("CAST({} AS int)", "a"), ("round({})", "x"), ("nanvl({}, 1)", "x"), ("-{}", "x")],
    "f": [("coalesce({}, 0)", "x"), ("CAST({} AS double)", "x"), ("{} + 1", "x"), ("nanvl({}, 1)", "f")],
    "n": [("coalesce({}, 0)", "n"), ("CAST({} AS int)", "a"), ("{} * 2", "n"), ("CAST({} AS decimal(4, 1))", "n")],
    "d": [("year({})", "a"), ("date_add({}, 1)", "d"), ("CAST({} AS string)", "s"), ("CAST({} AS timestamp)", "t")],
    "t": [("CAST({} AS date)", "d"), ("hour({})", "a"), ("date_trunc('day', {})", "t")],
    "z": [("CAST({} AS date)", "d"), ("hour({})", "a"), ("date_trunc('day', {})", "z")],
    "s": [
        ("upper({})", "s"),
        ("length({})", "a"),
        ("substring({}, 1, 1)", "s"),
        ("trim({})", "s"),
        ("CAST({} AS int)", "a"),
    ],
    "y": [("length({})", "a"), ("hex({})", "s"), ("CAST({} AS string)", "s"), ("substring({}, 1, 1)", "y")],
    "o": [("CAST({} AS int)", "a"), ("(NOT {})", "o"), ("coalesce({}, false)", "o")],
}
"""Expressions of each column, most of which Spark evaluates, with the name of the literals that they are compared with."""
PATTERNS = ["a%", "ab%", "%", "a_", "%b", "a\\\\%%", "ab", ""]


class RandomConditions:
    """Conditions on the columns of `FIRST`, and rows."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def rows(self, first, count):
        """Return rows with ids of their own; each column has all of its values, two or one, and some nulls."""
        draw = self.random
        columns = {"id": pa.array(range(first, first + count), pa.int64())}
        for name, (kind, values) in FIRST.items():
            pool = draw.choice([values, draw.sample(values, 2), [draw.choice(values)]])
            share = draw.choice([0, 0, 0.3])
            columns[name] = pa.array([None if draw.random() < share else draw.choice(pool) for _ in range(count)], kind)
        return columns

    def condition(self, depth=2):
        draw = self.random
        if depth == 0 or draw.random() < 0.5:
            return self.comparison()
        if draw.random() < 0.3:
            return f"NOT ({self.condition(depth - 1)})"
        return f"({self.condition(depth - 1)}) {draw.choice(['AND', 'OR'])} ({self.condition(depth - 1)})"

    def comparison(self):
        draw = self.random
        name = draw.choice(list(FIRST))
        column = draw.choice([name, name, f"p.{name}"]) if name in ("b", "n", "x") else name
        literals = name
        if draw.random() < 0.15:
            function, literals = draw.choice(FUNCTIONS[name])
            column = function.format(column)
        one, two = draw.choices(LITERALS[literals], k=2)
        negated = draw.choice(["", "NOT "])
        forms = [
            f"{column} {draw.choice(OPERATORS)} {one}",
            f"{column} {draw.choice(OPERATORS)} {one}",
            f"{one} {draw.choice(OPERATORS)} {column}",
            f"{column} {negated}IN ({one}, {two})",
            f"{column} {negated}BETWEEN {one} AND {two}",
            f"{column} IS {negated}NULL",
        ]
        if name == "s":
            forms += [f"{column} {negated}LIKE '{draw.choice(PATTERNS)}'"] * 3
        return draw.choice(forms)


def schema():
    """Return the schema of the first rows, with some of the columns in a struct as well."""
    names = ("id", *FIRST)
    kinds = ("long", "long", "long", "int", "double", DecimalType(9, 2), "date", "timestamp", "timestamptz", "string")
    kinds = (*kinds, "float", "binary", "boolean")
    fields = [NestedField(number, name, kind) for number, (name, kind) in enumerate(zip(names, kinds, strict=True), 1)]
    inside = [NestedField(21, "b", "long"), NestedField(22, "n", DecimalType(9, 2)), NestedField(23, "x", "double")]
    return Schema(*fields, NestedField(20, "p", StructType(*inside)))


def arrow(columns):
    """Return rows with a struct of the columns that it has."""
    inside = pa.StructArray.from_arrays([columns[name] for name in ("b", "n", "x")], names=["b", "n", "x"])
    return pa.table({**columns, "p": inside})


def evolve(table):
    """Swap the names of two columns, and promote others."""
    for old, new in (("a", "tmp"), ("b", "a"), ("tmp", "b")):
        with table.update_schema() as change:
            change.rename_column(old, new)
    with table.update_schema() as change:
        change.update_column("i", LongType()).update_column("n", DecimalType(18, 2)).update_column("f", DoubleType())
        change.update_column(("p", "n"), DecimalType(18, 2))
