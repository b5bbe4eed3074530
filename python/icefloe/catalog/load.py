"""`load_catalog`: creating a catalog from properties, configuration files and environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.catalog.configuration import catalog_properties
from icefloe.catalog.hadoop import HadoopCatalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.exceptions import ValidationError
from icefloe.io.file_io import STORAGE_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.catalog.catalog import Catalog
    from icefloe.typedef import Properties

PROPERTIES = {
    "sql": {"uri", "warehouse", "echo", "init_catalog_tables"},
    "hadoop": {"warehouse"},
    "memory": {"warehouse"},
}
ALIASES = {"in-memory": "memory", "jdbc": "sql"}
PLANNED = ("rest", "hive", "glue", "dynamodb", "bigquery")


def load_catalog(name: str | None = None, **properties: str | None) -> Catalog:
    """Return the catalog of a name, with given and configured properties.

    Given properties override environment variables (`ICEFLOE_CATALOG__<NAME>__<KEY>`, `PYICEBERG_CATALOG__<NAME>__<KEY>`),
    which override `.icefloe.yaml` and `.pyiceberg.yaml` (in the working directory, the home directory, or the directory
    in `ICEFLOE_HOME` or `PYICEBERG_HOME`).

    Args:
        name: The catalog's name; `default` when None.
        **properties: `type` (`sql`, `hadoop`, `memory`), and the properties of that type. Values of None are ignored. Keys
            that are not Python identifiers are passed as `**{"s3.endpoint": ...}`.

    Raises:
        ValidationError: The type or a property is unknown, or a required property is missing.
        NotImplementedError: The type is not supported yet.

    Examples:
        >>> catalog = load_catalog("scratch", type="memory")
        >>> catalog.create_namespace("db")
        >>> catalog.list_namespaces()
        [('db',)]
    """
    own_name = name if name is not None else "default"
    given = {key: str(value) for key, value in properties.items() if value is not None}
    merged = {**catalog_properties(own_name), **given}
    kind = _type(own_name, merged)
    allowed = PROPERTIES[kind]
    unknown = sorted(key for key in merged if key not in allowed and not key.startswith(STORAGE_PREFIXES))
    if unknown:
        raise ValidationError(
            f"catalog {own_name!r} of type {kind!r}: unknown property {', '.join(map(repr, unknown))}; expected "
            f"{', '.join(sorted(allowed))} or storage properties ({', '.join(STORAGE_PREFIXES)})"
        )
    return _constructors()[kind](own_name, merged)


def _type(name: str, properties: dict[str, str]) -> str:
    """Remove `type` from the properties and return it, or the type that `uri` implies."""
    given = properties.pop("type", None)
    if given is None:
        return _inferred_type(name, properties)
    kind = ALIASES.get(given.lower(), given.lower())
    if kind in PLANNED:
        raise NotImplementedError(
            f"catalog {name!r}: type {given!r} is not supported yet; expected sql, hadoop or memory"
        )
    if kind not in PROPERTIES:
        raise ValidationError(f"catalog {name!r}: unknown type {given!r}; expected sql, hadoop or memory")
    return kind


def _inferred_type(name: str, properties: dict[str, str]) -> str:
    scheme = properties.get("uri", "").split(":", 1)[0].lower()
    if scheme in ("http", "https", "thrift"):
        raise NotImplementedError(
            f"catalog {name!r}: a catalog at {scheme}:// is not supported yet; expected type sql, hadoop or memory"
        )
    if scheme.split("+", 1)[0] in ("sqlite", "postgresql", "postgres", "mysql"):
        return "sql"
    if not properties:
        raise ValidationError(
            f"catalog {name!r} is not configured: pass its properties to load_catalog(), or add it to .icefloe.yaml"
        )
    raise ValidationError(f"catalog {name!r}: property 'type' is missing; expected sql, hadoop or memory")


def load_sql(name: str, conf: Properties) -> Catalog:
    """Return a SQL catalog; no configuration file and no environment variable is read.

    Args:
        name: The catalog's name.
        conf: Properties of the catalog, such as `uri` and `warehouse`.

    Raises:
        ImportError: SQLAlchemy is not installed.
        ValidationError: A property is missing or invalid.
    """
    try:
        from icefloe.catalog.sql import SqlCatalog
    except ModuleNotFoundError as error:
        if error.name != "sqlalchemy":
            raise
        raise ImportError(f"catalog {name!r}, of type sql, needs SQLAlchemy: pip install sqlalchemy") from error

    return SqlCatalog(name, **conf)


def load_in_memory(name: str, conf: Properties) -> Catalog:
    """Return a catalog in this process's memory; `conf` may contain `warehouse`.

    >>> load_in_memory("scratch", {}).list_namespaces()
    []
    """
    return InMemoryCatalog(name, **conf)


def _constructors() -> dict[str, Callable[[str, Properties], Catalog]]:
    return {
        "sql": load_sql,
        "hadoop": lambda name, conf: HadoopCatalog(name, **conf),
        "memory": load_in_memory,
    }
