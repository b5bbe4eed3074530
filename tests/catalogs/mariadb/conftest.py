"""A catalog in MariaDB, directly and behind a proxy."""

from __future__ import annotations

import pytest
from icefloe.catalog.sql import SqlCatalog

from tests.catalogs.wire_proxy import MySqlProtocol, wire_proxy


@pytest.fixture
def mariadb_line(mariadb):
    """A proxy in front of the MariaDB server."""
    with wire_proxy(mariadb.port, MySqlProtocol()) as proxy:
        yield proxy


@pytest.fixture
def execute(mariadb, mariadb_database):
    """Return a function that runs statements in the test's database and returns the rows of the last one."""
    with mariadb.connect(mariadb_database) as connection, connection.cursor() as cursor:

        def run(*statements):
            for statement in statements:
                cursor.execute(statement)
            return [list(row) for row in cursor.fetchall()]

        yield run


@pytest.fixture
def open_catalog(mariadb, mariadb_database, tmp_path):
    """Return a function that opens the catalog of this test, through the proxy at a port if one is given."""
    opened = []

    def make(port=None, user="root", **properties):
        uri = mariadb.url(mariadb_database, port=port, user=user)
        catalog = SqlCatalog("cat", uri=uri, warehouse=str(tmp_path / "warehouse"), **properties)
        opened.append(catalog)
        return catalog

    yield make
    for catalog in opened:
        catalog.close()


@pytest.fixture
def catalog(open_catalog):
    made = open_catalog()
    made.create_namespace("db")
    return made
