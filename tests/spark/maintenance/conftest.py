"""A catalog of its own for tables of Spark's own catalog, whose namespace `default` other tests do not expect."""

from __future__ import annotations

import pytest
from icefloe.catalog import load_catalog


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A catalog with the namespaces `db` and `default`."""
    folder = tmp_path_factory.mktemp("file_tables")
    made = load_catalog(
        "lake", type="sql", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=str(folder / "warehouse")
    )
    for namespace in ("db", "default"):
        made.create_namespace(namespace)
    return made
