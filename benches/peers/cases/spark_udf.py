"""The bucket transform of twenty million longs in Spark: built-in, and as an Arrow UDF beside one that returns its input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peers.case import Case, Work
from peers.spark_session import JVM_WARM_UPS, plain_session, to_noop

ROWS = 20_000_000


def prepare(data: Path) -> None:
    """Nothing: the longs are a range."""


def built_in() -> Any:
    from icefloe.spark import functions

    return functions.bucket(16, "id")


def rust_udf() -> Any:
    from icefloe.spark.transform_udf import rust_transform
    from pyspark.sql import functions

    return rust_transform("bucket[16]", "long", functions.col("id"))


def identity_udf() -> Any:
    import pyarrow as pa
    from pyspark.sql import functions

    def same(values: pa.Array) -> pa.Array:
        return values

    # Spark looks at the annotations themselves, which are text in this module.
    same.__annotations__ = {"values": pa.Array, "return": pa.Array}
    return functions.arrow_udf(same, "long")("id")


def over_range(column: Any):
    def setup(_data: Path) -> Work:
        spark = plain_session()

        def work() -> int:
            to_noop(spark.range(0, ROWS, 1, 2).select(column()))
            return ROWS

        return work

    return setup


CASES = [
    Case(
        name="spark_udf",
        what=f"Spark, local[2]: bucket[16] of {ROWS // 1_000_000} million longs to noop",
        prepare=prepare,
        warm_ups=JVM_WARM_UPS,
        contenders={
            "icefloe bucket, built-in": over_range(built_in),
            "icefloe bucket, Arrow UDF": over_range(rust_udf),
            "identity, Arrow UDF": over_range(identity_udf),
        },
        floors=frozenset({"identity, Arrow UDF"}),
    )
]
