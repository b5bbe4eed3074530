"""Registered partitions of tables of files, not the directories, become partitions of tables."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.spark import call
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import DateType, LongType, NestedField, StringType

from tests.spark.maintenance.hive_job import FORMATS

ROOT = Path(__file__).parents[3]
SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "day", DateType()), NestedField(3, "kind", StringType())
)
BY_VALUES = PartitionSpec(
    PartitionField(2, 1000, IdentityTransform(), "day"), PartitionField(3, 1001, IdentityTransform(), "kind")
)


@pytest.fixture
def source(spark, tmp_path):
    """The name of a table with three partitions in its directory, of which one is not registered, and one elsewhere."""
    name = f"registered_{uuid.uuid4().hex[:8]}"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, day DATE, kind STRING) USING parquet PARTITIONED BY (day, kind) LOCATION '{tmp_path / name}'"
    )
    spark.sql(
        f"INSERT INTO {name} VALUES (1, DATE '2026-11-01', 'a=/''b'), (2, NULL, 'x'), (3, DATE '2026-11-03', 'x')"
    )
    spark.sql(f"ALTER TABLE {name} DROP PARTITION (day = '2026-11-03', kind = 'x')")
    spark.sql(f"ALTER TABLE {name} ADD PARTITION (day = '2026-11-04', kind = 'y') LOCATION '{tmp_path / 'else where'}'")
    spark.sql(f"INSERT INTO {name} VALUES (4, DATE '2026-11-04', 'y')")
    yield name
    for one in (name, f"{name}_BACKUP_"):
        spark.sql(f"DROP TABLE IF EXISTS spark_catalog.default.{one}")


def values(table):
    rows = table.scan().to_arrow().to_pylist()
    return sorted((row["id"], str(row["day"]), row["kind"]) for row in rows)


REGISTERED = [(1, "2026-11-01", "a=/'b"), (2, "None", "x"), (4, "2026-11-04", "y")]


def test_registered_partitions_are_added(spark, lake, source):
    table = lake.create_table(f"db.{source}", SCHEMA, partition_spec=BY_VALUES)
    assert call("system.add_files", table, source, spark=spark)["added_files_count"] == 3
    assert (
        values(table) == REGISTERED == sorted((*row[:1], str(row[1]), row[2]) for row in spark.table(source).collect())
    )
    assert table.scan("kind = 'y'").plan().counters["files_planned"] == 1


def test_copies_of_a_partition_below_another_directory_are_left_out(spark, lake, source, tmp_path):
    shutil.copytree(tmp_path / source / "day=2026-11-01", tmp_path / source / "old" / "day=2026-11-01")
    table = lake.create_table(f"db.{source}", SCHEMA, partition_spec=BY_VALUES)
    call("system.add_files", table, source, spark=spark)
    assert values(table) == REGISTERED
    call("system.snapshot", source, f"db.{source}_snapshot", catalog=lake, spark=spark)
    assert values(lake.load_table(f"db.{source}_snapshot")) == REGISTERED


@pytest.mark.parametrize(("chosen", "count"), [({"kind": "y"}, 1), ({"KIND": "x"}, 1), ({"day": "2026-11-03"}, 0)])
def test_filter_chooses_registered_partitions(spark, lake, source, chosen, count):
    table = lake.create_table(f"db.{source}", SCHEMA, partition_spec=BY_VALUES)
    assert call("system.add_files", table, source, chosen, spark=spark)["added_files_count"] == count
    assert len(values(table)) == count


def test_partitions_that_the_filter_does_not_choose_are_not_described(spark, lake, source, monkeypatch):
    run, statements = type(spark).sql, []

    def recorded(session, text, *more, **options):
        statements.append(text)
        return run(session, text, *more, **options)

    table = lake.create_table(f"db.{source}", SCHEMA, partition_spec=BY_VALUES)
    monkeypatch.setattr(type(spark), "sql", recorded)
    call("system.add_files", table, source, {"KIND": "x"}, spark=spark)
    described = [text for text in statements if " PARTITION (" in text]
    assert described == [
        f"DESCRIBE TABLE EXTENDED spark_catalog.`default`.`{source}` PARTITION (`day` = NULL, `kind` = 'x')"
    ]
    assert values(table) == REGISTERED[1:2]


@pytest.mark.parametrize("procedure", ["snapshot", "migrate"])
def test_table_of_a_table_has_its_registered_partitions(spark, lake, source, procedure):
    if procedure == "snapshot":
        assert call("system.snapshot", source, f"db.{source}", catalog=lake, spark=spark) == {"imported_files_count": 3}
    else:
        assert call("system.migrate", source, catalog=lake, spark=spark) == {"migrated_files_count": 3}
    table = lake.load_table(f"{'db' if procedure == 'snapshot' else 'default'}.{source}")
    assert values(table) == REGISTERED
    assert table.scan("kind = 'y'").plan().counters["files_planned"] == 1


def test_partition_elsewhere_is_refused_without_a_field_of_its_value(spark, lake, source):
    spec = PartitionSpec(PartitionField(3, 1000, BucketTransform(4), "kind_bucket"))
    table = lake.create_table(f"db.{source}", SCHEMA, partition_spec=spec)
    with pytest.raises(
        ValidationError, match=r"add_files: partition .*'kind': 'y'.*partitioned by identity of day, kind"
    ):
        call("system.add_files", table, source, {"kind": "y"}, spark=spark)
    assert table.current_snapshot() is None


def test_files_in_directories_within_a_partition_are_not_added(spark, lake, source, tmp_path):
    inner = tmp_path / source / "day=__HIVE_DEFAULT_PARTITION__" / "kind=x" / "inner"
    spark.range(5).write.parquet(str(inner))
    spark.range(5).write.parquet(str(tmp_path / "else where" / "inner"))
    table = lake.create_table(f"db.{source}", SCHEMA, partition_spec=BY_VALUES)
    assert call("system.add_files", table, source, spark=spark)["added_files_count"] == 3


def test_tables_of_hive_become_tables(tmp_path):
    command = [sys.executable, "-m", "tests.spark.maintenance.hive_job", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    rows = [["2", "None", "None", "2"], ["3", "c", "2026-01-03", "None"], ["4", "d", "2026-02-02", "5"]]
    for file_format in FORMATS:
        assert found[file_format] == [rows, rows], file_format
    assert (
        "expected a table of Parquet, ORC or Avro files (USING or STORED AS parquet, orc or avro)" in found["TEXTFILE"]
    )
