"""Transforms as Spark columns have the values of the Rust kernels, which shared vectors test."""

from __future__ import annotations

import datetime as dt
import decimal
import random
import uuid

import pyarrow as pa
import pyspark
import pytest
from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.spark import functions as ice
from icefloe.spark.session import settings
from icefloe.spark.transform_udf import has_arrow_udf
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.to_spark import to_spark_type
from pyspark.errors import PySparkException
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


def _udf_cases():
    for kind in COLUMNS:
        yield kind, "bucket[16]"
        if kind.startswith(("int", "long", "string", "binary", "decimal")):
            yield kind, "truncate[3]"
        if kind in ("date", "timestamp", "timestamptz"):
            yield from ((kind, name) for name in ("year", "month", "day"))
        if kind.startswith("timestamp"):
            yield kind, "hour"


def _call(module, name, kind):
    function, _, number = name.removesuffix("]").partition("[")
    if number:
        return getattr(module, function)(int(number), kind)
    return getattr(module, f"{function}s")(kind)


def test_udfs_equal_the_rust_kernels(frames):
    for kind, given in COLUMNS.items():
        names = [name for own, name in _udf_cases() if own == kind]
        modules = [ice.pandas_udf] if pyspark.__version__ < "4.1" else [ice.pandas_udf, ice.arrow_udf]
        # pandas holds these longs, beside nulls, as doubles.
        of_pandas = frames[kind].where("x is not null") if kind == "long" else frames[kind]
        for module in modules if kind != "timestamptz" else modules[1:]:
            frame = of_pandas if module is ice.pandas_udf else frames[kind]
            columns = [_call(module, name, kind)("x").alias(f"y{number}") for number, name in enumerate(names)]
            found = frame.select("at", *columns).orderBy("at").toArrow()
            values = given.take(found["at"].combine_chunks())
            for number, name in enumerate(names):
                result = found[f"y{number}"]
                assert result.to_pylist() == _core.transform(values, name, kind).cast(result.type).to_pylist(), (
                    kind,
                    name,
                )


def test_pandas_udf_refuses_longs_that_doubles_cannot_hold(frames):
    with pytest.raises(PySparkException, match="integers with nulls as doubles"):
        frames["long"].select(ice.pandas_udf.bucket(16)("x")).collect()


def test_pandas_udf_refuses_timestamps_without_their_zone(frames):
    with pytest.raises(PySparkException, match="without their zone"):
        frames["timestamptz"].select(ice.pandas_udf.days("timestamptz")("x")).collect()


def test_sql_functions_equal_the_rust_kernels(spark, frames):
    names = ice.register(spark, decimals=["decimal(9, 2)"])
    assert "iceberg_truncate_decimal_9_2" in names
    for kind, values in COLUMNS.items():
        if kind == "decimal(38, 10)":
            continue
        # Before Spark 4.1 the functions are pandas UDFs, which hold these longs, beside nulls, as doubles.
        whole = has_arrow_udf() or kind != "long"
        frame = frames[kind] if whole else frames[kind].where("x is not null")
        given = values if whole else values.drop_null()
        frame.createOrReplaceTempView("source")
        calls = [
            f"iceberg_{'bucket(16, x)' if name.startswith('bucket') else _sql(name, kind)}"
            for own, name in _udf_cases()
            if own == kind
        ]
        called = spark.sql(
            f"SELECT {', '.join(f'{call} AS y{n}' for n, call in enumerate(calls))} FROM source ORDER BY at"
        )
        if not has_arrow_udf() and kind.startswith("timestamp"):
            with pytest.raises(PySparkException, match="pandas gets timestamps without their zone"):
                called.toArrow()
            continue
        found = called.toArrow()
        for number, name in enumerate(name for own, name in _udf_cases() if own == kind):
            result = found[f"y{number}"]
            assert result.to_pylist() == _core.transform(given, name, kind).cast(result.type).to_pylist(), (kind, name)


def _sql(name, kind):
    if name.startswith("truncate"):
        return f"truncate_{kind.replace('(', '_').replace(', ', '_').removesuffix(')')}(3, x)"
    return f"{name}s(x)"


def test_sql_functions_take_a_parameter_from_each_row_and_nulls(spark):
    ice.register(spark, prefix="ib_")
    rows = spark.sql(
        "SELECT ib_bucket(n, x) FROM VALUES (16, 34L), (1, 34L), (NULL, 34L), (16, NULL) AS v(n, x)"
    ).collect()
    assert [row[0] for row in rows] == [3, 0, None, None]
    with pytest.raises(PySparkException, match="num_buckets: out of range"):
        spark.sql("SELECT ib_bucket(0, 34L)").collect()
    with pytest.raises(PySparkException, match="does not apply to values of type double"):
        spark.sql("SELECT ib_bucket(16, 1.5D)").collect()
    with pytest.raises(ValidationError, match="prefix"):
        ice.register(spark, prefix="a.b")


def test_bucket_of_types_that_spark_shows_as_others(spark):
    value = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    frame = spark.createDataFrame([(str(value), bytearray(b"\x00\x01\x02\x03"))], "u string, f binary")
    found = frame.select(ice.bucket(100, "u", source_type="uuid"), ice.bucket(100, "f", source_type="fixed[4]")).first()
    expected = (
        _core.transform(pa.array([value.bytes], pa.binary(16)), "bucket[100]", "uuid")[0].as_py(),
        _core.transform(pa.array([b"\x00\x01\x02\x03"], pa.binary(4)), "bucket[100]", "fixed[4]")[0].as_py(),
    )
    assert tuple(found) == expected
    with pytest.raises(PySparkException, match=r"expected values of type fixed\[3\]"):
        frame.select(ice.bucket(100, "f", source_type="fixed[3]")).collect()


@pytest.mark.skipif(pyspark.__version__ < "4.1", reason="Spark has the type TIME since 4.1")
def test_bucket_of_times(spark):
    with settings(spark, {"spark.sql.timeType.enabled": "true"}):
        found = (
            spark.sql("SELECT TIME'22:31:08' AS t")
            .select(ice.bucket(100, "t"), ice.bucket(100, "t", source_type="time"))
            .first()
        )
    expected = _core.transform(pa.array([dt.time(22, 31, 8)], pa.time64("us")), "bucket[100]", "time")[0].as_py()
    assert tuple(found) == (expected, expected)


@pytest.mark.parametrize(
    ("name", "column"),
    [("bucket[4]", "d"), ("bucket[4]", "s"), ("truncate[4]", "t"), ("year", "i"), ("hour", "day"), ("day", "a")],
)
def test_transform_of_a_type_that_it_does_not_take_is_refused(spark, name, column):
    frame = spark.sql(
        "SELECT 1 AS i, 1.5D AS d, named_struct('a', 1) AS s, current_timestamp() AS t, current_date() AS day, array(1) AS a"
    )
    with pytest.raises(ValidationError, match=r"the transform does not apply to type .*; expected .*, got "):
        ice.transform(frame, name, column)


def test_transform_of_a_given_type_that_it_does_not_take_is_refused():
    for call in (
        lambda: ice.bucket(4, "x", source_type="double"),
        lambda: ice.truncate(4, "x", source_type="date"),
        lambda: ice.hours("x", source_type="date"),
    ):
        with pytest.raises(ValidationError, match="the transform does not apply to type"):
            call()
