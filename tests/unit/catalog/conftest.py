"""The catalogs that the tests of the interface use."""

import pytest
from icefloe.catalog import load_catalog


def make_catalog(kind, directory):
    warehouse = str(directory / "warehouse")
    if kind == "sql":
        return load_catalog("cat", type="sql", uri=f"sqlite:///{directory}/catalog.db", warehouse=warehouse)
    if kind == "hadoop":
        return load_catalog("cat", type="hadoop", warehouse=warehouse)
    return load_catalog("cat", type="memory", warehouse=warehouse)


@pytest.fixture(params=["memory", "sql", "hadoop"])
def catalog(request, tmp_path):
    with make_catalog(request.param, tmp_path) as made:
        yield made


@pytest.fixture(params=["memory", "sql"])
def pointer_catalog(request, tmp_path):
    with make_catalog(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def sql_catalog(tmp_path):
    with make_catalog("sql", tmp_path) as made:
        yield made


@pytest.fixture
def hadoop_catalog(tmp_path):
    return make_catalog("hadoop", tmp_path)
