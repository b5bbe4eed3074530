"""The Java reference's REST catalog server on this machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.storage.servers import running

JARS = Path(sys.prefix) / "jars" / "rest-server"
MAIN = "org.apache.iceberg.rest.RESTCatalogServer"
# Options for a JVM that starts within two seconds.
FLAGS = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


@dataclass(frozen=True)
class RestServer:
    """A running server with a JDBC catalog in SQLite.

    Attributes:
        uri: The address of the catalog.
        warehouse: The directory of new tables.
        namespace_separator: The text between the levels of a namespace in paths. No level may contain the separator.
    """

    uri: str
    warehouse: str
    namespace_separator: str = "."

    @property
    def properties(self) -> dict[str, str]:
        return {"type": "rest", "uri": self.uri}


@contextlib.contextmanager
def rest_server(directory: Path, warehouse: str | None = None, **properties: str) -> Iterator[RestServer]:
    """Run a server until the block ends.

    Args:
        directory: An empty directory for the database, the log and, without `warehouse`, the tables of the server.
        warehouse: The location of new tables.
        **properties: Properties of the server's own catalog, with `__` for dots and `_` for hyphens.
    """
    java = java_program()
    if not list(JARS.glob("iceberg-open-api-*.jar")):
        pytest.skip(f"the Java reference's REST server is not in {JARS}: make rest-server")
    location = warehouse if warehouse is not None else str(directory / "warehouse")
    settings = {
        "uri": f"jdbc:sqlite:{directory / 'catalog.db'}?busy_timeout=30000",
        "warehouse": location,
        "jdbc__schema_version": "V1",
        # Strict mode refuses tables in missing namespaces.
        "jdbc__strict_mode": "true",
        **properties,
    }
    environment = {**os.environ, **catalog_variables(settings)}
    command = [java, *FLAGS, "-cp", f"{JARS}/*", MAIN]

    def on_port(port: int) -> list[str]:
        return ["env", f"CATALOG_REST_PORT={port}", *command]

    with running(on_port, directory / "log", env=environment) as port:
        yield RestServer(f"http://127.0.0.1:{port}", location)


def catalog_variables(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for properties of the server, such as `CATALOG_A_B__C` for `a.b-c`."""
    swapped = {name: name.replace("__", "\0").replace("_", "__").replace("\0", "_") for name in properties}
    return {f"CATALOG_{swapped[name].upper()}": value for name, value in properties.items()}


def java_program() -> str:
    """Return Java's path, or skip the test."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home is not None else None)
    if found is None:
        pytest.skip("Java is not installed: apt-get install default-jre-headless, or set JAVA_HOME")
    return found
