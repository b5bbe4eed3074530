"""A catalog for tables of Spark's own catalog, which are in its namespace `default`."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def lake(catalog):
    """The module's catalog, with the namespaces `db` and `default`."""
    catalog.create_namespace("default")
    return catalog
