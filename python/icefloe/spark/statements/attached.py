"""Catalogs attached to a Spark session.

The modules of tables and data sources are loaded while the JVM prepares its own catalog, since a session waits for both.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_text
from icefloe.exceptions import (
    CorruptFileError,
    FeatureUnsupportedError,
    MissingFileError,
    NoSuchTableError,
    ValidationError,
)
from icefloe.spark.session import active_session, session_key
from icefloe.spark.session_catalog import SessionCatalog
from icefloe.spark.statements.current_namespace import current_namespace, set_current_namespace
from icefloe.spark.statements.spark_names import database_names, table_names

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from icefloe.catalog import Catalog
    from icefloe.schema import Schema
    from icefloe.typedef import Identifier

_MODULES_OF_TABLES = (
    "icefloe.table.table",
    "icefloe.table.metadata.files",
    "icefloe.spark.statements.attached_source",
    "icefloe.spark.types.to_spark",
)
_ATTACHED: dict[str, dict[str, AttachedCatalog]] = {}
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class _View:
    """A table as Spark's own catalog shows it.

    Args:
        identifier: Identifier of the table.
        database: Spark's database of the table.
        table: Name of the table in the database.
        catalog: Name of the attached catalog.
        schema: Schema of the table.
        struct: Spark's type of its rows, nullable at every depth.
    """

    identifier: Identifier
    database: str
    table: str
    catalog: str
    schema: Schema
    struct: StructType

    @property
    def format_name(self) -> str:
        """The name of the table's data source in the session."""
        digest = hashlib.sha256("\0".join(self.identifier).encode()).hexdigest()[:12]
        return f"icefloe_{self.catalog}_{digest}"


class AttachedCatalog:
    """A catalog whose tables Spark SQL reads and writes; :func:`attach` returns it.

    Args:
        spark: Session.
        catalog: Catalog.
        name: Name of the catalog in SQL.
        views: Whether Spark's own catalog has the tables.
    """

    def __init__(self, spark: Any, catalog: Catalog, name: str, *, views: bool) -> None:
        self.spark = spark
        self.catalog = catalog
        self.name = name
        self.views = views
        self._session = SessionCatalog(spark)
        self._tables: dict[Identifier, tuple[str, str, Schema]] = {}
        self._databases: set[str] = set()
        self.cached: dict[Identifier, Any] = {}

    def refresh(self) -> None:
        """Bring the tables in Spark's own catalog up to date: tables created, dropped or changed since by others.

        Statements through :func:`icefloe.spark.sql` do this for the tables that they change. Rows need no refresh.
        """
        if self.views:
            with ThreadPoolExecutor(1) as pool:
                self._refresh(pool)

    def tables(self) -> dict[str, str]:
        """Return the name in Spark's own catalog of each table, by the table's identifier.

        Examples:
            >>> lake = icefloe.spark.attach(spark, catalog, name="doc")
            >>> lake.tables()["db.events"]
            'doc_db.events'
            >>> icefloe.spark.detach(spark, "doc")
        """
        return {
            ".".join(identifier): f"{database}.{table}" for identifier, (database, table, _) in self._tables.items()
        }

    @property
    def databases(self) -> frozenset[str]:
        """The databases of the tables in Spark's own catalog."""
        return frozenset(self._databases)

    def identifier_of(self, parts: tuple[str, ...]) -> Identifier | None:
        """Return the table that a name in Spark's own catalog has; None if it is no attached table."""
        lowered = tuple(part.lower() for part in parts)
        if lowered[:1] == ("spark_catalog",):
            lowered = lowered[1:]
        for identifier, (database, table, _) in self._tables.items():
            if lowered == (database, table):
                return identifier
        return None

    def show(self) -> None:
        """Bring the tables into Spark's own catalog, which the JVM prepares while this process loads modules and tables."""
        with ThreadPoolExecutor(1) as pool:
            prepared = pool.submit(self._session.prepare)
            if self.views:
                for name in _MODULES_OF_TABLES:
                    import_module(name)
                self._refresh(pool)
            prepared.result()

    def detach(self) -> None:
        """Remove the tables from Spark's own catalog, and their rows from its cache."""
        for one in self.cached.values():
            one.frame.unpersist()
        self.cached.clear()
        for database in sorted(self._databases):
            self.spark.sql(f"DROP DATABASE IF EXISTS {database} CASCADE")
        self._tables.clear()
        self._databases.clear()

    def _refresh(self, pool: ThreadPoolExecutor) -> None:
        """Bring the tables in Spark's own catalog up to date; the pool has one thread, for calls that take the JVM long."""
        databases = database_names(self.name, _namespaces(self.catalog))
        found: set[Identifier] = set()
        changed: list[_View] = []
        for space, database in databases.items():
            for identifier, table in table_names(self.catalog.list_tables(space)).items():
                found.add(identifier)
                view = self._view(identifier, database, table)
                if view is not None and self._tables.get(identifier) != (database, table, view.schema):
                    changed.append(view)
        # Where statements create them, the first data source of a JVM starts a Python process, and the first statement compiles
        # much of Spark: at the same time.
        claimed = pool.submit(self._claim_all, list(databases.values()))
        self._register(changed)
        created = claimed.result()
        for identifier in [one for one in self._tables if one not in found]:
            self._drop(identifier)
        for view in changed:
            self._show(view, replace=view.database not in created)
        for database in self._databases - set(databases.values()):
            self.spark.sql(f"DROP DATABASE IF EXISTS {database} CASCADE")
        self._databases &= set(databases.values())

    def _view(self, identifier: Identifier, database: str, table: str) -> _View | None:
        """Return how Spark's own catalog shows a table; None if it cannot."""
        from icefloe.spark.types.to_spark import read_schema

        try:
            schema = self.catalog.load_table(identifier).schema()
            return _View(identifier, database, table, self.name, schema, read_schema(schema))
        except NoSuchTableError:  # dropped since it was listed, or a table of another format
            return None
        except (FeatureUnsupportedError, MissingFileError, CorruptFileError, ValidationError) as error:
            warnings.warn(f"attach: {'.'.join(identifier)} is left out of {database}: {error}", stacklevel=5)
            return None

    def _register(self, views: list[_View]) -> None:
        """Register the data source of each table with the session."""
        from icefloe.spark.statements.attached_source import source_class

        for view in views:
            self._session.register_source(source_class(view.format_name, self.catalog, view.identifier))

    def _show(self, view: _View, *, replace: bool) -> None:
        if replace:
            self.spark.sql(f"DROP TABLE IF EXISTS {view.database}.`{view.table}`")
        self._session.create_table(view.database, view.table, view.format_name, view.struct)
        self._tables[view.identifier] = (view.database, view.table, view.schema)

    def _drop(self, identifier: Identifier) -> None:
        database, table, _ = self._tables.pop(identifier)
        self.spark.sql(f"DROP TABLE IF EXISTS {database}.`{table}`")

    def _claim_all(self, databases: list[str]) -> set[str]:
        """Create databases of attached tables, and return the ones that were not there."""
        return {database for database in databases if self._claim(database)}

    def _claim(self, database: str) -> bool:
        """Create a database of attached tables; return False if it is there already."""
        if database in self._databases:
            return False
        comment = f"Tables of catalog {self.name}, attached by icefloe"
        if self._session.database_exists(database):
            if self.spark.catalog.getDatabase(database).description != comment:
                raise ValidationError(
                    f"attach: Spark has a database {database!r} of its own; expected a name whose databases are free, got "
                    f"{self.name!r}: pass name='...', or views=False"
                )
            self.spark.sql(f"DROP DATABASE {database} CASCADE")  # of an earlier session
        self._session.create_database(database, comment)
        self._databases.add(database)
        return True


def attach(spark: Any, catalog: Catalog, name: str = "lake", *, views: bool = True) -> AttachedCatalog:
    """Make the tables of a catalog visible to Spark SQL.

    ``icefloe.spark.sql(spark, text)`` then reads and changes ``lake.db.events``. Plain ``spark.sql`` reads and inserts into the same
    table as ``lake_db.events``: a database of Spark's own catalog for each namespace, named after the attached name and the
    namespace's parts. Characters other than letters, digits and underscores become underscores; ``tables()`` has all names.

    Plain ``spark.sql`` reads the current rows at every query, but all rows and columns of a table: no filter reaches the scan.

    Args:
        spark: Session.
        catalog: Catalog. Other processes load it by its class, name and properties; plain ``spark.sql`` has no tables of a catalog in
            memory.
        name: Name of the catalog in SQL.
        views: Whether to create the tables in Spark's own catalog, for plain ``spark.sql``. Each table is loaded once for it.

    Raises:
        ValidationError: The name is no SQL identifier or is attached already, or Spark has a database of that name.

    Examples:
        >>> lake = icefloe.spark.attach(spark, catalog, name="shop")
        >>> icefloe.spark.sql(spark, "SELECT name FROM shop.db.events WHERE id = 2").collect()
        [Row(name='b')]
        >>> spark.sql("SELECT count(*) FROM shop_db.events").first()[0]
        3
        >>> icefloe.spark.detach(spark, "shop")
    """
    from icefloe.catalog import Catalog
    from icefloe.catalog.memory import InMemoryCatalog

    session = active_session(spark)
    if not isinstance(catalog, Catalog):
        raise ValidationError(f"attach: expected a catalog, such as load_catalog() returns, got {catalog!r}")
    if _NAME.fullmatch(checked_text("attach, name", name)) is None or name.lower() in (
        "spark_catalog",
        "system",
        "session",
    ):
        raise ValidationError(
            f"attach: expected a name of letters, digits and underscores that Spark has no use for, got {name!r}"
        )
    known = _ATTACHED.setdefault(session_key(session), {})
    if name.lower() in known:
        raise ValidationError(
            f"attach: {name!r} is attached already; expected another name, or detach({name!r}) before"
        )
    shared = not isinstance(catalog, InMemoryCatalog)
    lake = AttachedCatalog(session, catalog, name.lower(), views=views and shared)
    lake.show()
    known[name.lower()] = lake
    if shared:
        from icefloe.spark.statements.table_functions import register_functions

        register_functions(session, lake.catalog, lake.name)
    return lake


def detach(spark: Any, name: str = "lake") -> None:
    """Remove an attached catalog from a session; its tables stay as they are.

    Raises:
        ValidationError: No catalog of that name is attached.

    Examples:
        >>> lake = icefloe.spark.attach(spark, catalog, name="mine")
        >>> icefloe.spark.detach(spark, "mine")
    """
    known = attached_catalogs(spark)
    if checked_text("detach, name", name).lower() not in known:
        raise ValidationError(f"detach: expected one of {', '.join(known) or 'no attached catalog'}, got {name!r}")
    lake = _ATTACHED[session_key(active_session(spark))].pop(name.lower())
    current = current_namespace(lake.spark)
    if current is not None and current.catalog == lake.name:
        set_current_namespace(lake.spark, None)
    lake.detach()


def attached_catalogs(spark: Any) -> dict[str, AttachedCatalog]:
    """Return the attached catalogs of a session by name."""
    return dict(_ATTACHED.get(session_key(active_session(spark)), {}))


def _namespaces(catalog: Catalog, parent: Identifier = ()) -> list[Identifier]:
    found = []
    for namespace in catalog.list_namespaces(parent):
        if len(namespace) > len(parent):
            found += [namespace, *_namespaces(catalog, namespace)]
    return found
