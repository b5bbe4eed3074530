"""Clients of moto's Glue server, and a namespace and a table for each test."""

from dataclasses import replace

import pytest
from icefloe.catalog import load_catalog
from icefloe.table.environment import SYSTEM

from tests.catalogs.glue.tables import NUMBERS, PLAIN


@pytest.fixture
def server(glue):
    yield glue
    glue.faults.clear()
    glue.before = None


@pytest.fixture
def client(server, tmp_path):
    def make(**others):
        made = load_catalog("glue", **{**server.properties(), "warehouse": str(tmp_path / "warehouse"), **others})
        made.environment = replace(SYSTEM, sleep=lambda _: None)
        return made

    return make


@pytest.fixture
def catalog(client):
    return client(**{"glue.max-retries": "0"})


@pytest.fixture
def namespace(catalog):
    name = f"glue_{next(NUMBERS)}"
    catalog.create_namespace(name)
    return name


@pytest.fixture
def table(catalog, namespace, server):
    made = catalog.create_table((namespace, "t"), PLAIN)
    server.requests.clear()
    return made
