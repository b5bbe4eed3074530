"""One PostgreSQL server for all tests, and a database for each test."""

from __future__ import annotations

import itertools

import psycopg
import pytest

from tests.catalogs.postgres_server import postgres_server
from tests.catalogs.wire_proxy import wire_proxy

DRIVERS = ["psycopg", "psycopg2", "pg8000"]
DATABASES = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    with postgres_server() as server:
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
    """A proxy before the server."""
    with wire_proxy(postgres.port) as proxy:
        yield proxy
