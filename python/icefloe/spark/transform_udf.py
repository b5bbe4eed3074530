"""The Rust transform kernels as Spark UDFs, for source types without an equal built-in expression.

Values arrive in the Arrow types that Spark has: a ``uuid`` as text, a ``fixed`` as binary, a ``time`` in nanoseconds, and, in pandas
UDFs, integers with nulls as doubles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyspark
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe import _core
from icefloe.arguments import checked_integer
from icefloe.exceptions import FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.spark.types.stored_types import stored_type
from icefloe.spark.types.to_spark import to_spark_type
from icefloe.spark.types.uuid_text import text_to_uuid
from icefloe.spark.worker_process import reduce_fixed_costs

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

_KERNELS = {"year": "years", "month": "months", "day": "days", "hour": "hours"}
_EXACT_IN_DOUBLES = 2**53
MAX_PARAMETER = 2**31 - 1


def rust_transform(name: str, source_type: str | None, source: Column) -> Column:
    """Return a transform of a column computed by the Rust kernels on executors.

    Args:
        name: Text of the transform.
        source_type: Iceberg type name; None for the Arrow type of the values.
        source: Source column.
    """
    made = arrow_udf_of(name, source_type) if has_arrow_udf() else pandas_udf_of(name, source_type)
    column: Column = made(source)
    return column


def arrow_udf_of(name: str, source_type: str | None) -> Any:
    """Return a transform as an Arrow UDF of one column.

    Raises:
        FeatureUnsupportedError: Spark is older than 4.1.
    """
    if not has_arrow_udf():
        raise FeatureUnsupportedError(
            f"arrow_udf: expected Spark 4.1 or newer, got {pyspark.__version__}: use functions.pandas_udf"
        )
    return udf_of(lambda values: transformed(name, source_type, values), result_type(name, source_type), 1)


def pandas_udf_of(name: str, source_type: str | None) -> Any:
    """Return a transform as a pandas UDF of one column."""

    def function(values: pa.Array) -> pa.Array:
        if pa.types.is_timestamp(values.type) and source_type != "timestamp":
            raise FeatureUnsupportedError(
                "pandas_udf: pandas gets timestamps without their zone; expected source_type='timestamp' for timestamp_ntz, got "
                f"{source_type}: use functions.arrow_udf, or the functions of icefloe.spark.functions"
            )
        return transformed(name, source_type, values)

    return udf_of(function, result_type(name, source_type), 1, pandas=True)


def udf_of(function: Callable[..., pa.Array], result: Any, arguments: int, *, pandas: bool = False) -> Any:
    """Return a function of Arrow arrays as an Arrow UDF, or as a pandas UDF.

    Args:
        function: The function.
        result: Spark type of its result.
        arguments: Number of its arguments, 1 or 2.
        pandas: Make a pandas UDF.
    """
    functions: Any = F  # its stubs do not have arrow_udf and pandas_udf

    def in_worker(*arrays: pa.Array) -> pa.Array:
        reduce_fixed_costs()
        return function(*arrays)

    if not pandas:
        return functions.arrow_udf(_typed(in_worker, pa.Array, arguments), result)
    import pandas as pd

    def of_series(*series: Any) -> Any:
        return in_worker(*[_array_of(one) for one in series]).to_pandas()

    return functions.pandas_udf(_typed(of_series, pd.Series, arguments), result)


def transformed(name: str, source_type: str | None, values: pa.Array) -> pa.Array:
    """Return the transform of an array in the types of Spark.

    Args:
        name: Text of the transform.
        source_type: Iceberg type name; None for the Arrow type of the values.
        values: Values.

    Returns:
        Array of the same length, null where the source is null.

    Raises:
        ValidationError: The transform does not apply to the type.
    """
    if pa.types.is_null(values.type):
        return values if name.startswith("truncate[") else values.cast(pa.date32() if name == "day" else pa.int32())
    if source_type is not None:
        return _core.transform(_as_stored(values, source_type), name, source_type)
    if pa.types.is_time(values.type):
        values = values.cast(pa.time64("us"))
    if name in _KERNELS:
        return getattr(_core, _KERNELS[name])(values)
    kind, _, number = name.removesuffix("]").partition("[")
    return _core.bucket(values, int(number)) if kind == "bucket" else _core.truncate(values, int(number))


def parametrised(kind: str, source_type: str | None, numbers: pa.Array, values: pa.Array) -> pa.Array:
    """Return ``bucket`` or ``truncate`` of an array with a parameter for each row, as SQL passes it.

    Args:
        kind: ``bucket`` or ``truncate``.
        source_type: Iceberg type name; None for the Arrow type of the values.
        numbers: int array of parameters; the result is null where it is null.
        values: Values.

    Raises:
        ValidationError: A parameter is out of range, or the transform does not apply to the type.
    """
    result = None
    for parameter in pc.unique(numbers).drop_null().to_pylist():
        number = int(parameter)
        check_parameter("num_buckets" if kind == "bucket" else "width", number)
        part = transformed(f"{kind}[{number}]", source_type, values)
        if result is None and numbers.null_count == 0 and len(pc.unique(numbers)) == 1:
            return part
        nothing = pa.nulls(len(values), part.type) if result is None else result
        result = pc.if_else(pc.fill_null(pc.equal(numbers, number), False), part, nothing)
    return pa.nulls(len(values)) if result is None else result


def result_type(name: str, source_type: str | None) -> Any:
    """Return the Spark type of a transform's result."""
    if name == "day":
        return "date"
    if name.startswith("truncate[") and source_type is not None:
        return to_spark_type(source_type)
    return "int"


def check_parameter(argument: str, value: int) -> None:
    """Check a number of buckets or a width.

    Raises:
        ValidationError: The value is no whole number, or not from 1 to 2**31 - 1.
    """
    if not 1 <= checked_integer(argument, value) <= MAX_PARAMETER:
        raise ValidationError(f"{argument}: out of range; expected 1 to {MAX_PARAMETER}, got {value}")


def has_arrow_udf() -> bool:
    """Return whether Spark has Arrow UDFs."""
    major, minor = (int(part) for part in pyspark.__version__.split(".")[:2])
    return (major, minor) >= (4, 1)


def _as_stored(values: pa.Array, source_type: str) -> pa.Array:
    """Return values from Spark in the Arrow type that the kernels have for an Iceberg type."""
    if source_type == "time":
        return values.cast(pa.time64("us"))
    if pa.types.is_timestamp(values.type):
        return values
    wanted = stored_type(source_type, source_type)
    if source_type == "uuid" and not pa.types.is_fixed_size_binary(values.type) and not pa.types.is_binary(values.type):
        return text_to_uuid(values, source_type)
    try:
        return values if values.type == wanted else values.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaMismatchError(
            f"transform: expected values of type {source_type}, got {values.type}: {error}"
        ) from error


def _array_of(series: Any) -> pa.Array:
    """Return a pandas series as an array; doubles beside nulls are integers, because no transform has floats as source."""
    array = pa.Array.from_pandas(series)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_timestamp(array.type):
        return array.cast(pa.timestamp("us"))
    if not pa.types.is_floating(array.type) or array.null_count == 0:
        return array
    largest = pc.max(pc.abs(array)).as_py()
    if largest is not None and largest >= _EXACT_IN_DOUBLES:
        raise FeatureUnsupportedError(
            "pandas_udf: pandas holds integers with nulls as doubles; expected values below 2**53 beside nulls, got larger ones: use "
            "functions.bucket() and functions.truncate()"
        )
    return array.cast(pa.int64())


def _typed(function: Callable[..., Any], of: Any, arguments: int) -> Callable[..., Any]:
    """Return a function with type hints, from which Spark infers the kind of a UDF."""

    def one(values: Any) -> Any:
        return function(values)

    def two(parameters: Any, values: Any) -> Any:
        return function(parameters, values)

    udf: Any = one if arguments == 1 else two
    udf.__annotations__ = (
        {"values": of, "return": of} if arguments == 1 else {"parameters": of, "values": of, "return": of}
    )
    return udf  # type: ignore[no-any-return]
