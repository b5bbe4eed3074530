"""A standalone Hive Metastore on this machine, with an in-memory Derby database."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape

import pytest

from tests.storage.servers import running

OPENED = ("java.lang", "java.net", "java.util", "java.util.concurrent")
# Options for a JVM that ends before the second compiler and parallel collection pay.
FLAGS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
CLEANER = "org.apache.hadoop.hive.metastore.events.EventCleanerTask"
SETTINGS = {
    "datanucleus.schema.autoCreateAll": "true",
    "metastore.schema.verification": "false",
    "metastore.thrift.bind.host": "127.0.0.1",
    "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
    # The default tasks need classes of Hive's query engine.
    "metastore.task.threads.always": CLEANER,
    "metastore.task.threads.remote": CLEANER,
    # Version 3 creates its lock tables only with this property; version 4 never creates lock tables.
    "metastore.in.test": "true",
    "hive.in.test": "true",
    "metastore.client.capability.check": "false",
    # By default, the metastore retries an invalid name ten times, two seconds apart.
    "metastore.hmshandler.retry.attempts": "1",
}
LOGGING = """
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %c{1}: %m%n
rootLogger.level = ERROR
rootLogger.appenderRef.console.ref = console
"""


@dataclass(frozen=True)
class HiveServer:
    """A running metastore. Databases without a location are below `warehouse`."""

    port: int
    warehouse: Path

    def uri(self, port: int | None = None) -> str:
        return f"thrift://127.0.0.1:{port if port is not None else self.port}"


def java() -> str:
    """Return the path of the Java executable. Skip the test if there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if found is None:
        pytest.skip("Java is not installed: apt-get install openjdk-17-jre-headless")
    return found


@contextlib.contextmanager
def hive_server(
    version: int, directory: Path, others: Mapping[str, str] = MappingProxyType({}), options: Sequence[str] = ()
):
    """Run a metastore of version 3 or 4 until the block ends, with further settings and options of the JVM."""
    jars = Path(sys.prefix) / "jars" / f"hive-{version}"
    if not jars.exists():
        pytest.skip(f"no Hive Metastore in {jars}: make hive-metastore, which needs Maven")
    warehouse = directory / "warehouse"
    database = f"jdbc:derby:memory:{uuid.uuid4().hex};create=true"
    settings = {
        **SETTINGS,
        "javax.jdo.option.ConnectionURL": database,
        "metastore.warehouse.dir": str(warehouse),
        **others,
    }
    properties = "".join(
        f"<property><name>{key}</name><value>{escape(value)}</value></property>" for key, value in settings.items()
    )
    for name in ("metastore-site.xml", "core-site.xml"):
        (directory / name).write_text(f"<configuration>{properties}</configuration>")
    (directory / "log4j2.properties").write_text(LOGGING)
    opened = [part for package in OPENED for part in ("--add-opens", f"java.base/{package}=ALL-UNNAMED")]
    command = [
        java(),
        *FLAGS,
        *opened,
        *options,
        f"-Dlog4j2.configurationFile=file:{directory}/log4j2.properties",
        "-cp",
        f"{directory}:{jars}/*",
        "org.apache.hadoop.hive.metastore.HiveMetaStore",
    ]
    with running(lambda port: [*command, "-p", str(port)], directory / "log", cwd=directory) as port:
        yield HiveServer(port, warehouse)
