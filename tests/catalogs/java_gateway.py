"""The Java reference in a JVM of its own, whose objects tests call from Python."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import py4j.java_gateway
import pytest
from py4j import protocol
from py4j.java_gateway import GatewayParameters, JavaGateway, JavaObject, launch_gateway
from pyspark import find_spark_home

from tests.catalogs.hive_server import OPENED, java

JARS = Path(sys.prefix) / "jars"
LIBRARY = "org.apache.iceberg"


class JavaLibrary:
    """A running JVM with the Java reference, the client of the Hive Metastore and the drivers of SQLite and PostgreSQL."""

    def __init__(self, gateway: JavaGateway) -> None:
        self.gateway = gateway
        self.iceberg = gateway.jvm.org.apache.iceberg

    def catalog(self, implementation: str, name: str, **properties: str) -> JavaObject:
        """Return a catalog: `jdbc.JdbcCatalog` or `hive.HiveCatalog`. Properties have `_` for hyphens and `__` for dots."""
        conf = self.gateway.jvm.org.apache.hadoop.conf.Configuration()
        given = {key.replace("__", ".").replace("_", "-"): value for key, value in properties.items()}
        return self.iceberg.CatalogUtil.loadCatalog(f"{LIBRARY}.{implementation}", name, self.map(given), conf)

    def map(self, values: Mapping[str, str]) -> JavaObject:
        """Return a Java map."""
        made = self.gateway.jvm.java.util.HashMap()
        for key, value in values.items():
            made.put(key, value)
        return made

    def namespace(self, *levels: str) -> JavaObject:
        """Return a namespace."""
        parts = self.gateway.new_array(self.gateway.jvm.java.lang.String, len(levels))
        for number, level in enumerate(levels):
            parts[number] = level
        return self.iceberg.catalog.Namespace.of(parts)

    def identifier(self, name: str) -> JavaObject:
        """Return the identifier of a table or a view."""
        return self.iceberg.catalog.TableIdentifier.parse(name)

    def schema(self) -> JavaObject:
        """Return a schema with the column `id` of type long."""
        types = self.iceberg.types.Types
        fields = self.gateway.jvm.java.util.ArrayList()
        fields.add(types.NestedField.optional(1, "id", types.LongType.get()))
        return self.iceberg.Schema(fields)

    def append(self, table: JavaObject, file: str, rows: int) -> None:
        """Append an existing Parquet file of an unpartitioned table."""
        builder = self.iceberg.DataFiles.builder(table.spec()).withPath(file).withFormat("PARQUET")
        data = builder.withFileSizeInBytes(Path(file).stat().st_size).withRecordCount(rows).build()
        table.newAppend().appendFile(data).commit()


@contextlib.contextmanager
def java_raises(match: str = ""):
    """Expect an exception of Java, whose trace `match` is found in.

    PySpark, once a session has run in the process, has py4j turn every exception into one of Spark's by its own JVM, which
    does not know the objects of another.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(py4j.java_gateway, "get_return_value", protocol.get_return_value)
        with pytest.raises(protocol.Py4JJavaError, match=match):
            yield


@contextlib.contextmanager
def java_library(directory: Path):
    """Run a JVM with the Java reference until the block ends."""
    runtime = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not runtime:
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    drivers = [next(iter((JARS / "rest-server").glob(f"{name}-*.jar")), None) for name in ("sqlite-jdbc", "postgresql")]
    if None in drivers:
        pytest.skip(f"the JDBC drivers of SQLite and PostgreSQL are not in {JARS}/rest-server: make rest-server")
    spark = Path(find_spark_home._find_spark_home()) / "jars"
    (directory / "log4j2.properties").write_text("status = error\nrootLogger.level = OFF\n")
    opened = [part for package in OPENED for part in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")]
    log4j = f"-Dlog4j2.configurationFile=file:{directory}/log4j2.properties"
    port = launch_gateway(
        jarpath=str(next(spark.glob("py4j-*.jar"))),
        classpath=":".join([f"{spark}/*", str(runtime[-1]), *map(str, drivers)]),
        javaopts=["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *opened, log4j],
        java_path=java(),
        die_on_exit=True,
        redirect_stdout=subprocess.DEVNULL,
        redirect_stderr=subprocess.DEVNULL,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    try:
        yield JavaLibrary(gateway)
    finally:
        gateway.shutdown()
