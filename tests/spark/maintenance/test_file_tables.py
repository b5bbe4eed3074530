"""Parquet, ORC and Avro tables of Spark's own catalog become tables of icefloe: beside them, or in their place."""

import uuid

import pyarrow as pa
import pytest
from icefloe.catalog.rest import RestCatalog
from icefloe.exceptions import (
    CommitStateUnknownException,
    NoSuchTableError,
    SchemaMismatchError,
    ServiceUnavailableError,
    ValidationError,
)
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.spark import call
from icefloe.transforms import IdentityTransform
from icefloe.types import DateType, LongType, NestedField, StringType

from tests.catalogs.rest.protocol_server import Answer, protocol_server


@pytest.fixture
def made(spark, tmp_path):
    """Return a function that creates a Parquet table of Spark with two partitions, external or managed."""
    names = []

    def make(*, external=True, columns="id BIGINT, at TIMESTAMP, day DATE", partition="day", provider="parquet"):
        name = f"source_{uuid.uuid4().hex[:8]}"
        names.append(name)
        location = f"LOCATION '{tmp_path / name}'" if external else ""
        spark.sql(f"CREATE TABLE {name} ({columns}) USING {provider} PARTITIONED BY ({partition}) {location}")
        return name

    yield make
    for name in names:
        for one in (name, f"{name}_BACKUP_", f"{name}_kept"):
            spark.sql(f"DROP TABLE IF EXISTS spark_catalog.default.{one}")


def fill(spark, name):
    spark.sql(
        f"INSERT INTO {name} VALUES (1, TIMESTAMP '2026-11-01 10:00:00', DATE '2026-11-01'), (2, NULL, DATE '2026-11-02'), (3, NULL, NULL)"
    )


def rows(table):
    return sorted(table.scan(selected_fields=("id", "day")).to_arrow().to_pylist(), key=lambda row: row["id"])


@pytest.mark.parametrize("external", [True, False])
def test_snapshot_of_a_table_leaves_the_table(spark, lake, made, external):
    name = made(external=external)
    fill(spark, name)
    before = spark.table(name).orderBy("id").collect()
    found = call("system.snapshot", name, f"db.{name}", catalog=lake, spark=spark)
    assert found == {"imported_files_count": 3}
    table = lake.load_table(f"db.{name}")
    assert [str(field.field_type) for field in table.schema().fields] == ["long", "timestamptz", "date"]
    assert [row["id"] for row in rows(table)] == [1, 2, 3]
    assert rows(table)[2]["day"] is None
    assert table.scan("day = '2026-11-02'").to_arrow().num_rows == 1
    table.append(
        pa.table({"id": [4], "at": pa.array([None], pa.timestamp("us", "UTC")), "day": pa.array([None], pa.date32())})
    )
    assert spark.table(name).orderBy("id").collect() == before


def test_migrated_table_is_in_place_of_the_source(spark, lake, made):
    name = made()
    fill(spark, name)
    location = spark.sql(f"DESCRIBE TABLE EXTENDED {name}").where("col_name = 'Location'").first()[1]
    found = call("system.migrate", f"spark_catalog.default.{name}", {"owner": "me"}, catalog=lake, spark=spark)
    assert found == {"migrated_files_count": 3}
    table = lake.load_table(f"default.{name}")
    assert (table.properties["migrated"], table.properties["owner"]) == ("true", "me")
    assert table.location().removeprefix("file:").lstrip("/") == location.removeprefix("file:").lstrip("/")
    assert [row["id"] for row in rows(table)] == [1, 2, 3]
    assert not spark.catalog.tableExists(f"spark_catalog.default.{name}")
    assert spark.catalog.tableExists(f"spark_catalog.default.{name}_BACKUP_")


def test_backup_has_the_given_name_or_is_dropped(spark, lake, made):
    kept, dropped = made(), made()
    for name in (kept, dropped):
        fill(spark, name)
    call("system.migrate", kept, backup_table_name=f"{kept}_kept", catalog=lake, spark=spark)
    assert spark.catalog.tableExists(f"spark_catalog.default.{kept}_kept")
    call("system.migrate", dropped, drop_backup=True, catalog=lake, spark=spark)
    assert not spark.catalog.tableExists(f"spark_catalog.default.{dropped}_BACKUP_")
    assert len(rows(lake.load_table(f"default.{dropped}"))) == 3


def test_failed_migration_gives_the_table_its_name_back(spark, lake, made, tmp_path):
    import pyarrow.parquet as pq

    name = made()
    fill(spark, name)
    other = tmp_path / name / "day=2026-11-03"
    other.mkdir()
    spark.sql(f"ALTER TABLE {name} ADD PARTITION (day = '2026-11-03')")
    pq.write_table(pa.table({"id": ["text"]}), other / "other.parquet")
    with pytest.raises(SchemaMismatchError):
        call("system.migrate", name, catalog=lake, spark=spark)
    assert spark.catalog.tableExists(f"spark_catalog.default.{name}")
    assert not lake.table_exists(f"default.{name}")


def test_migration_whose_table_is_not_staged_gives_the_table_its_name_back(spark, made):
    """The request that stages a table creates none: its failure leaves nothing unknown, whatever the status."""
    name = made()
    fill(spark, name)
    with (
        protocol_server() as server,
        RestCatalog("prod", uri=server.uri, **{"rest.client.max-retries": "0"}) as catalog,
    ):
        server.on("POST", "/v1/namespaces/default/tables", Answer(None, 503))
        with pytest.raises(ServiceUnavailableError, match=rf"table default\.{name}: creation: got status 503"):
            call("system.migrate", name, catalog=catalog, spark=spark)
        assert len(server.received("POST", "/v1/namespaces/default/tables")) == 1
    assert spark.catalog.tableExists(f"spark_catalog.default.{name}")
    assert not spark.catalog.tableExists(f"spark_catalog.default.{name}_BACKUP_")


@pytest.mark.parametrize("reply", [ServiceUnavailableError("status 503"), CommitStateUnknownException("no reply")])
def test_migration_of_unknown_outcome_leaves_the_source_its_backup_name(spark, lake, made, monkeypatch, reply):
    """The server may have created the table although a proxy reported a failure."""
    name, commit = made(), type(lake).commit_table
    fill(spark, name)

    def unanswered(catalog, table, requirements, updates):
        commit(catalog, table, requirements, updates)
        raise reply

    monkeypatch.setattr(type(lake), "commit_table", unanswered)
    with pytest.raises(
        CommitStateUnknownException,
        match=rf"CALL migrate: unknown whether table default\.{name} was created, so the table of files keeps the name "
        rf"spark_catalog\.default\.{name}_BACKUP_, .* ALTER TABLE spark_catalog\.default\.{name}_BACKUP_ RENAME TO default\.{name} undoes it",
    ):
        call("system.migrate", name, catalog=lake, spark=spark)
    assert not spark.catalog.tableExists(f"spark_catalog.default.{name}")
    assert len(rows(lake.load_table(f"default.{name}"))) == 3


@pytest.mark.parametrize("procedure", ["snapshot", "migrate"])
def test_orc_tables_become_tables(spark, lake, made, procedure):
    name = made(columns="id BIGINT, label STRING, day DATE", provider="orc")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a', DATE '2026-11-01'), (2, 'b', DATE '2026-11-02'), (3, 'c', NULL)")
    if procedure == "snapshot":
        found = call("system.snapshot", name, f"db.{name}", catalog=lake, spark=spark)
        assert found == {"imported_files_count": 3}
        table = lake.load_table(f"db.{name}")
    else:
        assert call("system.migrate", name, catalog=lake, spark=spark) == {"migrated_files_count": 3}
        table = lake.load_table(f"default.{name}")
    assert {task.file.file_format for task in table.scan().plan_files()} == {"ORC"}
    assert table.scan("label = 'b'").to_arrow().column("id").to_pylist() == [2]
    assert [row["id"] for row in rows(table)] == [1, 2, 3]


@pytest.mark.parametrize("provider", ["parquet", "orc"])
def test_files_of_a_table_of_spark_are_added(spark, lake, made, provider):
    name = made(columns="id BIGINT, label STRING, day DATE", provider=provider)
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a', DATE '2026-11-01'), (2, 'b', DATE '2026-11-02')")
    schema = Schema(
        NestedField(1, "id", LongType()), NestedField(2, "label", StringType()), NestedField(3, "day", DateType())
    )
    spec = PartitionSpec(PartitionField(3, 1000, IdentityTransform(), "day"))
    table = lake.create_table(f"db.added_{name}", schema, partition_spec=spec)
    one = call("system.add_files", table, name, {"day": "2026-11-02"}, spark=spark)
    assert one["added_files_count"] == 1
    assert [row["id"] for row in rows(table)] == [2]
    with pytest.raises(ValidationError, match="part of the table already"):
        call("system.add_files", table, f"spark_catalog.default.{name}", spark=spark)
    with pytest.raises(NoSuchTableError, match=r"CALL add_files: Spark's own catalog has no table default\.none"):
        call("system.add_files", table, "none", spark=spark)


def test_timestamps_of_spark_in_orc_files_are_refused(spark, lake, made):
    """Spark writes instants as ORC timestamps without a zone: the Java reference imports such files, and then cannot read them."""
    name = made(provider="orc")
    fill(spark, name)
    with pytest.raises(SchemaMismatchError, match=r"column at: .*timestamps without a zone"):
        call("system.snapshot", name, f"db.{name}", catalog=lake, spark=spark)
    assert not lake.table_exists(f"db.{name}")


def test_sources_that_cannot_be_taken_are_refused(spark, lake, made):
    managed, csv, times = (
        made(external=False),
        made(provider="csv"),
        made(columns="id BIGINT, part DOUBLE", partition="part"),
    )
    cases = {
        managed: "expected an external table \\(with LOCATION\\), got a managed one",
        csv: "expected a table of Parquet, ORC or Avro files \\(USING or STORED AS parquet, orc or avro\\), got one of csv",
        times: "partition column 'part': expected type int, long, date or string, got double",
        "a.b.c": "expected a table of Spark's own catalog, as in db.events, got a.b.c",
        "parquet.`/data`": "expected the name of a Parquet, ORC or Avro table of Spark's own catalog",
    }
    for name, message in cases.items():
        with pytest.raises(ValidationError, match=message):
            call("system.migrate", name, catalog=lake, spark=spark)
    with pytest.raises(NoSuchTableError, match=r"Spark's own catalog has no table default\.none"):
        call("system.snapshot", "none", "db.none", catalog=lake, spark=spark)
    assert spark.catalog.tableExists(f"spark_catalog.default.{managed}")
