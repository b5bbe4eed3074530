"""The Rust transform kernels as Spark UDFs, for source types without an equal built-in expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyspark
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe import _core
from icefloe.spark.types.to_spark import to_spark_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

_KERNELS = {"year": "years", "month": "months", "day": "days", "hour": "hours"}


def rust_transform(name: str, source_type: str | None, source: Column) -> Column:
    """Return a transform of a column computed by the Rust kernels on executors.

    Args:
        name: Text of the transform.
        source_type: Iceberg type name; None for the Arrow type of the values.
        source: Source column.
    """
    result = _result_type(name, source_type)
    functions: Any = F  # its stubs do not have arrow_udf and pandas_udf

    def apply(values: Any) -> Any:
        array = pa.Array.from_pandas(values) if not isinstance(values, pa.Array) else values
        return _transformed(name, source_type, array)

    if _has_arrow_udf():
        column: Column = functions.arrow_udf(_typed(apply, pa.Array), result)(source)
        return column
    import pandas as pd

    series: Column = functions.pandas_udf(_typed(lambda values: apply(values).to_pandas(), pd.Series), result)(source)
    return series


def _transformed(name: str, source_type: str | None, array: pa.Array) -> pa.Array:
    if source_type is not None:
        return _core.transform(array, name, source_type)
    if name in _KERNELS:
        return getattr(_core, _KERNELS[name])(array)
    return _core.bucket(array, int(name.removeprefix("bucket[").removesuffix("]")))


def _result_type(name: str, source_type: str | None) -> Any:
    if name == "day":
        return "date"
    if name.startswith("truncate[") and source_type is not None:
        return to_spark_type(source_type)
    return "int"


def _typed(function: Callable[[Any], Any], of: Any) -> Callable[[Any], Any]:
    """Return a function with type hints, from which Spark infers the kind of a UDF."""

    def udf(values: Any) -> Any:
        return function(values)

    udf.__annotations__ = {"values": of, "return": of}
    return udf


def _has_arrow_udf() -> bool:
    major, minor = (int(part) for part in pyspark.__version__.split(".")[:2])
    return (major, minor) >= (4, 1)
