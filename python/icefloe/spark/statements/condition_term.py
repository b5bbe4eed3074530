"""The side of a comparison that a table has: a column, or a transform of one by a function of an attached catalog."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from icefloe.exceptions import ValidationError
from icefloe.expressions.terms import UnboundTransform
from icefloe.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)
from icefloe.types import (
    BinaryType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.transforms import Transform
    from icefloe.types import IcebergType

_PARAMETRISED: dict[str, Callable[[int], Transform]] = {"bucket": BucketTransform, "truncate": TruncateTransform}
_TIMES = {"years": YearTransform(), "months": MonthTransform(), "days": DayTransform(), "hours": HourTransform()}
# Spark has texts in the place of uuids, whose buckets are others.
_SOURCES = (
    *(BinaryType, DateType, DecimalType, IntegerType),
    *(LongType, StringType, TimestampType, TimestamptzType),
)


@dataclass(frozen=True)
class ConditionTerm:
    """A column or a transform of one.

    Attributes:
        column: Name of the column.
        source_type: Type of the column.
        transform: The transform; None for the column itself.
    """

    column: str
    source_type: IcebergType
    transform: Transform | None = None

    @staticmethod
    def of(
        tree: Any,
        column_of: Callable[[Any], tuple[str, IcebergType] | None],
        is_namespace: Callable[[tuple[str, ...]], bool],
    ) -> ConditionTerm | None:
        """Return the term that a tree is; None for other trees.

        Args:
            tree: Syntax tree.
            column_of: Returns name and type of the column that a tree names; None if it names no column of the table.
            is_namespace: Returns whether some names before a function are of the functions of an attached catalog.
        """
        while isinstance(tree, exp.Paren):
            tree = tree.this
        column = column_of(tree)
        if column is not None:
            return ConditionTerm(*column)
        call = tree.expression if isinstance(tree, exp.Dot) else None
        if not isinstance(call, exp.Anonymous) or not is_namespace(tuple(_names(tree.this))):
            return None
        transform = _transform(call)
        source = column_of(call.expressions[-1]) if transform is not None else None
        if transform is None or source is None or not isinstance(source[1], _SOURCES):
            return None
        return ConditionTerm(*source, transform) if transform.can_transform(source[1]) else None

    @property
    def term(self) -> str | UnboundTransform:
        """The operand of predicates on the term."""
        return self.column if self.transform is None else UnboundTransform(self.column, self.transform)

    @property
    def value_type(self) -> IcebergType:
        """The type of the compared values."""
        return self.source_type if self.transform is None else self.transform.result_type(self.source_type)

    @property
    def may_overflow(self) -> bool:
        """Whether Spark has no result for some values: the multiple below a decimal may have too many digits."""
        return isinstance(self.transform, TruncateTransform) and isinstance(self.source_type, DecimalType)


def _names(tree: Any) -> list[str]:
    """Return the names of a dotted name; none for other trees."""
    if isinstance(tree, exp.Identifier):
        return [tree.name]
    if isinstance(tree, exp.Dot) and isinstance(tree.expression, exp.Identifier):
        return [*_names(tree.this), tree.expression.name]
    return []


def _transform(call: exp.Anonymous) -> Transform | None:
    """Return the transform that a function call applies to its last argument; None for other functions and parameters."""
    function, arguments = call.name.lower(), call.expressions
    if len(arguments) == 1:
        return _TIMES.get(function)
    made = _PARAMETRISED.get(function)
    if made is None or len(arguments) != 2:
        return None
    number = arguments[0]
    if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
        return None
    try:
        return made(int(number.this))
    except ValidationError:  # 0, and numbers beyond an int
        return None
