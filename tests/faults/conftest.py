"""Catalogs on a local disk, shared by several processes."""

import pytest
from icefloe.catalog import load_catalog


def open_catalog(kind, directory):
    properties = {"type": kind, "warehouse": f"{directory}/warehouse"}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{directory}/catalog.db"
    return load_catalog("cat", **properties)


@pytest.fixture(params=["sql", "hadoop"])
def kind(request):
    return request.param


@pytest.fixture
def shared_catalog(kind, tmp_path):
    catalog = open_catalog(kind, tmp_path)
    catalog.create_namespace("db")
    return catalog
