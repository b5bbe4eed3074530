"""All operations, and those that each kind of catalog has."""

from __future__ import annotations

from tests.faults.catalog_operations import CATALOG_OPERATIONS
from tests.faults.maintenance_operations import MAINTENANCE_OPERATIONS
from tests.faults.table_operations import TABLE_OPERATIONS

OPERATIONS = {**TABLE_OPERATIONS, **MAINTENANCE_OPERATIONS, **CATALOG_OPERATIONS}
OF_REST = {"views", "commits to several tables"}
"""The features that REST catalogs alone have."""
OF_NAMES = {"rename", "register", "register over a table", "create with rows", "namespace properties"}
"""The features that hadoop catalogs lack: a table is its directory, and so is a namespace."""


def operations_of(kind: str) -> list[str]:
    """Return the names of the operations that a kind of catalog has."""
    lacking = OF_NAMES | OF_REST if kind.startswith("hadoop") else OF_REST
    if kind == "rest":
        # The catalog behind the Java reference's server registers new names only.
        lacking = {"register over a table"}
    return [name for name, operation in OPERATIONS.items() if operation.needs not in lacking]
