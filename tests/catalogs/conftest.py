"""Servers shared by all catalog tests: PostgreSQL and MariaDB with a database for each test, REST, Hive Metastore and Glue."""

from __future__ import annotations

import itertools

import psycopg
import pytest

from tests.catalogs.glue_server import glue_server
from tests.catalogs.hive_server import hive_server
from tests.catalogs.java_gateway import java_library
from tests.catalogs.mariadb_server import mariadb_server
from tests.catalogs.postgres_server import postgres_server
from tests.catalogs.rest.server import rest_server
from tests.catalogs.wire_proxy import wire_proxy

DRIVERS = ["psycopg", "psycopg2", "pg8000"]
DATABASES = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def mariadb():
    with mariadb_server() as server:
        yield server


@pytest.fixture
def mariadb_database(mariadb):
    """The name of an empty database, with the server's defaults: one byte for each character, and no difference of case."""
    name = f"catalog_{next(DATABASES)}"
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"create database {name}")
    return name


@pytest.fixture(scope="session")
def java_iceberg(tmp_path_factory):
    """The Java reference in a JVM of its own."""
    with java_library(tmp_path_factory.mktemp("java")) as library:
        yield library


@pytest.fixture(scope="session")
def rest(tmp_path_factory):
    """The Java reference's REST catalog server, whose namespaces are shared by all tests."""
    with rest_server(tmp_path_factory.mktemp("rest")) as server:
        yield server


@pytest.fixture(scope="session")
def hive3(tmp_path_factory):
    """A Hive Metastore 3 with locks, which does not support conditional changes of metadata locations."""
    with hive_server(3, tmp_path_factory.mktemp("hive3")) as server:
        yield server


@pytest.fixture(scope="session")
def hive4(tmp_path_factory):
    """A Hive Metastore 4 without lock tables, which supports conditional changes of metadata locations."""
    with hive_server(4, tmp_path_factory.mktemp("hive4")) as server:
        yield server


@pytest.fixture(scope="session")
def glue():
    """moto's AWS Glue server behind a proxy."""
    with glue_server() as server:
        yield server


@pytest.fixture(params=DRIVERS)
def driver(request):
    return request.param


@pytest.fixture
def database(postgres):
    """The name of an empty database."""
    name = f"catalog_{next(DATABASES)}"
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(f"create database {name} template template0")
    return name


@pytest.fixture
def line(postgres):
    """A proxy in front of the PostgreSQL server."""
    with wire_proxy(postgres.port) as proxy:
        yield proxy
