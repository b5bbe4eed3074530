"""A row filter, in the expression JSON of the REST specification, as a Spark column.

A comparison with null is null, and so is its negation, as in Spark. NaN has no order and equals no literal, as in icefloe's other
readers; in Spark NaN equals itself and is above all numbers.
"""

from __future__ import annotations

import decimal
import operator
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import FeatureUnsupportedError, ResolveError
from icefloe.spark.types.conform import column_of
from icefloe.spark.types.to_spark import primitive_name, to_spark_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column

_COMPARISONS = {
    "lt": operator.lt,
    "lt-eq": operator.le,
    "gt": operator.gt,
    "gt-eq": operator.ge,
    "eq": operator.eq,
}
_CONSTANTS = {"true": True, "false": False}
_COUNTERPARTS = {
    "lt": "gt-eq",
    "gt": "lt-eq",
    "eq": "not-eq",
    "in": "not-in",
    "starts-with": "not-starts-with",
    "is-null": "not-null",
    "is-nan": "not-nan",
}
_COUNTERPARTS |= {other: one for one, other in _COUNTERPARTS.items()}


def predicate_column(predicate: Any, schema: Mapping[str, Any], *, negated: bool = False) -> Column:
    """Return a predicate as a boolean column.

    Args:
        predicate: Decoded predicate JSON; its terms are dotted column names.
        schema: Decoded JSON of the schema of the terms.
        negated: Return the negation.

    Raises:
        ResolveError: A term is no column.
        FeatureUnsupportedError: A term is a transform, or the operator is unknown.
    """
    if isinstance(predicate, bool):
        return F.lit(predicate is not negated)
    kind = predicate["type"]
    if kind in _CONSTANTS:
        return F.lit(_CONSTANTS[kind] is not negated)
    if kind in ("and", "or"):
        left, right = (predicate_column(predicate[side], schema, negated=negated) for side in ("left", "right"))
        return left & right if (kind == "and") is not negated else left | right
    if kind == "not":
        return predicate_column(predicate["child"], schema, negated=not negated)
    return _leaf(_COUNTERPARTS.get(kind, kind) if negated else kind, predicate, schema)


def _leaf(kind: str, predicate: Mapping[str, Any], schema: Mapping[str, Any]) -> Column:
    term = predicate["term"]
    if not isinstance(term, str):
        raise FeatureUnsupportedError(
            f"filter: a Spark column has no transform of the table format; expected a column name, got {term}"
        )
    column, iceberg_type = column_of(*term.split(".")), _type_of(term, schema)
    floating = iceberg_type in ("float", "double")
    if floating and (kind in ("not-eq", "not-in") or 0 in (predicate.get("value"), *predicate.get("values", ()))):
        # Adding 0.0 prevents row-group pruning, which would distinguish -0.0 from 0.0, and would skip a row group of one number
        # and NaN for `!=`: its statistics hold the number alone.
        column = column + F.lit(0.0).cast(iceberg_type)
    if kind in _COMPARISONS:
        compared: Column = _COMPARISONS[kind](column, _literal(predicate["value"], iceberg_type))
        return compared & ~_is_nan(column) if floating and kind in ("gt", "gt-eq") else compared
    if kind == "not-eq":
        return column != _literal(predicate["value"], iceberg_type)
    if kind in ("in", "not-in"):
        return _membership(kind, column, [_literal(value, iceberg_type) for value in predicate["values"]])
    if kind == "starts-with":
        return F.startswith(column, F.lit(predicate["value"]))
    if kind == "not-starts-with":
        return ~F.startswith(column, F.lit(predicate["value"]))
    if kind in ("is-null", "not-null"):
        return column.isNull() if kind == "is-null" else column.isNotNull()
    if kind in ("is-nan", "not-nan"):
        return _is_nan(column) if kind == "is-nan" else ~_is_nan(column)
    raise FeatureUnsupportedError(
        f"filter: unknown operator; expected an operator of the REST specification, got {kind!r}"
    )


def _membership(kind: str, column: Column, values: list[Column]) -> Column:
    if kind == "in":
        return column.isin(*values) if values else F.lit(False)
    return ~column.isin(*values) if values else F.lit(True)


def _is_nan(column: Column) -> Column:
    return F.coalesce(F.isnan(column), F.lit(False))


def _literal(value: Any, iceberg_type: str) -> Column:
    """Return a JSON literal as a Spark literal of the column's type, so that Spark widens neither in a comparison."""
    if iceberg_type in ("int", "long"):
        return F.lit(value) if not isinstance(value, str) else F.lit(decimal.Decimal(value))
    if iceberg_type == "binary" or iceberg_type.startswith("fixed"):
        return F.unhex(F.lit(value))
    if iceberg_type.startswith("decimal"):
        return F.lit(decimal.Decimal(str(value)))
    if iceberg_type in ("string", "uuid"):
        return F.lit(str(value))
    if iceberg_type == "timestamptz":
        return _instant(str(value))
    return F.lit(value).cast(to_spark_type(iceberg_type))


def _instant(text: str) -> Column:
    """Return a timestamptz literal; text without an offset is in UTC, in any time zone of the session."""
    time = text[10:]
    has_offset = "+" in time or "-" in time or time.endswith("Z")
    return F.lit(text if has_offset else f"{text}+00:00").cast("timestamp")


def _type_of(term: str, schema: Mapping[str, Any]) -> str:
    """Return the name of the type of a column or struct field by its dotted name."""
    current: Any = schema
    for part in term.split("."):
        fields = current.get("fields", []) if not isinstance(current, str) else []
        field = next((field for field in fields if field["name"] == part), None)
        if field is None:
            raise ResolveError(
                f"filter: there is no column {term!r}; expected one of {', '.join(field['name'] for field in fields)}, got {part!r}"
            )
        current = field["type"]
    return primitive_name(current)
