"""A row filter, in the expression JSON of the REST specification, as text of a Spark SQL condition.

A comparison with null is null, and so is its negation, as in Spark. NaN has no order and equals no literal, as in icefloe's other
readers; in Spark NaN equals itself and is above all numbers.

A condition in one text reaches the JVM in one call. A condition of ``Column`` objects takes 17 calls for each operator.
"""

from __future__ import annotations

import decimal
import re
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ResolveError
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.to_spark import primitive_name, to_spark_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Text that means the same under every setting of Spark's parser: without quotes, escapes and variables such as ${name}.
_PLAIN_TEXT = re.compile(r"[A-Za-z0-9 _.,:+-]*")
_COMPARISONS = {"lt": "<", "lt-eq": "<=", "gt": ">", "gt-eq": ">=", "eq": "=", "not-eq": "!="}
_CONSTANTS = {"true": True, "false": False}
_OPERATORS = {"and": "or", "or": "and"}
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


def predicate_text(predicate: Any, schema: Mapping[str, Any], *, negated: bool = False) -> str:
    """Return a predicate as a condition of Spark SQL, in parentheses where another operator may follow.

    Args:
        predicate: Decoded predicate JSON; its terms are dotted column names.
        schema: Decoded JSON of the schema of the terms.
        negated: Return the negation.

    Raises:
        ResolveError: A term is no column.
        FeatureUnsupportedError: A term is a transform, or the operator is unknown.

    Examples:
        >>> schema = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": False, "type": "date"}]}
        >>> predicate_text({"type": "lt", "term": "a", "value": "2026-01-31"}, schema)
        "(`a` < CAST('2026-01-31' AS date))"
    """
    if isinstance(predicate, bool):
        return _boolean(predicate is not negated)
    kind = predicate["type"]
    if kind in _CONSTANTS:
        return _boolean(_CONSTANTS[kind] is not negated)
    if kind == "not":
        return predicate_text(predicate["child"], schema, negated=not negated)
    if kind in _OPERATORS:
        # Spark's parser takes a chain of one operator in a loop, and parentheses within parentheses recursively.
        parts = [predicate_text(part, schema, negated=negated) for part in _operands(kind, predicate)]
        return f"({f' {_OPERATORS[kind] if negated else kind} '.join(parts)})"
    return f"({_leaf(_COUNTERPARTS.get(kind, kind) if negated else kind, predicate, schema)})"


def _operands(kind: str, predicate: Any) -> Iterator[Any]:
    """Yield the operands of a chain of one operator, from left to right."""
    remaining = [predicate]
    while remaining:
        one = remaining.pop()
        if isinstance(one, dict) and one["type"] == kind:
            remaining += [one["right"], one["left"]]
        else:
            yield one


def _leaf(kind: str, predicate: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    term = predicate["term"]
    if not isinstance(term, str):
        raise FeatureUnsupportedError(
            f"filter: a Spark column has no transform of the table format; expected a column name, got {term}"
        )
    column, iceberg_type = _column(term.split(".")), _type_of(term, schema)
    floating = iceberg_type in ("float", "double")
    if floating and (kind in ("not-eq", "not-in") or 0 in (predicate.get("value"), *predicate.get("values", ()))):
        # Adding 0.0 prevents row-group pruning, which would distinguish -0.0 from 0.0, and would skip a row group of one number
        # and NaN for `!=`: its statistics hold the number alone.
        column = f"({column} + CAST(0.0D AS {iceberg_type}))"
    if kind in _COMPARISONS:
        compared = f"{column} {_COMPARISONS[kind]} {_literal(predicate['value'], iceberg_type)}"
        return f"{compared} AND NOT {_is_nan(column)}" if floating and kind in ("gt", "gt-eq") else compared
    if kind in ("in", "not-in"):
        return _membership(kind, column, [_literal(value, iceberg_type) for value in predicate["values"]])
    if kind in ("starts-with", "not-starts-with"):
        return f"{_negation(kind)}startswith({column}, {_text(predicate['value'])})"
    if kind in ("is-null", "not-null"):
        return f"{column} IS {_negation(kind)}NULL"
    if kind in ("is-nan", "not-nan"):
        return f"{_negation(kind)}{_is_nan(column)}"
    raise FeatureUnsupportedError(
        f"filter: unknown operator; expected an operator of the REST specification, got {kind!r}"
    )


def _negation(kind: str) -> str:
    return "NOT " if kind.startswith("not-") else ""


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _membership(kind: str, column: str, values: Sequence[str]) -> str:
    return f"{column} {_negation(kind)}IN ({', '.join(values)})" if values else _boolean(kind != "in")


def _is_nan(column: str) -> str:
    return f"coalesce(isnan({column}), false)"


def _column(path: Sequence[str]) -> str:
    """Return the name of a column or struct field; Spark's parser would replace a variable also within backticks."""
    name = ".".join(quoted(part) for part in path)
    return f"IDENTIFIER({_text(name)})" if "${" in name else name


def _text(value: str) -> str:
    """Return a string literal whose text no setting of Spark's parser changes."""
    return f"'{value}'" if _PLAIN_TEXT.fullmatch(value) else f"CAST(X'{value.encode().hex()}' AS STRING)"


def _literal(value: Any, iceberg_type: str) -> str:
    """Return a JSON literal as a Spark literal of the column's type, so that Spark widens neither in a comparison."""
    if iceberg_type in ("int", "long") and not isinstance(value, str):
        return str(value)
    if iceberg_type in ("int", "long") or iceberg_type.startswith("decimal"):
        return f"{decimal.Decimal(str(value)):f}BD"
    if iceberg_type == "binary" or iceberg_type.startswith("fixed"):
        return f"X'{value}'"
    if iceberg_type in ("string", "uuid"):
        return _text(str(value))
    if iceberg_type == "timestamptz":
        return f"CAST({_text(_instant(str(value)))} AS TIMESTAMP_LTZ)"
    return f"CAST({_text(str(value))} AS {to_spark_type(iceberg_type).simpleString()})"


def _instant(text: str) -> str:
    """Return the text of a timestamptz with its offset; text without one is in UTC, in any time zone of the session."""
    time = text[10:]
    return text if "+" in time or "-" in time or time.endswith("Z") else f"{text}+00:00"


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
