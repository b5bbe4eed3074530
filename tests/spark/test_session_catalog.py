"""The entries of attached tables in Spark's own catalog."""

from __future__ import annotations

from pathlib import Path

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError

from tests.spark.gateway_calls import recorded_calls

CALLS_OF_A_TABLE = 12


@pytest.fixture
def attached_calls(spark, tmp_path):
    """Return a function that attaches a catalog with a number of tables, and returns the number of calls into the JVM."""

    def attach(tables: int) -> int:
        folder = tmp_path / f"lake{tables}"
        folder.mkdir()
        catalog = load_catalog("many", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
        catalog.create_namespace("db")
        for number in range(tables):
            schema = pa.schema([(f"column_{number}", pa.int64())])
            catalog.create_table(f"db.t{number}", schema).append(pa.table({f"column_{number}": [number]}))
        with recorded_calls() as calls:
            lake = icefloe.spark.attach(spark, catalog, "many")
        try:
            for name in lake.tables().values():
                number = int(name.rsplit("t", 1)[1])
                assert spark.sql(f"SELECT * FROM {name}").collect() == [(number,)]
        finally:
            icefloe.spark.detach(spark, "many")
        return len(calls)

    return attach


def test_attach_takes_few_calls_for_each_table(attached_calls):
    attached_calls(1)
    assert attached_calls(5) - attached_calls(2) <= 3 * CALLS_OF_A_TABLE


def test_attach_warns_of_a_table_that_spark_cannot_show(spark, tmp_path):
    catalog = load_catalog("timed", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    catalog.create_table("db.hours", pa.schema([("hour", pa.time64("us"))]))
    with pytest.warns(UserWarning, match="attach: db.hours is left out of timed_db: ") as found:
        lake = icefloe.spark.attach(spark, catalog, "timed")
    icefloe.spark.detach(spark, "timed")
    assert lake.tables() == {}
    assert [warning.filename for warning in found] == [__file__]


@pytest.mark.parametrize(
    ("damage", "reason"), [(Path.unlink, "no such file"), (lambda path: path.write_text("{"), "is not JSON")]
)
def test_attach_warns_of_a_table_without_readable_metadata(spark, tmp_path, damage, reason):
    catalog = load_catalog("torn", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64())])
    broken, _ = (catalog.create_table(f"db.{name}", schema) for name in ("broken", "whole"))
    damage(Path(broken.metadata_location.removeprefix("file:")))
    with pytest.warns(UserWarning, match=f"attach: db.broken is left out of torn_db: .*{reason}"):
        lake = icefloe.spark.attach(spark, catalog, "torn")
    assert lake.tables() == {"db.whole": "torn_db.whole"}
    with pytest.raises(IcebergError, match=reason):
        icefloe.spark.sql(spark, "SELECT * FROM torn.db.broken")
    icefloe.spark.detach(spark, "torn")
