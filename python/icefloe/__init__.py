"""Apache Iceberg tables for PySpark and Python without a JVM jar.

>>> from icefloe import load_catalog
>>> load_catalog.__name__
'load_catalog'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.catalog import load_catalog as load_catalog
    from icefloe.exceptions import IcebergError as IcebergError
    from icefloe.schema import Schema as Schema
    from icefloe.table import StaticTable as StaticTable
    from icefloe.table import Table as Table

__all__ = ["IcebergError", "Schema", "StaticTable", "Table", "__version__", "load_catalog"]

# Convenience names load their module at first use, so that importing icefloe stays cheap and without side effects.
_HOMES = {
    "IcebergError": "icefloe.exceptions",
    "Schema": "icefloe.schema",
    "StaticTable": "icefloe.table",
    "Table": "icefloe.table",
    "__version__": "icefloe._core",
    "load_catalog": "icefloe.catalog",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'icefloe' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
