"""Clients of the Java reference's REST server, and a namespace for each test."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import replace

import pyarrow as pa
import pytest
from icefloe.catalog.rest import RestCatalog
from icefloe.table.environment import SYSTEM

from tests.catalogs.rest.fault_proxy import fault_proxy
from tests.catalogs.rest.protocol_server import protocol_server

NAMESPACES = itertools.count()
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]}, schema=SCHEMA)


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """Make waits end immediately, and return the list of their seconds."""
    found: list[float] = []
    monkeypatch.setattr(RestCatalog, "environment", replace(SYSTEM, sleep=found.append))
    return found


@pytest.fixture
def catalog(rest):
    with RestCatalog("conformance", uri=rest.uri) as client:
        yield client


@pytest.fixture
def namespace(catalog):
    name = f"own{next(NAMESPACES)}"
    catalog.create_namespace(name)
    return name


@pytest.fixture
def table(catalog, namespace):
    made = catalog.create_table(f"{namespace}.t", SCHEMA)
    made.append(ROWS)
    return made


@pytest.fixture
def proxy(rest):
    with fault_proxy(rest.uri) as made:
        yield made


@pytest.fixture
def far(proxy):
    """A client behind the proxy with a read timeout of half a second."""
    properties = {"uri": proxy.uri, "rest.client.socket-timeout-ms": "500", "token": "token-of-the-test"}
    with RestCatalog("far", **properties) as client:
        yield client


@pytest.fixture
def server():
    """A server with replies prepared by the test."""
    with protocol_server() as made:
        yield made


@pytest.fixture
def connect(server):
    """Return a function that makes clients of the prepared server."""
    with contextlib.ExitStack() as stack:
        yield lambda **properties: stack.enter_context(RestCatalog("prod", **{"uri": server.uri, **properties}))
