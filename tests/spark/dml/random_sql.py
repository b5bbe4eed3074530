"""Random rows and random well-typed SQL texts over them, in the grammar of merges."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa

KINDS = {
    "i": pa.int32(),
    "l": pa.int64(),
    "f": pa.float32(),
    "d": pa.float64(),
    "c": pa.decimal128(12, 3),
    "s": pa.string(),
    "b": pa.bool_(),
    "x": pa.binary(),
    "day": pa.date32(),
    "at": pa.timestamp("us", "UTC"),
    "local": pa.timestamp("us"),
}
NUMBERS = ["i", "l", "f", "d", "c"]
ORDERED = list(KINDS)
_SPECIAL: dict[str, list[Any]] = {
    "i": [-(2**31), 2**31 - 1, -1, 0, 1, 2, 7],
    "l": [-(2**63), 2**63 - 1, -1, 0, 1, 2, 7],
    "f": [math.nan, -0.0, 0.0, math.inf, -math.inf, 1.5, -2.25],
    "d": [math.nan, -0.0, 0.0, math.inf, -math.inf, 1.5, 0.1, -1e300, 2.0],
    "c": [Decimal("999999999.999"), Decimal("-999999999.999"), Decimal("0.000"), Decimal("1.500"), Decimal("2.000")],
    "s": ["", "a", "ab", "A", "straße", "ΑΣ", "it's", "a%b", "zz\n", "😀", "\\"],
    "b": [True, False],
    "x": [b"", b"\x00", b"\xff", b"ab", b"\x00\xff"],
    "day": [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2026, 2, 28), date(9999, 12, 31)],
}
_SPECIAL["local"] = [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2026, 2, 28), datetime(2026, 2, 28, 10, 30)]
_SPECIAL["at"] = [one.replace(tzinfo=timezone.utc) for one in _SPECIAL["local"]]


class RandomSql:
    """Rows and texts of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    # ---- rows

    def side(self, count: int) -> pa.StructArray:
        """Return random values of every type."""
        columns = [pa.array([self.cell(name) for _ in range(count)], kind) for name, kind in KINDS.items()]
        return pa.StructArray.from_arrays(columns, list(KINDS))

    def cell(self, name: str) -> Any:
        """Return a value or null."""
        return None if self.random.random() < 0.2 else self.random.choice(_SPECIAL[name])

    # ---- texts

    def condition(self, depth: int = 3) -> str:
        """Return a boolean text."""
        pick = self.random.random()
        if depth > 0 and pick < 0.35:
            word = self.random.choice(["and", "or"])
            return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"
        if depth > 0 and pick < 0.45:
            return f"not ({self.condition(depth - 1)})"
        makers: list[Callable[[], str]] = [
            self.comparison,
            self.comparison,
            self.membership,
            self.null_test,
            self.between,
            self.like,
            self.nan_test,
            lambda: self.column("b"),
            lambda: self.random.choice(["true", "false", "cast(null as boolean)"]),
        ]
        return self.random.choice(makers)()

    def comparison(self) -> str:
        symbol = self.random.choice(["=", "==", "!=", "<>", "<", "<=", ">", ">=", "<=>"])
        left, right = self.comparable()
        return f"{left} {symbol} {right}"

    def comparable(self) -> tuple[str, str]:
        """Return two texts of comparable types."""
        pick = self.random.random()
        if pick < 0.35:
            return self.number(2), self.number(2)
        if pick < 0.45:
            return self.text(2), self.text(2)
        if pick < 0.6:
            moments = ["day", "at", "local"]
            return self.value(self.random.choice(moments), 1), self.value(self.random.choice(moments), 1)
        name = self.random.choice(ORDERED)
        return self.value(name, 1), self.value(name, 1)

    def membership(self) -> str:
        name = self.random.choice(ORDERED)
        members = [self.value(name, 0) for _ in range(self.random.randint(1, 4))]
        members += ["null"] * self.random.choice([0, 0, 1])
        return f"{self.value(name, 1)} {self.random.choice(['in', 'not in'])} ({', '.join(members)})"

    def null_test(self) -> str:
        return f"{self.value(self.random.choice(ORDERED), 1)} is {self.random.choice(['null', 'not null'])}"

    def between(self) -> str:
        name = self.random.choice(ORDERED)
        word = self.random.choice(["between", "not between"])
        return f"{self.value(name, 1)} {word} {self.value(name, 0)} and {self.value(name, 0)}"

    def like(self) -> str:
        pattern = self.random.choice(["a%", "%b", "%", "_", "a_", "", "%a%b%", r"a\%%"])
        if self.random.random() < 0.3:
            return f"startswith({self.text(1)}, 'a')"
        return f"{self.text(1)} {self.random.choice(['like', 'not like'])} '{pattern}'"

    def nan_test(self) -> str:
        return f"isnan({self.value(self.random.choice(['f', 'd']), 1)})"

    def column(self, name: str) -> str:
        side = self.random.choice(["source", "target", "Source"])
        return f"{side}.{self.random.choice([name, name, name.upper(), f'`{name}`'])}"

    def value(self, name: str, depth: int) -> str:
        """Return a column, a literal or a conditional expression of a type."""
        pick = self.random.random()
        if depth > 0 and pick < 0.2:
            first, second = self.value(name, depth - 1), self.value(name, depth - 1)
            return self.random.choice(
                [
                    f"coalesce({first}, {second})",
                    f"if({self.condition(0)}, {first}, {second})",
                    f"case when {self.condition(0)} then {first} when {self.condition(0)} then {second} end",
                    f"least({first}, {second})",
                    f"greatest({first}, {second})",
                    f"nullif({first}, {second})",
                ]
            )
        if pick < 0.7:
            return self.column(name)
        return self.literal(name)

    def literal(self, name: str) -> str:
        value = self.random.choice(_SPECIAL[name])
        if name in {"i", "l"}:
            return str(value)
        if name in {"f", "d"}:
            kind = "float" if name == "f" else "double"
            return f"cast('{str(value).replace('inf', 'Infinity')}' as {kind})"
        if name == "c":
            return str(value)
        if name == "s":
            # Spark 4.0 reads a doubled quote as two texts.
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        if name == "b":
            return str(value).lower()
        if name == "x":
            return f"X'{value.hex()}'"
        if name == "day":
            return self.random.choice([f"date '{value}'", f"cast('{value}' as date)"])
        if name == "at":
            return f"timestamp '{value.isoformat(sep=' ')}'"
        return f"cast('{value.isoformat(sep=' ')}' as timestamp_ntz)"

    def number(self, depth: int) -> str:
        """Return a text of any numeric type."""
        pick = self.random.random()
        if depth > 0 and pick < 0.4:
            left, right = self.number(depth - 1), self.number(depth - 1)
            symbol = self.random.choice(["+", "-", "*", "/", "%"])
            if symbol == "%":
                left, right = (self.value(self.random.choice(["i", "l", "c"]), 0) for _ in range(2))
            if symbol in {"/", "%"} and self.random.random() < 0.8:
                return f"case when {right} <> 0 then {left} {symbol} {right} end"
            return f"({left} {symbol} {right})"
        if depth > 0 and pick < 0.5:
            return f"{self.random.choice(['-', 'abs'])}({self.number(depth - 1)})"
        if depth > 0 and pick < 0.6:
            name = self.random.choice(["i", "f", "c"])
            kind = {
                "i": ["bigint", "double", "decimal(15,2)"],
                "f": ["double"],
                "c": ["double", "decimal(20,1)", "int"],
            }
            return f"cast({self.value(name, 0)} as {self.random.choice(kind[name])})"
        return self.value(self.random.choice(NUMBERS), 1)

    def text(self, depth: int) -> str:
        """Return a text of type string."""
        pick = self.random.random()
        if depth > 0 and pick < 0.4:
            inner = self.text(depth - 1)
            return self.random.choice(
                [f"upper({inner})", f"lower({inner})", f"({inner} || {self.text(0)})", f"concat({inner}, 'x', {inner})"]
            )
        if depth > 0 and pick < 0.5:
            return f"cast({self.value(self.random.choice(['i', 'l', 'b']), 0)} as string)"
        return self.value("s", 1)

    def text_function(self) -> str:
        """Return a function of a text, or a cast to a text."""
        inner = self.text(2)
        count = self.random.choice(["", f", {self.random.randint(-1, 4)}"])
        kind = self.random.choice(["c", "day", "at", "local", "i"])
        return self.random.choice(
            [
                f"{self.random.choice(['trim', 'ltrim', 'rtrim'])}(concat(' ', {inner}, '\\t  '))",
                f"{self.random.choice(['contains', 'endswith', 'startswith'])}({inner}, '{self.random.choice(['a', 'b', ''])}')",
                f"length({self.random.choice([inner, self.value('x', 1)])})",
                f"{self.random.choice(['substring', 'substr'])}({inner}, {self.random.randint(-4, 4)}{count})",
                f"replace({inner}, '{self.random.choice(['a', 'ss', '', 'zz'])}', {self.random.choice(['upper', ''])}('bä'))",
                f"replace({inner}, 'a')",
                f"cast({self.value(kind, 1)} as string)",
            ]
        )

    def date_function(self) -> str:
        """Return a function of dates."""
        first, second = (self.value(self.random.choice(["day", "local", "at"]), 1) for _ in range(2))
        days = self.random.choice(["1", "-400", "null", "cast(3 as smallint)", f"length({self.text(1)})"])
        return self.random.choice(
            [
                f"{self.random.choice(['year', 'month', 'day', 'dayofmonth'])}({first})",
                # The dates may be out of Python's range.
                f"datediff({self.random.choice(['date_add', 'date_sub'])}({first}, {days}), {second})",
                f"datediff({first}, {second})",
            ]
        )

    def rounding_function(self) -> str:
        """Return `floor`, `ceil`, `round` or `mod`."""
        exact = self.value(self.random.choice(["i", "l", "c"]), 1)
        # Versions of Spark differ in doubles that no bigint holds.
        whole = self.random.choice([exact, f"cast({self.value('c', 1)} as double)"])
        return self.random.choice(
            [
                f"{self.random.choice(['floor', 'ceil', 'ceiling'])}({whole})",
                f"round({exact}{self.random.choice(['', ', 0', ', 1', ', 2', ', 5'])})",
                f"mod({exact}, {self.random.choice(['7', '-2', '1.5'])})",
            ]
        )
