"""Random well-typed SQL texts over a table and a source, in Spark's grammar, and their translation for DuckDB."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa

PAIR = pa.struct([("x", pa.int64()), ("y", pa.string())])
KINDS = {
    "id": "long",
    "k": "text",
    "n": "int",
    "m": "long",
    "c": "decimal",
    "f": "double",
    "b": "bool",
    "d": "date",
    "ts": "instant",
    "w": "local",
    "odd Name": "text",
    "p": "pair",
}
"""The columns that a table may have, with the kinds of their values."""
ARROW = {
    "long": pa.int64(),
    "int": pa.int32(),
    "text": pa.string(),
    "decimal": pa.decimal128(9, 2),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "instant": pa.timestamp("us", "UTC"),
    "local": pa.timestamp("us"),
    "pair": PAIR,
}
SQL = {
    "long": "bigint",
    "int": "int",
    "text": "string",
    "decimal": "decimal(9,2)",
    "double": "double",
    "bool": "boolean",
    "date": "date",
    "instant": "timestamp",
    "local": "timestamp_ntz",
    "pair": "struct<x: bigint, y: string>",
}
FIELDS = {"p.x": "long", "p.y": "text"}
VALUES: dict[str, list[Any]] = {
    "long": [*range(-2, 7)],
    "int": [*range(-2, 7)],
    "text": ["a", "b", "B", "", "it's", "a%b", "\\", "日本", " a", "o_o", "😀", "zz\n", "7"],
    "decimal": [Decimal(one) for one in ("0.00", "1.50", "-2.25", "2.00", "7.01")],
    "double": [0.0, -0.0, 1.5, 2.0, -2.25, 1e10],
    "bool": [True, False],
    "date": [date(1969, 12, 31), date(1970, 1, 1), date(2026, 2, 28), date(2026, 3, 1)],
    "local": [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2026, 2, 28), datetime(2026, 2, 28, 10, 30)],
}
VALUES["instant"] = [one.replace(tzinfo=timezone.utc) for one in VALUES["local"]]
EXTREMES: dict[str, list[Any]] = {
    "long": [-(2**63), 2**63 - 1],
    "int": [-(2**31), 2**31 - 1],
    "decimal": [Decimal("9999999.99"), Decimal("-9999999.90")],
    "double": [float("nan"), float("inf"), float("-inf")],
    "date": [date(1, 1, 1), date(9999, 12, 31)],
}
PATTERNS = ["a%", "%b", "_", "%", "", "%o_", "%a%b%", "it%", "__"]


def literal(kind: str, value: Any) -> str:
    """Return a value as text; None as a null of the kind."""
    if value is None:
        return "cast(null as " + SQL[kind] + ")"
    if kind == "pair":
        fields = [literal("long", value["x"]), literal("text", value["y"])]
        return f"named_struct('x', {fields[0]}, 'y', {fields[1]})"
    if kind == "text":
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if kind == "bool":
        return str(value).lower()
    if kind == "double":
        return f"cast('{str(value).replace('inf', 'Infinity')}' as double)"
    if kind == "decimal":
        return f"cast('{value}' as decimal(9,2))"
    if kind == "date":
        return f"date '{value}'"
    if kind in ("instant", "local"):
        return f"cast('{value.isoformat(sep=' ')}' as {SQL[kind]})"
    if value in (-(2**63), -(2**31)):
        return f"cast('{value}' as {SQL[kind]})"
    return f"{value}L" if kind == "long" else str(value)


_SPARKS = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|<=>|\b(?:timestamp|timestamp_ntz|div|string)\b|(?<=\d)L\b", re.DOTALL)
_DUCKDBS = {
    "<=>": "is not distinct from",
    "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
    "div": "//",
    "string": "varchar",
    "L": "",
}


def in_duckdb(text: str) -> str:
    """Return a text of Spark's grammar in that of DuckDB."""

    def translated(found: re.Match[str]) -> str:
        part = found.group()
        if part.startswith("`"):
            return '"' + part[1:-1] + '"'
        if part.startswith("'"):
            return "'" + re.sub(r"\\(.)", r"\1", part[1:-1], flags=re.DOTALL).replace("'", "''") + "'"
        return _DUCKDBS[part]

    return _SPARKS.sub(translated, text)


class TypedSql:
    """Random values and texts over columns.

    Args:
        chance: Source of chance.
        columns: Names of the columns of both sides.
    """

    def __init__(self, chance: random.Random, columns: Sequence[str]) -> None:
        self.random = chance
        self.columns = columns
        self.kinds = {name: KINDS[name] for name in columns if name != "p"}
        if "p" in columns:
            self.kinds |= FIELDS

    def cell(self, kind: str, *, nulls: float = 0.12, extremes: float = 0.02) -> Any:
        """Return a random value of a kind or None."""
        if self.random.random() < nulls:
            return None
        if kind == "pair":
            return {"x": self.cell("long"), "y": self.cell("text")}
        if kind in EXTREMES and self.random.random() < extremes:
            return self.random.choice(EXTREMES[kind])
        return self.random.choice(VALUES[kind])

    def column(self, name: str, side: str) -> str:
        """Return a name with its side, in a random case."""
        if " " in name:
            return f"{side}.`{self.random.choice([name, name.lower()])}`"
        if "." in name:
            return f"{side}.{name}"
        return f"{self.random.choice([side, side, side.capitalize()])}.{self.random.choice([name, name, name.upper()])}"

    def some_column(self, kinds: Sequence[str], sides: Sequence[str]) -> str | None:
        """Return a random column of one of several kinds, None if there is none."""
        names = [name for name, kind in self.kinds.items() if kind in kinds]
        return self.column(self.random.choice(names), self.random.choice(sides)) if names else None

    # ---- conditions

    def condition(self, sides: Sequence[str], depth: int = 2) -> str:
        """Return a boolean text."""
        pick = self.random.random()
        if depth > 0 and pick < 0.35:
            word = self.random.choice(["and", "or"])
            return f"({self.condition(sides, depth - 1)} {word} {self.condition(sides, depth - 1)})"
        if depth > 0 and pick < 0.43:
            return f"not ({self.condition(sides, depth - 1)})"
        makers = [self.comparison, self.comparison, self.membership, self.null_test, self.between, self.like]
        return self.random.choice([*makers, self.flag])(sides)

    def comparison(self, sides: Sequence[str]) -> str:
        """Return a comparison of values of one kind, or of two kinds of numbers or times."""
        symbol = self.random.choice(["=", "=", "<>", "<", "<=", ">", ">=", "<=>", "is distinct from"])
        kind = self.random.choice(sorted(set(self.kinds.values())))
        groups = [("int", "long", "decimal", "double"), ("date", "local")]
        others = next((group for group in groups if kind in group), (kind,))
        other = self.random.choice([kind, kind, *others])
        return f"{self.value(kind, sides, 1)} {symbol} {self.value(other, sides, 1)}"

    def membership(self, sides: Sequence[str]) -> str:
        kind = self.random.choice(sorted(set(self.kinds.values())))
        members = [self.value(kind, sides, 0) for _ in range(self.random.randint(1, 3))]
        members += ["null"] * self.random.choice([0, 0, 0, 1])
        return f"{self.value(kind, sides, 1)} {self.random.choice(['in', 'not in'])} ({', '.join(members)})"

    def null_test(self, sides: Sequence[str]) -> str:
        names = [*self.kinds, *(["p"] if "p" in self.columns else [])]
        name = self.column(self.random.choice(names), self.random.choice(sides))
        return f"{name} is {self.random.choice(['', 'not '])}null"

    def between(self, sides: Sequence[str]) -> str:
        kind = self.random.choice(sorted(set(self.kinds.values()) - {"bool"}))
        word = self.random.choice(["between", "not between"])
        low, high = self.value(kind, sides, 0), self.value(kind, sides, 0)
        return f"{self.value(kind, sides, 1)} {word} {low} and {high}"

    def like(self, sides: Sequence[str]) -> str:
        pattern = self.random.choice(PATTERNS)
        return f"{self.value('text', sides, 1)} {self.random.choice(['like', 'not like'])} {literal('text', pattern)}"

    def flag(self, sides: Sequence[str]) -> str:
        return self.some_column(["bool"], sides) or self.null_test(sides)

    # ---- values

    def value(self, kind: str, sides: Sequence[str], depth: int = 2) -> str:
        """Return a text of a kind."""
        pick = self.random.random()
        if depth > 0 and pick < 0.25:
            return self.choice_of_values(kind, sides, depth - 1)
        if depth > 0 and pick < 0.5:
            maker = getattr(self, f"made_{kind}", None)
            return self.plain(kind, sides) if maker is None else maker(sides, depth - 1)
        return self.plain(kind, sides)

    def plain(self, kind: str, sides: Sequence[str]) -> str:
        """Return a column or a literal."""
        found = self.some_column([kind], sides) if self.random.random() < 0.7 else None
        return found or literal(kind, self.cell(kind, nulls=0.05))

    def choice_of_values(self, kind: str, sides: Sequence[str], depth: int) -> str:
        first, second = self.value(kind, sides, depth), self.value(kind, sides, depth)
        condition = self.condition(sides, 0)
        forms = [
            f"coalesce({first}, {second})",
            f"if({condition}, {first}, {second})",
            f"case when {condition} then {first} when {self.condition(sides, 0)} then {second} end",
            f"case when {condition} then {first} else {second} end",
            f"nullif({first}, {second})",
        ]
        if kind != "bool":
            forms += [f"least({first}, {second})", f"greatest({first}, {second})"]
        return self.random.choice(forms)

    def made_int(self, sides: Sequence[str], depth: int) -> str:
        left, right = self.value("int", sides, depth), self.value("int", sides, depth)
        return self.random.choice(
            [
                f"({left} {self.random.choice('+-*')} {right})",
                f"-({left})",
                f"cast({self.some_column(['long'], sides)} as int)",
            ]
        )

    def made_long(self, sides: Sequence[str], depth: int) -> str:
        left, right = self.value("long", sides, depth), self.value(self.random.choice(["long", "int"]), sides, 0)
        return self.random.choice(
            [
                f"({left} {self.random.choice('+-*')} {right})",
                f"case when {right} <> 0 then {left} {self.random.choice(['%', 'div'])} {right} end",
                f"abs({left})",
                f"cast({self.value('int', sides, 0)} as bigint)",
            ]
        )

    def made_decimal(self, sides: Sequence[str], depth: int) -> str:
        left, right = self.value("decimal", sides, depth), self.value(self.random.choice(["decimal", "int"]), sides, 0)
        return f"cast({left} {self.random.choice('+-')} {right} as decimal(9,2))"

    def made_double(self, sides: Sequence[str], depth: int) -> str:
        left, right = self.value("double", sides, depth), self.value("double", sides, 0)
        one, other = self.value("long", sides, 0), self.value("int", sides, 0)
        return self.random.choice(
            [f"({left} {self.random.choice('+-')} {right})", f"case when {other} <> 0 then {one} / {other} end"]
        )

    def made_text(self, sides: Sequence[str], depth: int) -> str:
        left, right = self.value("text", sides, depth), self.value("text", sides, 0)
        other = self.value(self.random.choice(["int", "long", "bool", "date"]), sides, 0)
        return self.random.choice(
            [f"({left} || {right})", f"upper({left})", f"lower({left})", f"cast({other} as string)"]
        )

    def made_bool(self, sides: Sequence[str], depth: int) -> str:
        return f"({self.condition(sides, depth)})"

    def made_date(self, sides: Sequence[str], depth: int) -> str:
        del depth
        return f"cast({self.value('local', sides, 0)} as date)"
