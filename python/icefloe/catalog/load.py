"""`load_catalog`: creating a catalog from properties, configuration files and environment variables."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from icefloe.arguments import checked_mapping, checked_text
from icefloe.catalog.catalog import Catalog
from icefloe.catalog.configuration import (
    PY_CATALOG_IMPL,
    TYPE,
    catalog_properties,
    default_catalog,
    flattened,
    list_catalogs,
)
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.table_creation import TABLE_DEFAULT, TABLE_OVERRIDE
from icefloe.exceptions import FeatureUnsupportedError, NotInstalledError, ValidationError
from icefloe.io.file_io import STORAGE_PREFIXES, check_implementation
from icefloe.io.property_names import PY_IO_IMPL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.typedef import Properties

PROPERTIES = {
    "sql": {"uri", "warehouse", "echo", "init_catalog_tables", "pool_pre_ping", "jdbc.schema-version"},
    "hadoop": {"warehouse"},
    "memory": {"warehouse"},
    "hive": {
        "uri",
        "warehouse",
        "ugi",
        "hive.hive2-compatible",
        "hive.kerberos-authentication",
        "hive.kerberos-service-name",
        "hive.metastore.client.socket.timeout",
        "iceberg.engine.hive.lock-enabled",
        "lock-check-min-wait-time",
        "lock-check-max-wait-time",
        *(
            f"{prefix}hive.lock-{name}-ms"
            for prefix in ("iceberg.", "")
            for name in ("timeout", "check-min-wait", "check-max-wait", "heartbeat-interval")
        ),
    },
    "glue": {
        "warehouse",
        "glue.id",
        "glue.region",
        "glue.profile-name",
        "glue.access-key-id",
        "glue.secret-access-key",
        "glue.session-token",
        "glue.endpoint",
        "glue.skip-archive",
        "glue.skip-name-validation",
        "glue.max-retries",
        "glue.retry-mode",
    },
}
"""The catalog properties of each type; types that are not here check their properties themselves."""
_PACKAGES = {
    "sql": (("sqlalchemy",), "SQLAlchemy", "sqlalchemy"),
    "rest": (("httpx",), "httpx", "'icefloe[rest]'"),
    "hive": (("thrift",), "Thrift", "'icefloe[hive]'"),
    "glue": (("boto3", "botocore"), "boto3", "'icefloe[glue]'"),
}
"""Modules that a type needs, the name of their package, and what `pip install` is given for it."""
ALIASES = {"in-memory": "memory", "jdbc": "sql"}
SCHEMES = {
    "sqlite": "sql",
    "postgresql": "sql",
    "postgres": "sql",
    "mysql": "sql",
    "mariadb": "sql",
    "thrift": "hive",
    "http": "rest",
    "https": "rest",
}
"""The type that the scheme of `uri` implies."""
UNSUPPORTED = ("dynamodb", "bigquery")
PYICEBERG_CLASSES = {
    "pyiceberg.catalog.bigquery_metastore.BigQueryMetastoreCatalog": "bigquery",
    "pyiceberg.catalog.dynamodb.DynamoDbCatalog": "dynamodb",
    "pyiceberg.catalog.glue.GlueCatalog": "glue",
    "pyiceberg.catalog.hive.HiveCatalog": "hive",
    "pyiceberg.catalog.memory.InMemoryCatalog": "memory",
    "pyiceberg.catalog.rest.RestCatalog": "rest",
    "pyiceberg.catalog.sql.SqlCatalog": "sql",
}
"""The type that a class of PyIceberg in `py-catalog-impl` stands for."""


def load_catalog(name: str | None = None, **properties: str | None) -> Catalog:
    """Return the catalog of a name, with given and configured properties.

    Given properties override environment variables (`ICEFLOE_CATALOG__<NAME>__<KEY>`, `PYICEBERG_CATALOG__<NAME>__<KEY>`),
    which override `.icefloe.yaml` and `.pyiceberg.yaml` (in the directory in `ICEFLOE_HOME` or `PYICEBERG_HOME`, the home
    directory, or the working directory).

    Args:
        name: The catalog's name. None uses the configured `default-catalog`, or `default` without one.
        **properties: `type` (`sql`, `rest`, `hadoop`, `memory`, `hive`, `glue`), or `py-catalog-impl` (a class of your own, `package.module.Class`,
            derived from :class:`Catalog`, or a class of PyIceberg, which stands for its type), and the properties of that type. Without both, `uri` implies the type. Values of None
            are ignored, and so is empty text for a property that is configured. Keys that are not Python identifiers are passed as `**{"s3.endpoint": ...}`.

    Raises:
        ValidationError: The type or a property is unknown, or a required property is missing.
        FeatureUnsupportedError: PyIceberg has the type, and icefloe has not.

    Examples:
        >>> catalog = load_catalog("scratch", type="memory")
        >>> catalog.create_namespace("db")
        >>> catalog.list_namespaces()
        [('db',)]
    """
    own_name = checked_text("name of a catalog", name) if name is not None else default_catalog()
    given = {key: str(value) for key, value in flattened(properties).items()}
    configured = catalog_properties(own_name)
    merged = {**configured, **{key: value for key, value in given.items() if value != "" or key not in configured}}
    check_implementation(f"catalog {own_name!r}: ", merged)
    if (implementation := merged.get(PY_CATALOG_IMPL)) is not None:
        if implementation not in PYICEBERG_CLASSES or TYPE in merged:
            return _load_implementation(own_name, implementation, merged)
        merged[TYPE] = PYICEBERG_CLASSES[merged.pop(PY_CATALOG_IMPL)]
    kind = _type(own_name, merged)
    _check_known(own_name, kind, merged)
    return _constructors()[kind](own_name, merged)


def _check_known(name: str, kind: str, properties: Properties) -> None:
    allowed = PROPERTIES.get(kind)
    if allowed is None:
        return
    prefixes = (*STORAGE_PREFIXES, TABLE_DEFAULT, TABLE_OVERRIDE)
    unknown = sorted(key for key in properties if key not in {*allowed, PY_IO_IMPL} and not key.startswith(prefixes))
    if unknown:
        raise ValidationError(
            f"catalog {name!r} of type {kind!r}: unknown property {', '.join(map(repr, unknown))}; expected "
            f"{', '.join(sorted(allowed))}, {TABLE_DEFAULT}*, {TABLE_OVERRIDE}* or storage properties ({', '.join(STORAGE_PREFIXES)})"
        )


def _load_implementation(name: str, implementation: str, properties: Properties) -> Catalog:
    if TYPE in properties:
        raise ValidationError(
            f"catalog {name!r}: expected one of the properties {TYPE} and {PY_CATALOG_IMPL}, got both: {properties[TYPE]!r} and "
            f"{implementation!r}"
        )
    module, _, own_class = implementation.rpartition(".")
    try:
        found = getattr(import_module(module), own_class)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValidationError(
            f"catalog {name!r}: property {PY_CATALOG_IMPL}: cannot load {implementation!r}; expected an importable class, "
            f"package.module.Class: {error}"
        ) from error
    if not isinstance(found, type) or not issubclass(found, Catalog):
        raise ValidationError(
            f"catalog {name!r}: property {PY_CATALOG_IMPL}: expected a subclass of icefloe.catalog.Catalog, got {implementation!r}"
        )
    return found(name, **properties)


def _type(name: str, properties: Properties) -> str:
    """Remove `type` from the properties and return it, or the type that `uri` implies."""
    given = properties.pop(TYPE, None)
    if given is None:
        return _inferred_type(name, properties)
    kind = ALIASES.get(given.lower(), given.lower())
    if kind in UNSUPPORTED:
        raise FeatureUnsupportedError(f"catalog {name!r}: type {given!r} is not supported; expected {_types()}")
    if kind not in _constructors():
        raise ValidationError(f"catalog {name!r}: unknown type {given!r}; expected {_types()}")
    return kind


def _inferred_type(name: str, properties: Properties) -> str:
    if not properties:
        others = list_catalogs()
        found = f"; configured are {', '.join(map(repr, others))}" if others else ""
        raise ValidationError(
            f"catalog {name!r} is not configured: pass its properties to load_catalog(), or add it to .icefloe.yaml{found}"
        )
    uri = properties.get("uri")
    if uri is None:
        raise ValidationError(f"catalog {name!r}: property 'type' is missing; expected {_types()}")
    scheme = uri.split(":", 1)[0].lower()
    kind = SCHEMES.get(scheme.split("+", 1)[0])
    if kind is None:
        # The text of a URI may contain a password.
        raise ValidationError(
            f"catalog {name!r}: property 'uri' implies no type; expected {', '.join(sorted(SCHEMES))}, or the property 'type': "
            f"{_types()}"
        )
    return kind


def load_sql(name: str, conf: Properties) -> Catalog:
    """Return a SQL catalog; no configuration file and no environment variable is read.

    Args:
        name: The catalog's name.
        conf: Properties of the catalog, such as `uri` and `warehouse`.

    Raises:
        ImportError: SQLAlchemy is not installed.
        ValidationError: A property is missing or invalid.
    """
    with _packages_of("sql", name):
        from icefloe.catalog.sql import SqlCatalog

    return SqlCatalog(name, **_checked(conf))


def load_rest(name: str, conf: Properties) -> Catalog:
    """Return a REST catalog; no configuration file and no environment variable is read.

    Args:
        name: The catalog's name.
        conf: Properties of the catalog, such as `uri` and `token`.

    Raises:
        ImportError: httpx is not installed.
        ValidationError: A property is missing or invalid.
    """
    with _packages_of("rest", name):
        from icefloe.catalog.rest import RestCatalog

    return RestCatalog(name, **_checked(conf))


def load_hive(name: str, conf: Properties) -> Catalog:
    """Return a Hive catalog; no configuration file and no environment variable is read.

    Args:
        name: The catalog's name.
        conf: Properties of the catalog, such as `uri` and `warehouse`.

    Raises:
        ImportError: Thrift is not installed.
        ValidationError: A property is missing or invalid.
    """
    with _packages_of("hive", name):
        from icefloe.catalog.hive import HiveCatalog

    return HiveCatalog(name, **_checked(conf))


def load_glue(name: str, conf: Properties) -> Catalog:
    """Return a Glue catalog; no configuration file of icefloe is read.

    Args:
        name: The catalog's name.
        conf: Properties of the catalog, such as `warehouse` and `glue.region`.

    Raises:
        ImportError: boto3 is not installed.
        ValidationError: A property is invalid.
    """
    with _packages_of("glue", name):
        from icefloe.catalog.glue import GlueCatalog

    return GlueCatalog(name, **_checked(conf))


def load_in_memory(name: str, conf: Properties) -> Catalog:
    """Return a catalog in this process's memory; `conf` may contain `warehouse`.

    >>> load_in_memory("scratch", {}).list_namespaces()
    []
    """
    return InMemoryCatalog(name, **_checked(conf))


@contextmanager
def _packages_of(kind: str, name: str) -> Iterator[None]:
    """Report a missing package of a type of catalogs by the command that installs it.

    Raises:
        NotInstalledError: A package of the type is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        modules, package, install = _PACKAGES[kind]
        if error.name not in modules:
            raise
        raise NotInstalledError(f"catalog {name!r}, of type {kind}, needs {package}: pip install {install}") from error


def _checked(conf: object) -> Properties:
    return dict(checked_mapping("properties of a catalog", conf, "names to values"))


def _load_hadoop(name: str, conf: Properties) -> Catalog:
    from icefloe.catalog.hadoop import HadoopCatalog

    return HadoopCatalog(name, **conf)


def _constructors() -> dict[str, Callable[[str, Properties], Catalog]]:
    return {
        "sql": load_sql,
        "rest": load_rest,
        "hadoop": _load_hadoop,
        "memory": load_in_memory,
        "hive": load_hive,
        "glue": load_glue,
    }


def _types() -> str:
    *others, last = _constructors()
    return f"{', '.join(others)} or {last}"
