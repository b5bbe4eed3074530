"""Clients of the catalog under test, and a separate namespace for each test."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from icefloe.exceptions import IcebergError

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.entries import ENTRIES
from tests.catalogs.conformance.rows import ROWS, SCHEMA
from tests.storage.azure_server import azure_server
from tests.storage.gcs_server import gcs_server
from tests.storage.servers import s3_server

NAMESPACES = itertools.count()


def pytest_configure(config):
    config.addinivalue_line("markers", "needs(*capabilities): run only on catalogs that have these features")


def pytest_generate_tests(metafunc):
    if "subject" in metafunc.fixturenames and "group" not in metafunc.fixturenames:
        needed = {capability for mark in metafunc.definition.iter_markers("needs") for capability in mark.args}
        assert needed <= set(Capability)
        entries = [entry for entry in ENTRIES if not needed & set(entry.lacks)]
        metafunc.parametrize("subject", entries, ids=[entry.name for entry in entries], indirect=True)


@pytest.fixture(scope="session")
def s3(tmp_path_factory):
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def azure(tmp_path_factory):
    with azure_server(tmp_path_factory.mktemp("azure")) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def gcs():
    with gcs_server() as (address, _, _):
        yield address


@pytest.fixture
def subject(request, tmp_path):
    made = request.param(request, tmp_path)
    yield made
    made.close()


@pytest.fixture
def catalog(subject):
    return subject.client()


@pytest.fixture
def other_client(subject, catalog):
    """A second client of the same catalog, which is the same object for in-memory catalogs."""
    return subject.client()


@pytest.fixture
def namespace_name():
    """A unique name of a namespace that does not exist: servers keep the namespaces of earlier tests."""
    return (f"ns{next(NAMESPACES)}",)


@pytest.fixture
def namespace(catalog, namespace_name):
    """An empty namespace."""
    catalog.create_namespace(namespace_name)
    return namespace_name


@pytest.fixture
def identifier(namespace):
    """The identifier of a table that does not exist, in an existing namespace."""
    return (*namespace, "t")


@pytest.fixture
def table(catalog, identifier):
    """A table with three rows."""
    made = catalog.create_table(identifier, SCHEMA)
    made.append(ROWS)
    return made


@pytest.fixture
def race(subject, catalog):
    """Return a function that runs a change in several threads with a client each, and returns results and errors of icefloe."""

    def run(function, count=5):
        start = threading.Barrier(count)
        clients = [subject.client() for _ in range(count)]

        def one(number):
            start.wait()
            try:
                return function(clients[number], number)
            except IcebergError as error:
                return error

        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(one, range(count)))

    return run
