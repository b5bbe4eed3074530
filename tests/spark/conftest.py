"""One Spark session and small tables over the public write path."""

from __future__ import annotations

import itertools
import os
import signal
import sys

import pytest

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
pyspark = pytest.importorskip("pyspark")

from icefloe.catalog import load_catalog  # noqa: E402
from icefloe.partitioning import PartitionSpec  # noqa: E402
from icefloe.spark import schema_from_spark  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

ZONE = "America/Los_Angeles"
NUMBERS = itertools.count()


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.spark)


def session_builder(**settings: str):
    builder = SparkSession.builder.appName("tests")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": ZONE,
        "spark.driver.memory": "2g",
        # Half the CPU time of the JVM: sessions are too short for the second compiler and parallel collection to pay.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        **settings,
    }.items():
        builder = builder.config(key, value)
    return builder


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    local = tmp_path_factory.mktemp("spark")
    settings = {"spark.local.dir": str(local), "spark.sql.warehouse.dir": str(local / "warehouse")}
    # Spark replaces the handler of interrupts, which tests of other files in this process need.
    handler = signal.getsignal(signal.SIGINT)
    session = session_builder(**settings).master("local[2,3]").getOrCreate()
    signal.signal(signal.SIGINT, handler)
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    """A catalog of the module's own: tables and namespaces of other modules do not meet its names."""
    folder = tmp_path_factory.mktemp("lake")
    made = load_catalog(
        "lake", type="sql", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=str(folder / "warehouse")
    )
    made.create_namespace("db")
    return made


@pytest.fixture
def new_table(catalog):
    """Return a function that creates a table for a schema, Iceberg's or Spark's."""

    def create(schema, spec=None, **properties):
        iceberg = schema if hasattr(schema, "find_field") else schema_from_spark(schema)
        arguments = {"sort_order": properties.pop("sort_order")} if "sort_order" in properties else {}
        spec = PartitionSpec() if spec is None else spec
        named = {key.replace("__", ".").replace("_", "-"): value for key, value in properties.items()}
        return catalog.create_table(
            f"db.t{next(NUMBERS)}", schema=iceberg, partition_spec=spec, properties=named, **arguments
        )

    return create
