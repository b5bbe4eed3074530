"""Reads of the data source in sessions that set `spark.wap.branch`."""

from __future__ import annotations

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.spark.session import settings
from icefloe.spark.table_options import TableOptions
from pyspark.sql import types as T  # noqa: N812

SCHEMA = T.StructType([T.StructField("id", T.LongType())])
AUDIT = {"spark.wap.branch": "audit"}
PER_FILE = {"read.split.target-size": "1"}


@pytest.fixture(scope="module")
def options(spark, catalog):
    """The options of the catalog for the data source."""
    icefloe.spark.register(spark)
    return {"catalog": "lake", **{f"catalog.{key}": value for key, value in catalog.properties.items()}}


@pytest.fixture
def table(new_table):
    """A table with the ids 0 and 1 on main, and 2, 3 and 4 besides on the branches `audit` and `other`."""
    made = new_table(SCHEMA, write__wap__enabled="true")
    made.append(pa.table({"id": [0, 1]}))
    for branch in ("audit", "other"):
        made.manage_snapshots().create_branch(made.current_snapshot().snapshot_id, branch).commit()
    for branch, rows in (("audit", [2]), ("other", [3]), ("audit", [4])):
        made.append(pa.table({"id": rows}), branch=branch)
    made.manage_snapshots().create_tag(made.current_snapshot().snapshot_id, "release").commit()
    return made.refresh()


@pytest.fixture
def ids(spark, table, options):
    """A function that reads the ids with options of the data source."""

    def read(**given):
        named = {key.replace("_", "-"): value for key, value in given.items()}
        frame = spark.read.format("icefloe").options(**options, **named).load(".".join(table.name()))
        return sorted(row["id"] for row in frame.collect())

    return read


@pytest.mark.parametrize(
    ("branch", "expected"),
    [("audit", [0, 1, 2, 4]), ("other", [0, 1, 3]), ("main", [0, 1]), ("nope", [0, 1]), ("release", [0, 1])],
)
def test_data_source_reads_the_branch_of_the_session(spark, ids, branch, expected):
    with settings(spark, {"spark.wap.branch": branch}):
        assert ids() == expected
        assert ids(filter="id > 0") == [one for one in expected if one > 0]
    assert ids() == [0, 1]


def test_data_source_reads_the_branch_in_a_task_for_each_file(spark, table, ids):
    with table.update_properties() as update:
        update.set_properties(PER_FILE)
    with settings(spark, AUDIT):
        assert ids() == [0, 1, 2, 4]
    assert ids() == [0, 1]


def test_a_version_of_the_caller_precedes_the_branch_of_the_session(spark, table, ids):
    first = str(table.history()[0].snapshot_id)
    with settings(spark, AUDIT):
        assert ids(branch="other") == [0, 1, 3]
        assert ids(branch="main") == ids(tag="release") == ids(versionAsOf=first) == ids(snapshot_id=first) == [0, 1]
        assert ids(start_snapshot_id=first) == []


def test_a_branch_has_rows_before_main_has_any(spark, new_table, options):
    made = new_table(SCHEMA, write__wap__enabled="true")
    made.append(pa.table({"id": [7]}), branch="audit")
    frame = spark.read.format("icefloe").options(**options)
    name = ".".join(made.name())
    assert frame.load(name).count() == 0
    with settings(spark, AUDIT):
        assert frame.load(name).collect() == [(7,)]


def test_tables_without_audits_are_read_from_main(spark, table, ids):
    with table.update_properties() as update:
        update.set_properties({"write.wap.enabled": "false"})
    with settings(spark, AUDIT):
        assert ids() == [0, 1]


def test_plain_sql_reads_the_branch_that_it_writes(spark, catalog, table):
    lake = icefloe.spark.attach(spark, catalog, "audited")
    try:
        plain = lake.tables()[".".join(table.name())]
        with settings(spark, AUDIT):
            spark.sql(f"INSERT INTO {plain} VALUES (5)")
            assert sorted(row.id for row in spark.sql(f"SELECT * FROM {plain}").collect()) == [0, 1, 2, 4, 5]
            assert icefloe.spark.read(table.refresh(), spark=spark).count() == 5
        assert spark.table(plain).count() == 2
    finally:
        icefloe.spark.detach(spark, "audited")


def test_a_dataframe_of_the_data_source_follows_the_setting_at_each_use(spark, table, options):
    frame = spark.read.format("icefloe").options(**options).load(".".join(table.name()))
    assert frame.count() == 2
    with settings(spark, AUDIT):
        assert frame.count() == 4
    assert frame.count() == 2


def test_tables_without_other_branches_have_plain_tasks(table, options):
    def tasks(name):
        return TableOptions.parse({**options, "path": name}).scan()

    from icefloe.spark.reader.audited_task import AuditedTask, read_tasks

    scan = tasks(".".join(table.name()))
    assert {type(one) for one in read_tasks(scan, of_version=False)} == {AuditedTask}
    for branch in ("audit", "other"):
        table.manage_snapshots().remove_branch(branch).commit()
    scan = tasks(".".join(table.name()))
    assert AuditedTask not in {type(one) for one in read_tasks(scan, of_version=False)}
