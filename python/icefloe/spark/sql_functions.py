"""Iceberg's partition transforms as functions of Spark SQL.

Without a jar Spark has no functions with a namespace, such as ``system.bucket`` of the Java runtime; a prefix takes its place. Spark gives
a registered function one type of result, so there is one ``truncate`` for each type. Statements of ``icefloe.spark.sql`` may call the
functions of an attached catalog by their full names.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe.arguments import checked_names, checked_text
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.session import active_session
from icefloe.spark.transform_udf import has_arrow_udf, parametrised, result_type, transformed, udf_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TEMPORAL = {"years": "year", "months": "month", "days": "day", "hours": "hour"}
_TRUNCATED = {"string": "string", "binary": "binary", "int": "int", "long": "bigint"}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")


def register(spark: Any = None, *, prefix: str = "iceberg_", decimals: Sequence[str] = ()) -> list[str]:
    """Register the transforms as temporary functions of a session's SQL.

    The functions are ``iceberg_bucket(N, x)``, ``iceberg_years(x)``, ``iceberg_months(x)``, ``iceberg_days(x)``, ``iceberg_hours(x)``,
    and ``iceberg_truncate_string(W, x)``, likewise for ``binary``, ``int`` and ``long``. Their arguments have the order of the Java
    runtime's. They run the Rust kernels in UDFs. On Spark 4.0, which has no Arrow UDFs, a query that passes them a timestamp fails.

    Args:
        spark: Session; the active one if None.
        prefix: Beginning of the names.
        decimals: Types with a function of their own: ``decimal(9, 2)`` registers ``iceberg_truncate_decimal_9_2(W, x)``.

    Returns:
        The names.

    Raises:
        ValidationError: The prefix makes no SQL name, a type is no decimal, or there is no session.

    Examples:
        >>> names = icefloe.spark.functions.register(spark)
        >>> spark.sql("SELECT iceberg_bucket(16, 34L) AS bucket, iceberg_truncate_string(3, 'iceberg') AS prefix").collect()
        [Row(bucket=3, prefix='ice')]
    """
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|", checked_text("prefix", prefix)) is None:
        raise ValidationError(f"prefix: expected letters, digits and underscores, got {prefix!r}")
    made = {"bucket": (functools.partial(parametrised, "bucket", None), "int", 2)}
    for function, name in _TEMPORAL.items():
        made[function] = (functools.partial(transformed, name, None), result_type(name, None), 1)
    for name, spark_type in {**_TRUNCATED, **dict(map(_of_decimal, checked_names("decimals", decimals)))}.items():
        # pandas UDFs get ints beside nulls as doubles, which would be truncated as longs.
        source_type = name if name == "int" else None
        made[f"truncate_{name}"] = (functools.partial(parametrised, "truncate", source_type), spark_type, 2)
    session = active_session(spark)
    for function, (kernel, result, arguments) in made.items():
        pandas = not has_arrow_udf()
        udf = udf_of(functools.partial(_of_pandas, kernel) if pandas else kernel, result, arguments, pandas=pandas)
        session.udf.register(prefix + function, udf)
    return [prefix + function for function in made]


def registered(spark: Any, kind: str, spark_type: str | None = None) -> str:
    """Register ``bucket``, or ``truncate`` of one type, as a temporary function of a session's SQL, and return its name.

    Args:
        spark: Session.
        kind: ``bucket`` or ``truncate``.
        spark_type: Type of the result in Spark; None for a number of a bucket.

    Returns:
        The name of a function of a number of buckets, or a width, and a value.
    """
    name = "_".join(["icefloe", kind, *re.findall(r"\w+", spark_type or "")])
    kernel, pandas = functools.partial(parametrised, kind, None), not has_arrow_udf()
    udf = udf_of(functools.partial(_of_pandas, kernel) if pandas else kernel, spark_type or "int", 2, pandas=pandas)
    spark.udf.register(name, udf)
    return name


def _of_pandas(kernel: Callable[..., pa.Array], *arrays: pa.Array) -> pa.Array:
    """Return the kernel's result for arguments of a pandas UDF."""
    if any(pa.types.is_timestamp(one.type) for one in arrays):
        raise FeatureUnsupportedError(
            "SQL functions: pandas gets timestamps without their zone; expected Spark 4.1 or newer for a timestamp, got Spark 4.0: "
            "use the columns of icefloe.spark.functions"
        )
    return kernel(*arrays)


def _of_decimal(text: str) -> tuple[str, str]:
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise ValidationError(f"decimals: expected types such as 'decimal(9, 2)', got {text!r}")
    return f"decimal_{found[1]}_{found[2]}", f"decimal({found[1]},{found[2]})"
