"""Random filters, as expressions for a scan and as functions of a row that know nothing of the scan."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from icefloe import expressions as ex
from icefloe.types import StructType

from tests.property.random_schema import at, leaves, values_of

Row = dict[int, Any]
COMPARISONS: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], bool], str]] = {
    "lt": (ex.LessThan, lambda a, b: a < b, "gt-eq"),
    "lt-eq": (ex.LessThanOrEqual, lambda a, b: a <= b, "gt"),
    "gt": (ex.GreaterThan, lambda a, b: a > b, "lt-eq"),
    "gt-eq": (ex.GreaterThanOrEqual, lambda a, b: a >= b, "lt"),
    "eq": (ex.EqualTo, lambda a, b: a == b, "not-eq"),
    "not-eq": (ex.NotEqualTo, lambda a, b: a != b, "eq"),
    "in": (ex.In, lambda a, b: a in b, "not-in"),
    "not-in": (ex.NotIn, lambda a, b: a not in b, "in"),
    "starts": (ex.StartsWith, lambda a, b: a.startswith(b), "not-starts"),
    "not-starts": (ex.NotStartsWith, lambda a, b: not a.startswith(b), "starts"),
}
TRUE_OF_NULL = {"not-eq", "not-in", "not-starts"}


@dataclass(frozen=True)
class Leaf:
    """A question about one field."""

    operator: str
    name: str
    ids: tuple[int, ...]
    literal: Any

    def expression(self) -> ex.BooleanExpression:
        match self.operator:
            case "is-null":
                return ex.IsNull(self.name)
            case "not-null":
                return ex.NotNull(self.name)
            case "is-nan":
                return ex.IsNaN(self.name)
            case "not-nan":
                return ex.NotNaN(self.name)
        return COMPARISONS[self.operator][0](self.name, self.literal)

    def negated(self) -> Leaf:
        opposite = {"is-null": "not-null", "not-null": "is-null", "is-nan": "not-nan", "not-nan": "is-nan"}
        found = opposite.get(self.operator) or COMPARISONS[self.operator][2]
        return Leaf(found, self.name, self.ids, self.literal)

    def holds(self, row: Row) -> bool:
        value = at(row, self.ids)
        is_nan = isinstance(value, float) and math.isnan(value)
        match self.operator:
            case "is-null" | "not-null":
                return (value is None) is (self.operator == "is-null")
            case "is-nan" | "not-nan":
                return is_nan is (self.operator == "is-nan")
        if value is None or is_nan:
            return self.operator in TRUE_OF_NULL
        if isinstance(value, str):
            value, literal = value.encode(), as_bytes(self.literal)
        else:
            literal = self.literal
        return COMPARISONS[self.operator][1](value, literal)


def as_bytes(literal: Any) -> Any:
    """Texts compare by their UTF-8 bytes, which is not how Python orders them."""
    return literal.encode() if isinstance(literal, str) else {each.encode() for each in literal}


@dataclass(frozen=True)
class Tree:
    """Filters joined by `and` or `or`, or the negation of one."""

    kind: str
    parts: tuple[Leaf | Tree, ...]

    def expression(self) -> ex.BooleanExpression:
        inside = [part.expression() for part in self.parts]
        return ex.Not(*inside) if self.kind == "not" else (ex.And if self.kind == "and" else ex.Or)(*inside)

    def negated(self) -> Leaf | Tree:
        if self.kind == "not":
            return self.parts[0]
        return Tree("or" if self.kind == "and" else "and", tuple(part.negated() for part in self.parts))

    def holds(self, row: Row) -> bool:
        if self.kind == "not":
            return self.parts[0].negated().holds(row)
        return (all if self.kind == "and" else any)(part.holds(row) for part in self.parts)


def random_filter(rng: Random, struct: StructType, depth: int = 2) -> Leaf | Tree:
    """A filter on fields of a schema, outside lists and maps. There must be one."""
    if depth and rng.random() < 0.5:
        kind = rng.choice(["and", "or", "not"])
        return Tree(kind, tuple(random_filter(rng, struct, depth - 1) for _ in range(1 if kind == "not" else 2)))
    names, ids, kind = rng.choice(leaves(struct))
    name, text = ".".join(names), str(kind)
    operators = ["is-null", "not-null", "eq", "not-eq", "in", "not-in"]
    if text in {"float", "double"}:
        operators += ["is-nan", "not-nan"]
    if text == "string":
        operators += ["starts", "not-starts"]
    if text not in {"boolean", "uuid"}:
        operators += ["lt", "lt-eq", "gt", "gt-eq"]
    operator = rng.choice(operators)
    literals = [each for each in values_of(kind) if not (isinstance(each, float) and math.isnan(each))]
    if operator in {"in", "not-in"}:
        return Leaf(operator, name, ids, frozenset(rng.sample(literals, min(2, len(literals)))))
    literal = rng.choice(literals)
    return Leaf(operator, name, ids, literal[:2] if operator in {"starts", "not-starts"} else literal)
