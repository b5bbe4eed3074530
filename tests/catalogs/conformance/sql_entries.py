"""SQL catalogs, as entries of the conformance suite."""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import ClassVar

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.catalog_under_test import CatalogUnderTest
from tests.catalogs.wire_proxy import Cut, Direction, Fault, MySqlProtocol, wire_proxy

WITHOUT_DOTS = {
    "dot": "levels are joined by dots",
    "two dots": "levels are joined by dots",
    "hidden": "levels are joined by dots",
    "dot at the end": "levels are joined by dots",
}
TOO_LONG = {"256 characters": "columns of names hold 255 characters"}
TOO_LONG_BELOW = {**TOO_LONG, "255 characters": "all levels of a namespace share a column of 255 characters"}


class Sqlite(CatalogUnderTest):
    """A catalog in a SQLite file."""

    name = "sqlite"
    lacks: ClassVar = {Capability.LOST_REPLIES: "SQLite runs in the client"}
    refused_tables = TOO_LONG
    refused_namespaces: ClassVar = {**WITHOUT_DOTS, **TOO_LONG_BELOW}

    @property
    def properties(self) -> dict[str, str]:
        uri = f"sqlite:///{self.directory}/catalog.db"
        return {"type": "sql", "uri": uri, "warehouse": str(self.directory / "warehouse")}


class Postgres(CatalogUnderTest):
    """A catalog in PostgreSQL."""

    name = "postgres"
    refused_tables = TOO_LONG
    refused_namespaces: ClassVar = {**WITHOUT_DOTS, **TOO_LONG_BELOW}

    @cached_property
    def _database(self) -> str:
        return self.request.getfixturevalue("database")

    @property
    def properties(self) -> dict[str, str]:
        uri = self.request.getfixturevalue("postgres").url("psycopg", database=self._database)
        return {"type": "sql", "uri": uri, "warehouse": str(self.directory / "warehouse")}

    @contextlib.contextmanager
    def losing_replies(self):
        server = self.request.getfixturevalue("postgres")
        with wire_proxy(server.port) as line:
            uri = server.url("psycopg", database=self._database, port=line.port)
            # The server receives the message that makes it commit, and the reply is lost.
            yield self.client(uri=uri), lambda: line.arm(Cut(Direction.CLIENT, None, Fault.AFTER))


class MariaDb(CatalogUnderTest):
    """A catalog in MariaDB."""

    name = "mariadb"
    refused_tables = TOO_LONG
    refused_namespaces: ClassVar = {**WITHOUT_DOTS, **TOO_LONG_BELOW}

    @cached_property
    def _database(self) -> str:
        return self.request.getfixturevalue("mariadb_database")

    @property
    def properties(self) -> dict[str, str]:
        uri = self.request.getfixturevalue("mariadb").url(self._database)
        return {"type": "sql", "uri": uri, "warehouse": str(self.directory / "warehouse")}

    @contextlib.contextmanager
    def losing_replies(self):
        server = self.request.getfixturevalue("mariadb")
        with wire_proxy(server.port, MySqlProtocol()) as line:
            uri = server.url(self._database, port=line.port)
            yield self.client(uri=uri), lambda: line.arm(Cut(Direction.CLIENT, None, Fault.AFTER))
