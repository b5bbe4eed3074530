"""Bound filters as pyarrow expressions, with the semantics of `docs/filters.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.expressions.terms import BoundTransform
from icefloe.expressions.visitors import BoundBooleanExpressionVisitor, visit
from icefloe.types import DoubleType, FloatType, PrimitiveType, StructType, UUIDType
from icefloe.types.arrow import primitive_to_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.expressions.literals import Literal
    from icefloe.expressions.terms import BoundTerm
    from icefloe.expressions.tree import BooleanExpression
    from icefloe.schema import Schema
    from icefloe.types import NestedField

# Of `pa.nulls`: every conversion of a Python value to Arrow loads pandas where it is installed, half a second of a first import.
UNKNOWN = pa.nulls(1, pa.bool_())[0]


def expression_to_pyarrow(expr: BooleanExpression, schema: Schema | None = None) -> pc.Expression:
    """Return the pyarrow expression that selects the rows of Arrow data that a scan with a bound filter returns.

    The expression is null where the filter is unknown: for null, and for NaN compared by ``<``, ``<=``, ``>`` or ``>=``. Arrow's
    ``Table.filter`` and datasets select the rows for which it is true. The data has the column names of the schema that the
    filter is bound to, and Arrow types that compare with the types of :func:`icefloe.io.pyarrow.schema_to_pyarrow`.

    Args:
        expr: A bound filter, as :func:`icefloe.expressions.visitors.bind` returns it.
        schema: The schema that the filter is bound to; required for filters on fields of structs.

    Raises:
        TypeError: The filter is not bound.
        ValidationError: A column is a field of a struct and no schema is given, or the schema does not have the column.
        FeatureUnsupportedError: The filter is on the result of a transform, which pyarrow cannot compute.

    >>> from icefloe.expressions import NotEqualTo
    >>> from icefloe.expressions.visitors import bind
    >>> from icefloe.schema import Schema
    >>> from icefloe.types import NestedField
    >>> schema = Schema(NestedField(1, "id", "long"))
    >>> rows = pa.table({"id": [1, 5, None]})
    >>> rows.filter(expression_to_pyarrow(bind(schema, NotEqualTo("id", 5), True), schema)).to_pydict()
    {'id': [1]}
    """
    return visit(expr, _ToArrow(schema))


class _ToArrow(BoundBooleanExpressionVisitor[Any]):
    """A visitor that builds pyarrow expressions; the `and`, `or` and `not` of Arrow are three-valued."""

    def __init__(self, schema: Schema | None) -> None:
        self.schema = schema

    def visit_true(self) -> Any:
        return pc.scalar(True)

    def visit_false(self) -> Any:
        return pc.scalar(False)

    def visit_not(self, child_result: Any) -> Any:
        return ~child_result

    def visit_and(self, left_result: Any, right_result: Any) -> Any:
        return left_result & right_result

    def visit_or(self, left_result: Any, right_result: Any) -> Any:
        return left_result | right_result

    def visit_in(self, term: BoundTerm, literals: set[Any]) -> Any:
        column = self._column(term)
        # Arrow's `is_in` is false for null and distinguishes -0.0 from 0.0.
        values = [*literals, -0.0, 0.0] if _is_float(term) and 0.0 in literals else [*literals]
        is_in = column.isin(pa.array([_raw(value) for value in values], _storage_of(term)))
        return pc.if_else(column.is_valid(), is_in, UNKNOWN)

    def visit_not_in(self, term: BoundTerm, literals: set[Any]) -> Any:
        return ~self.visit_in(term, literals)

    def visit_is_nan(self, term: BoundTerm) -> Any:
        return pc.coalesce(pc.is_nan(self._column(term)), pa.scalar(False))

    def visit_not_nan(self, term: BoundTerm) -> Any:
        return ~self.visit_is_nan(term)

    def visit_is_null(self, term: BoundTerm) -> Any:
        return self._column(term).is_null()

    def visit_not_null(self, term: BoundTerm) -> Any:
        return self._column(term).is_valid()

    def visit_equal(self, term: BoundTerm, literal: Literal) -> Any:
        return self._column(term) == _scalar(term, literal)

    def visit_not_equal(self, term: BoundTerm, literal: Literal) -> Any:
        return self._column(term) != _scalar(term, literal)

    def visit_greater_than_or_equal(self, term: BoundTerm, literal: Literal) -> Any:
        return self._ordered(term, self._column(term) >= _scalar(term, literal))

    def visit_greater_than(self, term: BoundTerm, literal: Literal) -> Any:
        return self._ordered(term, self._column(term) > _scalar(term, literal))

    def visit_less_than(self, term: BoundTerm, literal: Literal) -> Any:
        return self._ordered(term, self._column(term) < _scalar(term, literal))

    def visit_less_than_or_equal(self, term: BoundTerm, literal: Literal) -> Any:
        return self._ordered(term, self._column(term) <= _scalar(term, literal))

    def visit_starts_with(self, term: BoundTerm, literal: Literal) -> Any:
        return pc.starts_with(self._column(term), literal.value)

    def visit_not_starts_with(self, term: BoundTerm, literal: Literal) -> Any:
        return ~self.visit_starts_with(term, literal)

    def _ordered(self, term: BoundTerm, compared: Any) -> Any:
        """Return a comparison by order, unknown for NaN."""
        return pc.if_else(self.visit_is_nan(term), UNKNOWN, compared) if _is_float(term) else compared

    def _column(self, term: BoundTerm) -> Any:
        if isinstance(term, BoundTransform):
            raise FeatureUnsupportedError(
                f"filter on {term.transform}({term.ref().field.name}): pyarrow cannot compute transforms; filter by the column, or scan the table"
            )
        column = pc.field(*self._path(term))
        # Arrow does not compare extension types, so UUIDs are compared as their storage.
        return column.cast(pa.binary(16)) if isinstance(term.value_type, UUIDType) else column

    def _path(self, term: BoundTerm) -> tuple[str, ...]:
        reference = term.ref()
        if self.schema is None:
            if reference.accessor.inner is not None:
                raise ValidationError(
                    f"filter on {reference.full_name}: a field of a struct; pass the schema that the filter is bound to"
                )
            return (reference.field.name,)
        path = _path_below(self.schema.fields, reference.field.field_id)
        if path is None:
            raise ValidationError(
                f"filter on {reference.field.name}: the schema has no column of id {reference.field.field_id}; "
                "pass the schema that the filter is bound to"
            )
        return path


def _path_below(fields: Iterable[NestedField], field_id: int) -> tuple[str, ...] | None:
    """Return the names of the structs around a field and of the field; None if the field is not below the given fields."""
    for field in fields:
        if field.field_id == field_id:
            return (field.name,)
        if isinstance(field.field_type, StructType):
            below = _path_below(field.field_type.fields, field_id)
            if below is not None:
                return (field.name, *below)
    return None


def _is_float(term: BoundTerm) -> bool:
    return isinstance(term.value_type, (FloatType, DoubleType))


def _storage_of(term: BoundTerm) -> pa.DataType:
    if isinstance(term.value_type, UUIDType):
        return pa.binary(16)
    assert isinstance(term.value_type, PrimitiveType)
    return primitive_to_arrow(term.value_type)


def _scalar(term: BoundTerm, literal: Literal) -> pa.Scalar:
    return pa.scalar(_raw(literal.value), _storage_of(term))


def _raw(value: Any) -> Any:
    """Return the bytes of a UUID; any other value unchanged."""
    return getattr(value, "bytes", value)
