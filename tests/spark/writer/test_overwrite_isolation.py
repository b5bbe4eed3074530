"""Conflicts of Spark's overwrites with concurrent commits by isolation level; refused writes leave no files."""

import icefloe.spark
import pytest
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import IdentityTransform
from pyspark.errors import PySparkException
from pyspark.sql import types as T  # noqa: N812  the name everyone uses

SCHEMA = T.StructType([T.StructField("id", T.LongType()), T.StructField("part", T.IntegerType())])
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))


def rows_of(*rows):
    import pyarrow as pa

    ids, parts = zip(*rows, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array(parts, pa.int32())})


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def data_files(table):
    """Return the paths of the data files in a table's directory."""
    found = table.io.core.list(f"{table.location()}/data").column("location").to_pylist()
    return {path for path in found if path.endswith(".parquet")}


@pytest.fixture
def handles(catalog, new_table):
    """Return two handles on one version of a table with the rows 1 to 4, two in each of two partitions."""

    def make(**properties):
        table = new_table(SCHEMA, BY_PART, **properties)
        table.append(rows_of((1, 0), (2, 0), (3, 1), (4, 1)))
        return table, catalog.load_table(table.name())

    return make


def frame(spark, *rows):
    return spark.createDataFrame(list(rows), "id long, part int")


MODES = {
    "all": ("overwrite", {}),
    "filter": ("overwrite", {"overwrite-filter": "part = 0"}),
    "partitions": ("overwrite-partitions", {}),
}


@pytest.mark.parametrize("mode", MODES)
def test_spark_overwrite_conflicts_with_an_append_to_replaced_rows(spark, handles, mode):
    first, second = handles()
    first.append(rows_of((5, 0)))
    before = data_files(first)
    name, options = MODES[mode]
    with pytest.raises(ValidationException, match="added data"):
        icefloe.spark.write(frame(spark, (10, 0)), second, name, options)
    assert ids(first) == [1, 2, 3, 4, 5]
    assert data_files(first) == before


@pytest.mark.parametrize("mode", ["filter", "partitions"])
def test_spark_overwrite_tolerates_an_append_of_other_rows(spark, handles, mode):
    first, second = handles()
    first.append(rows_of((5, 1)))
    name, options = MODES[mode]
    icefloe.spark.write(frame(spark, (10, 0)), second, name, options)
    assert ids(first) == [3, 4, 5, 10]


@pytest.mark.parametrize("mode", MODES)
def test_spark_overwrite_under_snapshot_isolation_keeps_appended_rows(spark, handles, mode):
    first, second = handles(write__delete__isolation_level="snapshot")
    first.append(rows_of((5, 0)))
    name, options = MODES[mode]
    icefloe.spark.write(frame(spark, (10, 0)), second, name, options)
    assert ids(first) == ([5, 10] if mode == "all" else [3, 4, 5, 10])


@pytest.mark.parametrize("mode", MODES)
def test_spark_overwrite_conflicts_with_a_delete_of_replaced_rows(spark, handles, mode):
    first, second = handles(write__delete__isolation_level="snapshot", write__delete__mode="merge-on-read")
    first.delete("id = 1")
    name, options = MODES[mode]
    with pytest.raises(ValidationException):
        icefloe.spark.write(frame(spark, (10, 0)), second, name, options)
    assert ids(first) == [2, 3, 4]


def test_spark_overwrite_uses_the_isolation_level_option(spark, handles):
    first, second = handles()
    first.append(rows_of((5, 0)))
    icefloe.spark.write(frame(spark, (10, 0)), second, "overwrite-partitions", {"isolation-level": "snapshot"})
    assert ids(first) == [3, 4, 5, 10]


def test_spark_overwrite_validates_from_the_given_snapshot(spark, handles):
    first, second = handles()
    start = first.current_snapshot().snapshot_id
    first.append(rows_of((5, 0)))
    options = {"validate-from-snapshot-id": str(start)}
    with pytest.raises(ValidationException, match="added data"):
        icefloe.spark.write(frame(spark, (10, 0)), second.refresh(), "overwrite-partitions", options)
    icefloe.spark.write(frame(spark, (10, 0)), second.refresh(), "overwrite-partitions")
    assert ids(first) == [3, 4, 10]


def test_spark_overwrite_of_partitions_replaces_rows_of_older_specs(spark, new_table):
    table = new_table(SCHEMA)
    table.append(rows_of((1, 0), (2, 0), (3, 1)))
    with table.update_spec() as update:
        update.add_identity("part")
    icefloe.spark.write(frame(spark, (10, 0)), table, "overwrite-partitions")
    assert ids(table) == [3, 10]


def test_spark_overwrite_filter_ignores_case_on_request(spark, handles):
    first, second = handles()
    options = {"overwrite-filter": "PART = 0", "case-sensitive": "false"}
    first.append(rows_of((5, 1)))
    icefloe.spark.write(frame(spark, (10, 0)), second, "overwrite", options)
    assert ids(first) == [3, 4, 5, 10]


@pytest.mark.parametrize("mode", ["append", "overwrite", "overwrite-partitions"])
def test_spark_write_to_a_tag_is_refused_before_files_are_written(spark, handles, mode):
    table, _ = handles()
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "audited").commit()
    before = data_files(table)
    unreadable = frame(spark, (10, 0)).selectExpr("id", "raise_error('the rows were computed') AS part")
    unreadable = unreadable.selectExpr("id", "cast(part AS int) AS part")
    with pytest.raises(ValidationError, match="'audited': expected a branch, got a tag"):
        icefloe.spark.write(unreadable, table, mode, {"branch": "audited"})
    assert data_files(table) == before


def test_spark_row_changes_of_a_tag_are_refused_before_files_are_written(spark, handles):
    table, _ = handles()
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "audited").commit()
    before = data_files(table)
    with pytest.raises(ValidationError, match="'audited': expected a branch, got a tag"):
        icefloe.spark.update(table, {"id": "raise_error('the rows were computed')"}, "id = 1", branch="audited")
    with pytest.raises(ValidationError, match="'audited': expected a branch, got a tag"):
        icefloe.spark.delete_from(table, "id = 1", spark=spark, branch="audited")
    assert data_files(table) == before


def test_isolation_options_of_an_append_are_refused(spark, handles):
    table, _ = handles()
    with pytest.raises(ValidationError, match="option isolation-level: expected mode overwrite"):
        icefloe.spark.write(frame(spark, (10, 0)), table, options={"isolation-level": "snapshot"})


def test_data_source_overwrite_validates_from_the_given_snapshot(spark, catalog, handles):
    first, _ = handles()
    icefloe.spark.register(spark)
    given = {key: catalog.properties[key] for key in ("uri", "warehouse")}
    options = {"catalog": "lake", "catalog.type": "sql", **{f"catalog.{key}": value for key, value in given.items()}}
    start = first.current_snapshot().snapshot_id
    first.append(rows_of((5, 0)))
    writer = frame(spark, (10, 0)).write.format("icefloe").options(**options).mode("overwrite")
    writer = writer.option("overwrite-mode", "dynamic")
    name = ".".join(first.name())
    with pytest.raises(PySparkException, match="added data to partitions"):
        writer.option("validate-from-snapshot-id", start).save(name)
    assert ids(first) == [1, 2, 3, 4, 5]
    writer.option("isolation-level", "snapshot").save(name)
    assert ids(first) == [3, 4, 10]


def test_spark_overwrite_filter_that_matches_no_file_adds_the_rows(spark, handles):
    table, _ = handles()
    icefloe.spark.write(frame(spark, (9, 2)), table, "overwrite", {"overwrite-filter": "part = 2"})
    assert ids(table) == [1, 2, 3, 4, 9]
    icefloe.spark.write(frame(spark, (10, 2)), table, "overwrite", {"overwrite-filter": "part = 2"})
    assert ids(table) == [1, 2, 3, 4, 10]
