"""Tables that icefloe changes, Java reads and writes, and icefloe reads and writes again, in each catalog that both have."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from icefloe.catalog import Catalog, load_catalog

from tests.catalogs.rest.server import rest_server
from tests.exact_rows import exact
from tests.interop.java.continued_changes import CHANGES
from tests.interop.java.started_table import rows

SERVER_JARS = Path(sys.prefix) / "jars" / "rest-server"
CATALOGS = ("hadoop", "jdbc", "rest")
# Catalogs that cannot carry out an operation.
IMPOSSIBLE = {("hadoop", "create_transaction"), ("hadoop", "rewrite_table_path")}


def combinations() -> list[tuple[str, str]]:
    return [(catalog, change) for catalog in CATALOGS for change in CHANGES if (catalog, change) not in IMPOSSIBLE]


def sqlite_driver() -> Path | None:
    """Return the JDBC driver of SQLite, which comes with the REST server."""
    return next(iter(SERVER_JARS.glob("sqlite-jdbc-*.jar")), None)


@dataclass(frozen=True)
class SharedCatalogs:
    """Catalogs of one name in Spark and in icefloe.

    Attributes:
        spark: The Spark session of the Java reference.
        folder: The directory of warehouses and databases.
        rest_uri: The address of the REST server.
    """

    spark: Any
    folder: Path
    rest_uri: str

    def configure(self) -> None:
        jdbc = {
            "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
            "uri": f"jdbc:sqlite:{self.folder}/jdbc.db?busy_timeout=60000",
            "warehouse": f"{self.folder}/jdbc",
            "jdbc.schema-version": "V1",
        }
        settings = {
            "hadoop": {"type": "hadoop", "warehouse": f"{self.folder}/hadoop"},
            "jdbc": jdbc,
            "rest": {"type": "rest", "uri": self.rest_uri},
        }
        for name, properties in settings.items():
            key = f"spark.sql.catalog.shared_{name}"
            self.spark.conf.set(key, "org.apache.iceberg.spark.SparkCatalog")
            for each, value in {**properties, "cache-enabled": "false"}.items():
                self.spark.conf.set(f"{key}.{each}", value)
            with contextlib.closing(self.ours(name)) as catalog:
                catalog.create_namespace("db")

    def ours(self, name: str) -> Catalog:
        properties = {
            "hadoop": {"type": "hadoop", "warehouse": f"{self.folder}/hadoop"},
            "jdbc": {
                "type": "sql",
                "uri": f"sqlite:///{self.folder}/jdbc.db?timeout=60",
                "warehouse": f"{self.folder}/jdbc",
            },
            "rest": {"type": "rest", "uri": self.rest_uri},
        }
        return load_catalog(f"shared_{name}", **properties[name])

    def continue_table(self, name: str, change: str) -> list[dict[str, Any]]:
        """Change a table by icefloe, by Java and by icefloe again; return what both read after each."""
        with contextlib.closing(self.ours(name)) as catalog:
            identifier, there = f"db.{change}", f"shared_{name}.db.{change}"
            CHANGES[change](catalog, identifier)
            found = [self._read(catalog, identifier, there)]
            self.spark.sql(f"INSERT INTO {there} (id, part) VALUES (100, 'a'), (101, 'j'), (102, NULL)")
            self.spark.sql(f"DELETE FROM {there} WHERE id IN (3, 100)")
            found.append(self._read(catalog, identifier, there))
            table = catalog.load_table(identifier)
            table.append(rows((200, "a"), (201, "i")))
            table.delete("id = 101 or id = 200 or id = 4")
            found.append(self._read(catalog, identifier, there))
            return found

    def _read(self, catalog: Catalog, identifier: str, there: str) -> dict[str, Any]:
        table = catalog.load_table(identifier)
        refs = sorted(name for name in table.refs() if name != "main")
        ours = {"main": table.scan().to_arrow(), **{ref: table.scan().use_ref(ref).to_arrow() for ref in refs}}
        queries = {"main": there, **{ref: f"{there} VERSION AS OF '{ref}'" for ref in refs}}
        theirs = {ref: self.spark.sql(f"SELECT * FROM {query}").toArrow() for ref, query in queries.items()}
        return {"icefloe": _listed(ours), "java": _listed(theirs)}


def _listed(read: dict[str, pa.Table]) -> dict[str, Any]:
    return {ref: [data.column_names, [list(row) for row in exact(data)]] for ref, data in read.items()}


@contextlib.contextmanager
def shared_catalogs(spark: Any, folder: Path) -> Iterator[SharedCatalogs]:
    """Yield catalogs that Spark and icefloe share, with a REST server that runs until the block ends."""
    folder.mkdir()
    (folder / "server").mkdir()
    (folder / "jdbc").mkdir()
    (folder / "hadoop").mkdir()
    with rest_server(folder / "server") as server:
        made = SharedCatalogs(spark, folder, server.uri)
        made.configure()
        yield made


def work(catalogs: SharedCatalogs) -> dict[str, Callable[[], Any]]:
    """Return the work of each combination, by its name."""
    return {f"{name}-{change}": partial(catalogs.continue_table, name, change) for name, change in combinations()}
