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
COMPARISONS: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], bool]]] = {
    "lt": (ex.LessThan, lambda a, b: a < b),
    "lt-eq": (ex.LessThanOrEqual, lambda a, b: a <= b),
    "gt": (ex.GreaterThan, lambda a, b: a > b),
    "gt-eq": (ex.GreaterThanOrEqual, lambda a, b: a >= b),
    "eq": (ex.EqualTo, lambda a, b: a == b),
    "not-eq": (ex.NotEqualTo, lambda a, b: a != b),
    "in": (ex.In, lambda a, b: a in b),
    "not-in": (ex.NotIn, lambda a, b: a not in b),
    "starts": (ex.StartsWith, lambda a, b: a.startswith(b)),
    "not-starts": (ex.NotStartsWith, lambda a, b: not a.startswith(b)),
}
ORDERS = {"lt", "lt-eq", "gt", "gt-eq"}


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

    def holds(self, row: Row) -> bool:
        return self.truth(row) is True

    def truth(self, row: Row) -> bool | None:
        """Return the value of the leaf for a row: True, False, or None for unknown."""
        value = at(row, self.ids)
        is_nan = isinstance(value, float) and math.isnan(value)
        match self.operator:
            case "is-null" | "not-null":
                return (value is None) is (self.operator == "is-null")
            case "is-nan" | "not-nan":
                return is_nan is (self.operator == "is-nan")
        if value is None or (is_nan and self.operator in ORDERS):
            return None
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

    def holds(self, row: Row) -> bool:
        return self.truth(row) is True

    def truth(self, row: Row) -> bool | None:
        """Kleene's logic."""
        found = [part.truth(row) for part in self.parts]
        if self.kind == "not":
            return None if found[0] is None else not found[0]
        decides = self.kind == "or"
        return decides if decides in found else None if None in found else not decides


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
