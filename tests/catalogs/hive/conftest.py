"""Clients of two real metastores, one with locks and one without, and a namespace for each test."""

from dataclasses import replace

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.table.environment import SYSTEM

from tests.catalogs.hive.tables import FAST, NUMBERS

KINDS = {"locks": ("hive3", {}), "no-locks": ("hive4", {"iceberg.engine.hive.lock-enabled": "false"})}


@pytest.fixture(params=KINDS)
def hive(request, tmp_path):
    """Return a function that makes a client, for the port of a proxy if one is given."""
    fixture, settings = KINDS[request.param]
    server = request.getfixturevalue(fixture)

    def client(port=None, **others):
        properties = {"warehouse": str(tmp_path / "warehouse"), **FAST, **settings, **others}
        made = load_catalog("hive", uri=server.uri(port), **properties)
        made.environment = replace(SYSTEM, sleep=lambda _: None)
        return made

    client.port = server.port
    return client


@pytest.fixture
def catalog(hive):
    return hive()


@pytest.fixture
def namespace(catalog):
    name = f"hive_{next(NUMBERS)}"
    catalog.create_namespace(name)
    return name


@pytest.fixture
def table(catalog, namespace):
    return catalog.create_table((namespace, "t"), pa.schema([("id", pa.int64())]))


@pytest.fixture
def namespace_of_hive3(hive3, tmp_path):
    name = f"hive_{next(NUMBERS)}"
    load_catalog("hive", uri=hive3.uri(), warehouse=str(tmp_path / "warehouse")).create_namespace(name)
    return name
