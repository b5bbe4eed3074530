"""Transforms as Spark columns have the values of the Rust kernels, which shared vectors test."""

from __future__ import annotations

import datetime as dt
import decimal
import random

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.spark import functions as ice
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.to_spark import to_spark_type
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField, StructType

RANDOM = random.Random(5)
EPOCH = dt.datetime(1970, 1, 1)
MOMENTS = [
    EPOCH + dt.timedelta(microseconds=one) for one in (0, -1, 1, 86_400_000_000 - 1, -86_400_000_000, 10**15 + 7)
]
MOMENTS += [
    dt.datetime(1900, 1, 1, 0, 0, 0, 1),
    dt.datetime(2017, 11, 16, 22, 31, 8),
    dt.datetime(2024, 3, 10, 10, 30),
]
MOMENTS += [EPOCH + dt.timedelta(microseconds=RANDOM.randrange(-(10**15), 10**15)) for _ in range(200)]
COLUMNS = {
    "int": pa.array(
        [0, 1, -1, 34, 2**31 - 1, -(2**31), None, *(RANDOM.randrange(-(2**31), 2**31) for _ in range(200))], pa.int32()
    ),
    "long": pa.array(
        [0, 1, -1, 34, 2**63 - 1, -(2**63), None, *(RANDOM.randrange(-(2**63), 2**63) for _ in range(200))], pa.int64()
    ),
    "date": pa.array([moment.date() for moment in MOMENTS] + [None], pa.date32()),
    "timestamp": pa.array([*MOMENTS, None], pa.timestamp("us")),
    "timestamptz": pa.array([*MOMENTS, None], pa.timestamp("us", "UTC")),
    "string": pa.array(["", "a", "iceberg", "日本語テキスト", "a😀😀b", None], pa.string()),
    "binary": pa.array([b"", b"\x00\x01\x02\x03", b"iceberg", None], pa.binary()),
    "decimal(9, 2)": pa.array(
        [decimal.Decimal(text) for text in ("14.20", "-1.28", "0.00", "10.65", "-0.05")] + [None], pa.decimal128(9, 2)
    ),
    "decimal(38, 10)": pa.array(
        [decimal.Decimal("1234567890123456789.0123456789"), decimal.Decimal("-0.0000000001"), None],
        pa.decimal128(38, 10),
    ),
}
CASES = [
    *((f"bucket[{n}]", kind) for kind in COLUMNS for n in (1, 16, 1000)),
    *(
        (f"truncate[{w}]", kind)
        for kind in ("int", "long", "string", "binary", "decimal(9, 2)", "decimal(38, 10)")
        for w in (1, 3, 10)
    ),
    *((name, kind) for kind in ("date", "timestamp", "timestamptz") for name in ("year", "month", "day")),
    ("hour", "timestamp"),
    ("hour", "timestamptz"),
    ("identity", "string"),
]


@pytest.fixture(scope="module")
def frames(spark):
    def frame(kind, values):
        struct = StructType([StructField("at", LongType()), StructField("x", to_spark_type(kind))])
        return spark.createDataFrame(pa.table({"at": range(len(values)), "x": values}), struct).cache()

    return {kind: frame(kind, values) for kind, values in COLUMNS.items()}


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_functions_equal_the_rust_kernels(frames, name, kind):
    values = COLUMNS[kind]
    expected = values if name == "identity" else _core.transform(values, name, kind)
    found = (
        frames[kind].select("at", ice.transform(frames[kind], name, "x").alias("y")).orderBy("at").toArrow().column("y")
    )
    assert found.to_pylist() == expected.cast(found.type).to_pylist()


def test_functions_of_integers_run_without_python(frames):
    for kind in ("int", "long", "date", "timestamp", "timestamptz"):
        frame = frames[kind].select(ice.bucket(16, "x", source_type=kind))
        assert "ArrowEvalPython" not in frame._jdf.queryExecution().executedPlan().toString()


UNTYPED = {
    **{kind: (("bucket[16]", lambda: ice.bucket(16, "x")),) for kind in COLUMNS if not kind.startswith("decimal")},
    **{
        kind: (
            ("bucket[16]", lambda: ice.bucket(16, "x")),
            *((name[:-1], lambda name=name: getattr(ice, name)("x")) for name in names),
        )
        for kind, names in (
            ("date", ("years", "months", "days")),
            ("timestamp", ("years", "months", "days", "hours")),
            ("timestamptz", ("years", "months", "days", "hours")),
        )
    },
}


@pytest.mark.parametrize(("kind", "name", "made"), [(kind, *one) for kind, all_ in UNTYPED.items() for one in all_])
def test_functions_infer_the_source_type(frames, kind, name, made):
    found = frames[kind].select("at", made().alias("y")).orderBy("at").toArrow().column("y")
    expected = _core.transform(COLUMNS[kind], name, kind)
    assert found.to_pylist() == expected.cast(found.type).to_pylist()


def test_functions_of_inferred_types_run_without_python(frames):
    def plan(kind, column):
        return frames[kind].select(column)._jdf.queryExecution().executedPlan().toString()

    for kind in ("int", "long", "timestamp", "timestamptz"):
        assert "ArrowEvalPython" not in plan(kind, ice.bucket(16, "x"))
    for kind in ("date", "timestamp", "timestamptz"):
        assert "ArrowEvalPython" not in plan(kind, ice.months("x"))
    assert "ArrowEvalPython" in plan("string", ice.bucket(16, "x"))


def test_bucket_hashes_small_integers_as_ints(spark):
    values = [None, -128, 0, 34, 127]
    frame = spark.createDataFrame([(value,) for value in values], "x tinyint")
    found = frame.select(ice.bucket(100, "x"), ice.bucket(100, frame.x.cast("smallint")).alias("y")).collect()
    expected = _core.transform(pa.array(values, pa.int32()), "bucket[100]", "int").to_pylist()
    assert [tuple(row) for row in found] == list(zip(expected, expected, strict=True))


def test_functions_name_their_columns_after_the_call(frames):
    made = [
        ice.bucket(16, "x"),
        ice.truncate(10, "x", source_type="long"),
        ice.transform(frames["long"], "bucket[4]", "x"),
    ]
    assert frames["long"].select(*made).columns == ["bucket(16, x)", "truncate(10, x)", "bucket[4](x)"]
    assert frames["date"].select(ice.months("x")).filter("`months(x)` is null").count() == COLUMNS["date"].null_count


def test_truncate_requires_a_source_type():
    with pytest.raises(ValidationError, match="source_type"):
        ice.truncate(3, "x")


@pytest.mark.parametrize("count", [0, -1, 2**31])
def test_bucket_refuses_numbers_out_of_range(count):
    with pytest.raises(ValidationError, match="num_buckets"):
        ice.bucket(count, "x")


def test_schema_from_spark_assigns_ids_level_by_level(spark):
    frame = spark.range(1).select(
        "id", F.struct(F.lit(1).alias("a"), F.array(F.lit("x")).alias("b")).alias("s"), F.lit(2.5).alias("d")
    )
    schema = schema_from_spark(frame.schema)
    assert [field.field_id for field in schema.fields] == [1, 2, 3]
    assert schema.find_field("s.a").field_id == 4
    assert schema.find_field("s.b.element").field_id == 6
    assert schema.find_field("id").required
