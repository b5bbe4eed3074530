"""The bytes of the values of a DataFrame's columns, as a Spark expression."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as T  # noqa: N812  the name everyone uses

from icefloe.spark.types.conform import column_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

_FIXED_BYTES = 8
"""The bytes of a value of fixed width in a row of Spark, and of the place of another value."""


def row_bytes(frame: DataFrame, names: Sequence[str]) -> Column:
    """Return the bytes of the columns of a row.

    Values of fixed width are not read: Spark reads columns of strings, binary and nested values alone for the sum over all rows.

    Args:
        frame: Rows.
        names: Columns.
    """
    # A name that several columns have, in any case, is ambiguous.
    counts = Counter(name.lower() for name in frame.columns)
    readable = [name for name in names if counts[name.lower()] == 1]
    found = [_further_bytes(column_of(name), frame.schema[name].dataType) for name in readable]
    return _sum([F.lit(_FIXED_BYTES * len(names)).cast("bigint"), *(one for one in found if one is not None)])


def _further_bytes(value: Column, kind: Any) -> Column | None:
    """Return the bytes of a value beside its place in a row; None for a type of fixed width."""
    if isinstance(kind, T.StringType | T.CharType | T.VarcharType | T.BinaryType):
        return F.coalesce(F.octet_length(value), F.lit(0))
    if isinstance(kind, T.VariantType):
        return _further_bytes(value.cast("string"), T.StringType())
    if isinstance(kind, T.ArrayType):
        return _of_elements(value, kind.elementType)
    if isinstance(kind, T.MapType):
        keys, values = F.map_keys(value), F.map_values(value)
        return _of_elements(keys, kind.keyType) + _of_elements(values, kind.valueType)
    if isinstance(kind, T.StructType):
        found = [_further_bytes(value.getField(field.name), field.dataType) for field in kind.fields]
        return _sum([F.lit(_FIXED_BYTES * len(kind.fields)), *(one for one in found if one is not None)])
    return None


def _of_elements(array: Column, kind: Any) -> Column:
    """Return the bytes of the elements of an array."""
    fixed = F.coalesce(F.size(array), F.lit(0)) * _FIXED_BYTES
    if _further_bytes(F.lit(None), kind) is None:
        return fixed

    def added(total: Column, element: Column) -> Column:
        further = _further_bytes(element, kind)
        return total if further is None else total + further

    return fixed + F.coalesce(F.aggregate(array, F.lit(0).cast("bigint"), added), F.lit(0))


def _sum(parts: list[Column]) -> Column:
    return functools.reduce(lambda left, right: left + right, parts)
