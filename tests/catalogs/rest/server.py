"""The Java reference's own REST catalog server, on this machine."""

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
# A small JVM that is ready in two seconds.
FLAGS = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


@dataclass(frozen=True)
class RestServer:
    """A running server, whose catalog is a JDBC catalog in SQLite.

    Attributes:
        uri: Address of the catalog.
        warehouse: Directory of new tables.
        namespace_separator: Text that the server splits the levels of a namespace at. No level may contain it.
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
        directory: An empty directory for its database, its log and, without `warehouse`, its tables.
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
        # A table needs a namespace that exists.
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
    """Return the environment variables by which the server reads properties: `CATALOG_A_B__C` is `a.b-c`."""
    swapped = {name: name.replace("__", "\0").replace("_", "__").replace("\0", "_") for name in properties}
    return {f"CATALOG_{swapped[name].upper()}": value for name, value in properties.items()}


def java_program() -> str:
    """Return Java's path, or skip the test."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home is not None else None)
    if found is None:
        pytest.skip("Java is not installed: apt-get install default-jre-headless, or set JAVA_HOME")
    return found
