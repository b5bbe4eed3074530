"""``write_to``: verbs on existing tables, and tables created and replaced together with their rows."""

from __future__ import annotations

import itertools

import icefloe.spark
import pytest
from icefloe.exceptions import (
    FeatureUnsupportedError,
    NoSuchTableError,
    SchemaMismatchError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.expressions import EqualTo
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql.types import StructType

NUMBERS = itertools.count()


@pytest.fixture
def name():
    return f"db.w{next(NUMBERS)}"


@pytest.fixture
def frame(spark):
    return spark.range(20).select(
        "id", (F.col("id") % 2).cast("int").alias("kind"), F.expr("if(id >= 0, 'x', null)").alias("name")
    )


def test_create_writes_table_and_rows_in_one_commit(frame, catalog, name):
    write = icefloe.spark.write_to(frame, name, catalog).using("iceberg").table_property("owner", "me")
    write.partitioned_by("kind", "bucket(4, id)").option("snapshot-property.job", "first").create()
    table = catalog.load_table(name)
    assert [str(field.transform) for field in table.spec().fields] == ["identity", "bucket[4]"]
    assert [field.name for field in table.spec().fields] == ["kind", "id_bucket"]
    assert table.properties["owner"] == "me"
    assert table.scan().count() == 20
    assert len(table.metadata.metadata_log) == 0
    assert table.current_snapshot().summary["job"] == "first"
    with pytest.raises(TableAlreadyExistsError):
        write.create()


def test_create_refuses_a_metrics_mode_of_an_unknown_column(frame, catalog, name):
    write = icefloe.spark.write_to(frame, name, catalog).table_property("write.metadata.metrics.column.nope", "full")
    for create in (write.create, write.create_or_replace):
        with pytest.raises(ValidationError, match=r"metrics\.column\.nope: Could not find field with name nope"):
            create()
    assert not catalog.table_exists(name)


def test_partitioned_by_takes_spark_columns(frame, catalog, name):
    rows = frame.withColumn("at", F.timestamp_seconds("id"))
    partition = F.partitioning
    fields = (partition.days("at"), partition.bucket(8, "id"), F.col("kind"))
    icefloe.spark.write_to(rows, name, catalog).partitioned_by(*fields, "truncate(1, name)").create()
    spec = catalog.load_table(name).spec()
    assert [str(field.transform) for field in spec.fields] == ["day", "bucket[8]", "identity", "truncate[1]"]


def test_failed_create_leaves_no_table(frame, catalog, name):
    failing = frame.withColumn(
        "name", F.when(F.col("id") == 19, F.raise_error(F.lit("bad row"))).otherwise(F.col("name"))
    )
    with pytest.raises(PySparkException, match="bad row"):
        icefloe.spark.write_to(failing, name, catalog).create()
    assert not catalog.table_exists(name)


def test_replace_reads_the_table_it_replaces(spark, frame, catalog, name):
    with pytest.raises(NoSuchTableError):
        icefloe.spark.write_to(frame, name, catalog).replace()
    icefloe.spark.write_to(frame, name, catalog).create_or_replace()
    table = catalog.load_table(name)
    first = table.current_snapshot().snapshot_id
    rows = icefloe.spark.read(table, spark=spark).where("id < 5").withColumn("extra", F.lit(1.5))
    icefloe.spark.write_to(rows, table).partitioned_by("kind").replace()
    table = catalog.load_table(name)
    assert table.scan().count() == 5
    assert table.scan(snapshot_id=first).count() == 20
    assert "extra" in table.schema().column_names
    assert table.current_snapshot().operation.value == "overwrite"
    icefloe.spark.write_to(frame, name, catalog).create_or_replace()
    assert catalog.load_table(name).scan().count() == 20
    icefloe.spark.write_to(frame.where("id < 0"), name, catalog).create_or_replace()
    assert catalog.load_table(name).current_snapshot().operation.value == "delete"


def test_failed_replace_keeps_the_table(frame, catalog, name):
    icefloe.spark.write_to(frame, name, catalog).create()
    failing = frame.select(F.raise_error(F.lit("bad row")).cast("int").alias("other"))
    with pytest.raises(PySparkException, match="bad row"):
        icefloe.spark.write_to(failing, name, catalog).replace()
    table = catalog.load_table(name)
    assert table.scan().count() == 20
    assert table.schema().column_names == ["id", "kind", "name"]


def test_columns_of_a_new_table_are_optional(spark, catalog, name):
    """As in Spark: that the rows of a query have no nulls says nothing of the rows to come."""
    rows = spark.sql("SELECT 1L AS id, named_struct('a', 1, 'l', array(1), 'm', map('k', 1)) AS s")
    assert not rows.schema["id"].nullable
    for verb in ("create", "replace"):
        getattr(icefloe.spark.write_to(rows, name, catalog), verb)()
        schema = catalog.load_table(name).schema()
        assert [one for one in schema.column_names if schema.find_field(one).required] == ["s.m.key"]


@pytest.mark.parametrize("verb", ["create", "create_or_replace"])
def test_a_new_table_belongs_to_the_user(spark, frame, catalog, name, verb):
    (user,) = spark.sql("SELECT current_user()").first()
    getattr(icefloe.spark.write_to(frame, name, catalog), verb)()
    assert catalog.load_table(name).properties["owner"] == user
    icefloe.spark.write_to(frame, name, catalog).table_property("owner", "me").replace()
    assert catalog.load_table(name).properties["owner"] == "me"
    icefloe.spark.write_to(frame, name, catalog).create_or_replace()
    assert catalog.load_table(name).properties["owner"] == user


@pytest.mark.parametrize("write", ["append", "overwrite_partitions"])
def test_fields_of_structs_are_matched_by_name(spark, new_table, write):
    pair = "struct<a: bigint, b: struct<c: double NOT NULL, d: string>>"
    table = new_table(StructType.fromDDL(f"id bigint, s {pair}, l array<{pair}>, m map<string, {pair}>"))
    swapped = "named_struct('b', named_struct('d', 'x', 'C', float(id)), 'A', int(id))"
    rows = spark.range(3).selectExpr(
        f"map('k', {swapped}) AS m", f"array({swapped}, NULL) AS l", f"if(id = 2, NULL, {swapped}) AS s", "id"
    )
    getattr(icefloe.spark.write_to(rows, table), write)()
    values = [{"a": i, "b": {"c": float(i), "d": "x"}} for i in range(3)]
    assert sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["id"]) == [
        {"id": i, "s": None if i == 2 else one, "l": [one, None], "m": [("k", one)]} for i, one in enumerate(values)
    ]


@pytest.mark.parametrize(
    "value", ["named_struct('a', 1L)", "named_struct('a', 1L, 'c', 2)", "named_struct('a', 'x', 'b', 2)"]
)
def test_structs_with_other_fields_are_refused(spark, new_table, value):
    table = new_table(StructType.fromDDL("s struct<a: bigint, b: int>"))
    with pytest.raises(SchemaMismatchError, match="column 's' does not fit"):
        icefloe.spark.write_to(spark.sql(f"SELECT {value} AS s"), table).append()


def test_verbs_on_an_existing_table(spark, frame, catalog, name):
    icefloe.spark.write_to(frame, name, catalog).partitioned_by("kind").create()
    table = catalog.load_table(name)
    icefloe.spark.write_to(frame, table).append()
    assert table.scan().count() == 40
    icefloe.spark.write_to(frame.where("kind = 1"), table).overwrite("kind = 1")
    assert table.scan().count() == 30
    icefloe.spark.write_to(frame.where("kind = 0").limit(3), table).overwrite(EqualTo("kind", 0))
    assert table.scan().count() == 13
    icefloe.spark.write_to(frame.where("kind = 1 and id < 4"), table).overwrite_partitions()
    assert table.scan().count() == 5
    icefloe.spark.write_to(frame, table).option("branch", "audit").append()
    assert (table.scan().count(), table.scan().use_ref("audit").count()) == (5, 25)


@pytest.mark.parametrize(
    ("write", "error", "words"),
    [
        (lambda w: w.using("delta"), ValidationError, "unknown format"),
        (lambda w: w.partitioned_by("kind").append(), ValidationError, r"expected create\(\)"),
        (lambda w: w.table_property("a", 1).append(), ValidationError, r"expected create\(\)"),
        (lambda w: w.partitioned_by("bucket(kind)").replace(), ValidationError, "bucket"),
        (lambda w: w.partitioned_by("days(kind)").replace(), ValidationError, "does not apply to column 'kind'"),
        (lambda w: w.option("branch", "b").replace(), ValidationError, "option branch"),
        (lambda w: w.option("delete-format", "avro").append(), FeatureUnsupportedError, "write.delete.format.default"),
        (lambda w: w.option("output-spec-id", 7).append(), ValidationError, r"output-spec-id: .* got 7"),
        (lambda w: w.option("target-file-size-bytes", "big").append(), ValidationError, "target-file-size-bytes"),
        (lambda w: w.option("merge-schema", "maybe").append(), ValidationError, "expected true or false, got 'maybe'"),
        (lambda w: w.option("compresion", "x").append(), ValidationError, "unknown option"),
    ],
)
def test_wrong_use_is_refused(frame, catalog, new_table, write, error, words):
    table = new_table(frame.schema)
    with pytest.raises(error, match=words):
        write(icefloe.spark.write_to(frame, table))
    assert table.refresh().current_snapshot() is None


def test_a_frame_with_a_column_twice_is_refused_by_its_name(frame, new_table):
    table = new_table(frame.schema)
    name = frame.columns[0]
    with pytest.raises(SchemaMismatchError, match=f"column '{name}' occurs 2 times; expected it once"):
        icefloe.spark.write_to(frame.select("*", name), table).append()
    assert table.refresh().current_snapshot() is None


def test_name_without_catalog_is_refused(frame):
    with pytest.raises(ValidationError, match="without a catalog"):
        icefloe.spark.write_to(frame, "db.t")


def test_merge_schema_adds_and_widens_columns_with_the_rows(spark, frame, new_table):
    table = new_table(frame.schema)
    icefloe.spark.write(frame, table)
    wider = spark.range(3).select(
        "id", F.col("id").alias("KIND"), F.struct(F.lit(1).alias("a")).alias("more"), F.lit(None).alias("name")
    )
    with pytest.raises(SchemaMismatchError, match="not in the table"):
        icefloe.spark.write(wider, table)
    icefloe.spark.write(wider, table, options={"mergeSchema": "true"})
    schema = table.refresh().schema()
    assert schema.column_names[:3] == ["id", "kind", "name"]
    assert str(schema.find_field("kind").field_type) == "long"
    assert not schema.find_field("more").required
    assert table.scan().count() == 23
    assert len(table.metadata.schemas) == 2
    deeper = spark.range(1).select("id", F.struct(F.lit(1).alias("a"), F.lit("b").alias("b")).alias("more"))
    icefloe.spark.write(deeper, table, options={"merge-schema": "true"})
    assert table.scan(row_filter="more.b = 'b'").count() == 1
    with pytest.raises(SchemaMismatchError, match="merge-schema"):
        icefloe.spark.write(
            spark.range(1).select("id", F.lit("text").alias("kind")), table, options={"merge-schema": True}
        )
    assert table.refresh().scan().count() == 24


def test_merge_schema_of_the_data_source(spark, frame, catalog, new_table):
    table = new_table(frame.schema)
    icefloe.spark.register(spark)
    options = {f"catalog.{key}": value for key, value in catalog.properties.items()}
    write = (
        frame.withColumn("extra", F.lit(1)).write.format("icefloe").options(catalog="lake", **options).mode("append")
    )
    with pytest.raises(PySparkException, match="not in the table"):
        write.save(".".join(table.name()))
    write.option("mergeSchema", "true").option("write-format", "avro").save(".".join(table.name()))
    assert table.refresh().scan(row_filter="extra = 1").count() == 20
    assert table.inspect.files()["file_format"].to_pylist()[0] == "AVRO"
    with pytest.raises(PySparkException, match="gives a Python data source its rows unchanged"):
        write.option("distribution-mode", "hash").save(".".join(table.name()))


@pytest.fixture(params=["write", "data source"])
def merge_rows(request, spark, catalog):
    """A function that appends rows and merges their schema, as the parameter does."""
    icefloe.spark.register(spark)
    options = {"catalog": "lake", **{f"catalog.{key}": value for key, value in catalog.properties.items()}}

    def append(rows, table):
        if request.param == "write":
            icefloe.spark.write(rows, table, options={"merge-schema": "true"})
        else:
            write = rows.write.format("icefloe").options(**options, mergeSchema="true").mode("append")
            write.save(".".join(table.name()))

    return append


def test_merge_schema_matches_fields_of_structs_by_name(spark, new_table, merge_rows):
    """Fields in another order and case are the fields of the table, also beside a new field and a wider type."""
    pair = "struct<a: int, b: struct<c: string, d: bigint>>"
    table = new_table(StructType.fromDDL(f"s {pair}, l array<{pair}>, m map<string, {pair}>"))
    swapped = "named_struct('B', named_struct('d', 1, 'C', 'x'), 'A', 2)"
    merge_rows(spark.sql(f"SELECT map('k', {swapped}) AS m, array({swapped}) AS l, {swapped} AS S"), table)
    assert len(table.refresh().metadata.schemas) == 1
    wider = "named_struct('e', true, 'B', named_struct('d', 1L, 'C', 'x'), 'A', 3000000000)"
    merge_rows(spark.sql(f"SELECT map('k', {wider}) AS m, array({wider}) AS l, {wider} AS S"), table)
    schema = table.refresh().schema()
    assert [field.name for field in schema.find_field("s").field_type.fields] == ["a", "b", "e"]
    assert str(schema.find_field("l.element.a").field_type) == "long"
    old, new = ({"a": a, "b": {"c": "x", "d": 1}, "e": e} for a, e in ((2, None), (3_000_000_000, True)))
    assert sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["s"]["a"]) == [
        {"s": one, "l": [one], "m": [("k", one)]} for one in (old, new)
    ]


def test_options_replace_table_properties(frame, new_table):
    table = new_table(frame.schema)
    icefloe.spark.write(frame, table, options={"write-format": "avro", "compression-codec": "snappy"})
    icefloe.spark.write(frame, table, options={"target-file-size-bytes": 1, "compression-codec": "gzip"})
    formats = table.refresh().inspect.files()["file_format"].to_pylist()
    assert set(formats) == {"AVRO", "PARQUET"}
    assert "write.format.default" not in table.properties


@pytest.mark.parametrize(
    "options",
    [
        {"distribution-mode": "none"},
        {"distribution-mode": "hash"},
        {"distribution-mode": "range"},
        {"fanout-enabled": "true"},
        {"use-table-distribution-and-ordering": "false"},
        {"advisory-partition-size": "1000000"},
    ],
)
def test_distributions_write_the_same_rows(spark, frame, new_table, options):
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.transforms import IdentityTransform

    table = new_table(frame.schema, PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind")))
    icefloe.spark.write(frame.repartition(3), table, options=options)
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(20))
    files = len(table.inspect.files())
    assert files == (6 if "none" in options.values() or "false" in options.values() else 2)


def test_output_spec_id_writes_files_of_an_earlier_spec(frame, catalog, name):
    icefloe.spark.write_to(frame, name, catalog).partitioned_by("kind").create()
    table = catalog.load_table(name)
    with table.update_spec() as update:
        update.remove_field("kind")
    icefloe.spark.write(frame, table, options={"output-spec-id": 0})
    assert set(table.inspect.files()["spec_id"].to_pylist()) == {0}
    assert table.scan(row_filter="kind = 1").count() == 20


def test_check_ordering_refuses_columns_in_another_order(frame, new_table):
    table = new_table(frame.schema)
    with pytest.raises(SchemaMismatchError, match="order id, kind, name, got name, id, kind"):
        icefloe.spark.write(frame.select("name", "id", "kind"), table, options={"check-ordering": "true"})
    icefloe.spark.write(frame.select("name", "id", "kind"), table)
    assert table.scan().count() == 20


def test_partitioned_by_names_a_column_in_its_case_in_a_session_that_distinguishes_it(spark, catalog, name):
    session = spark.newSession()
    session.conf.set("spark.sql.caseSensitive", "true")
    rows = session.createDataFrame([(1, 2)], "id long, ID long")
    icefloe.spark.write_to(rows, name, catalog).partitioned_by("ID").create()
    table = catalog.load_table(name)
    assert [table.schema().find_column_name(field.source_id) for field in table.spec().fields] == ["ID"]
    assert table.scan().to_arrow().to_pylist() == [{"id": 1, "ID": 2}]
