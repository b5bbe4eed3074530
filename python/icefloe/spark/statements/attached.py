"""Catalogs attached to a Spark session.

The modules of tables and data sources are loaded while the JVM prepares its own catalog, since a session waits for both.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_text
from icefloe.exceptions import ValidationError
from icefloe.spark.session import active_session, session_key
from icefloe.spark.session_catalog import SessionCatalog
from icefloe.spark.session_lineage import record_session
from icefloe.spark.statements.catalog_listing import CatalogListing
from icefloe.spark.statements.claimed_database import claim_database
from icefloe.spark.statements.current_namespace import current_namespace, set_current_namespace
from icefloe.spark.statements.shown_table import ShownTable, warn_caller
from icefloe.spark.statements.spark_names import database_names, in_any_case, table_names
from icefloe.spark.statements.table_loads import TableLoads
from icefloe.spark.writer.schema_followers import add_schema_follower, remove_schema_follower

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.catalog import Catalog
    from icefloe.schema import Schema
    from icefloe.table.commit.committing_table import TableCatalog
    from icefloe.typedef import Identifier

_MODULES_OF_TABLES = (
    "icefloe.table.table",
    "icefloe.table.metadata.files",
    "icefloe.spark.statements.attached_source",
    "icefloe.spark.types.to_spark",
)
_ATTACHED: dict[str, dict[str, AttachedCatalog]] = {}
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


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
        self._listing = CatalogListing(catalog)
        self._loads = TableLoads(catalog, name)
        # Streaming queries change tables in threads of their own.
        self._changing = RLock()
        self._tables: dict[Identifier, tuple[str, str, Schema]] = {}
        self._databases: set[str] = set()
        self._database_of: dict[Identifier, str] = {}
        self.cached: dict[tuple[str, Identifier], Any] = {}

    def refresh(self) -> None:
        """Bring the tables in Spark's own catalog up to date: tables created, dropped or changed since by others.

        Each table is loaded. Statements through :func:`icefloe.spark.sql` do this for the tables that they change, and for tables that they
        name whose columns others have changed, as do :func:`icefloe.spark.write` and :func:`icefloe.spark.write_to` in this program for
        the tables that they change. Rows need no refresh.
        A table that cannot be loaded, or a namespace whose tables or namespaces may not be listed, is left out with a warning.
        """
        with self._changing:
            if self.views:
                self._listing.warn_again()
                self._refresh_all(loads_known=True)

    def follow_tables(self, *identifiers: Identifier) -> None:
        """Bring tables in Spark's own catalog up to date that a statement has created, changed, renamed or dropped."""

        def follow() -> None:
            for identifier in identifiers:
                self._follow(identifier)

        self._after_commit(follow)

    def follow_write(self, catalog: TableCatalog, identifier: Identifier) -> None:
        """Bring a table in Spark's own catalog up to date whose definition a write has changed, if it is a table of this catalog."""
        from icefloe.catalog import Catalog
        from icefloe.spark.statements.catalog_recipe import CatalogRecipe

        if isinstance(catalog, Catalog) and CatalogRecipe.of(catalog) == CatalogRecipe.of(self.catalog):
            self.follow_tables(identifier)

    def follow_schema(self, identifier: Identifier, schema: Schema) -> None:
        """Bring a table in Spark's own catalog up to date that a statement has loaded.

        Another writer has changed its columns, or it is left out because an earlier load has failed.
        """
        shown = self._tables.get(identifier)
        if self._loads.failed(identifier) is not None if shown is None else shown[2] != schema:
            reason = f"the columns of {'.'.join(identifier)} have changed"
            self._bring(lambda: self._follow_loaded(identifier, schema), reason)

    def follow_new_tables(self) -> None:
        """Bring tables into Spark's own catalog that a procedure has created; tables that are there are not loaded."""
        self._after_commit(lambda: self._refresh_all(loads_known=False))

    def follow_namespaces(self, *dropped: Identifier) -> None:
        """Bring the databases in Spark's own catalog up to date after a statement has created or dropped a namespace."""
        self._after_commit(lambda: self._refresh_databases(dropped))

    def tables(self) -> dict[str, str]:
        """Return the name in Spark's own catalog of each table, by the table's identifier.

        Examples:
            >>> lake = icefloe.spark.attach(spark, catalog, name="doc")
            >>> lake.tables()["db.events"]
            'doc_db.events'
            >>> icefloe.spark.detach(spark, "doc")
        """
        return {
            ".".join(identifier): f"{database}.{table}"
            for identifier, (database, table, _) in list(self._tables.items())
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
        for identifier, (database, table, _) in list(self._tables.items()):
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
                self._refresh(pool, loads_known=True)
            prepared.result()

    def detach(self) -> None:
        """Remove the tables from Spark's own catalog, and their rows from its cache."""
        for one in self.cached.values():
            one.frame.unpersist()
        self.cached.clear()
        with self._changing:
            self.views = False  # a write of another thread may be about to change an entry
            for database in sorted(self._databases):
                self.spark.sql(f"DROP DATABASE IF EXISTS {database} CASCADE")
            self._tables.clear()
            self._databases.clear()
            self._database_of.clear()

    def _after_commit(self, follow: Callable[[], None]) -> None:
        """Bring entries up to date after a statement: a failure is a warning, since the statement has committed."""
        self._bring(follow, "the statement has committed")

    def _bring(self, follow: Callable[[], None], reason: str) -> None:
        """Bring entries up to date for a reason; a failure is a warning."""
        try:
            with self._changing:
                if self.views:
                    follow()
        except Exception as error:  # noqa: BLE001
            warn_caller(
                f"attach: {reason}, but the tables of catalog {self.name} in Spark's own catalog are not up to date until "
                f"AttachedCatalog.refresh(): {error}"
            )

    def _refresh_all(self, *, loads_known: bool) -> None:
        with ThreadPoolExecutor(1) as pool:
            self._refresh(pool, loads_known=loads_known)

    def _refresh(self, pool: ThreadPoolExecutor, *, loads_known: bool) -> None:
        """Bring the tables in Spark's own catalog up to date.

        Args:
            pool: A pool of one thread, for calls that take the JVM long.
            loads_known: Whether to load the tables that Spark's own catalog has under their names.
        """
        known = () if loads_known else tuple(self._database_of)
        databases = database_names(self.name, self._listing.namespaces(known))
        found: set[Identifier] = set()
        changed: list[ShownTable] = []
        for space, database in databases.items():
            listed = self._listing.tables(space, database, only_new=not loads_known)
            if listed is None and not loads_known:
                found.update(one for one, shown in self._tables.items() if one[:-1] == space and shown[0] == database)
            for identifier, table in table_names(listed or []).items():
                shown = self._tables.get(identifier)
                if shown is not None and shown[:2] == (database, table) and not loads_known:
                    found.add(identifier)
                    continue
                view = self._loads.load(identifier, database, table, keeps_entry=False)
                if view is None:
                    continue
                found.add(identifier)
                if shown != (database, table, view.schema):
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
            self._drop_database(database)
        self._database_of = databases

    def _follow(self, identifier: Identifier) -> None:
        """Bring one table in Spark's own catalog up to date: its namespace is listed, and this table alone is loaded."""
        space = identifier[:-1]
        if space not in self._database_of:
            self._refresh_all(loads_known=False)
            return
        tables = self._listing.tables(space, self._database_of[space], only_new=True)
        known = {one: shown[1] for one, shown in self._tables.items() if one[:-1] == space}
        names = known if tables is None else table_names(tables)
        for gone in known.keys() - names.keys():
            self._drop(gone)
        if any(names.get(one, table) != table for one, table in known.items()):
            # The table has taken the name of another one.
            self._refresh_all(loads_known=False)
            return
        listed = identifier if identifier in names else in_any_case(identifier, names)
        if listed is None:
            return
        keeps_entry = listed in self._tables
        view = self._loads.load(listed, self._database_of[space], names[listed], keeps_entry=keeps_entry)
        if self._loads.failed(listed) is None:
            self._change(listed, view)

    def _follow_loaded(self, identifier: Identifier, schema: Schema) -> None:
        """Bring one table in Spark's own catalog up to date that is loaded: nothing is listed."""
        shown = self._tables.get(identifier)
        place = self._loads.failed(identifier) if shown is None else shown[:2]
        if place is None or self._database_of.get(identifier[:-1]) != place[0]:
            return
        if self.identifier_of(place) in (None, identifier):  # no other table has taken the name
            self._change(identifier, self._loads.shown(identifier, *place, schema))

    def _change(self, identifier: Identifier, view: ShownTable | None) -> None:
        """Change the entry of one table to how Spark's own catalog shows it; None removes the entry."""
        if view is None:
            if identifier in self._tables:
                self._drop(identifier)
        elif self._tables.get(identifier) != (view.database, view.table, view.schema):
            self._register([view])
            self._show(view, replace=True)

    def _refresh_databases(self, dropped: tuple[Identifier, ...]) -> None:
        known = [space for space in self._database_of if space not in dropped]
        databases = database_names(self.name, self._listing.namespaces(known))
        if any(databases.get(space, name) != name for space, name in self._database_of.items()):
            # A namespace has taken the name of another one.
            self._refresh_all(loads_known=False)
            return
        self._claim_all(list(databases.values()))
        for space in self._database_of.keys() - databases.keys():
            for identifier in [one for one in self._tables if one[:-1] == space]:
                del self._tables[identifier]
            self._drop_database(self._database_of[space])
        self._database_of = databases

    def _register(self, views: list[ShownTable]) -> None:
        """Register the data source of each table with the session."""
        from icefloe.spark.statements.attached_source import source_class

        for view in views:
            self._session.register_source(source_class(view.format_name, self.catalog, view.identifier))

    def _show(self, view: ShownTable, *, replace: bool) -> None:
        if replace:
            self.spark.sql(f"DROP TABLE IF EXISTS {view.database}.`{view.table}`")
        self._session.create_table(view.database, view.table, view.format_name, view.struct)
        self._tables[view.identifier] = (view.database, view.table, view.schema)

    def _drop(self, identifier: Identifier) -> None:
        database, table, _ = self._tables.pop(identifier)
        self.spark.sql(f"DROP TABLE IF EXISTS {database}.`{table}`")

    def _drop_database(self, database: str) -> None:
        self.spark.sql(f"DROP DATABASE IF EXISTS {database} CASCADE")
        self._databases.discard(database)

    def _claim_all(self, databases: list[str]) -> set[str]:
        """Create databases of attached tables, and return the ones that were not there."""
        created = [database for database in databases if database not in self._databases]
        for database in created:
            claim_database(self.spark, self._session, self.name, database)
            self._databases.add(database)
        return set(created)


def attach(spark: Any, catalog: Catalog, name: str = "lake", *, views: bool = True) -> AttachedCatalog:
    """Make the tables of a catalog visible to Spark SQL.

    ``icefloe.spark.sql(spark, text)`` then reads and changes ``lake.db.events``. Plain ``spark.sql`` reads and inserts into the same
    table as ``lake_db.events``: a database of Spark's own catalog for each namespace, named after the attached name and the
    namespace's parts. Characters other than letters, digits and underscores become underscores; ``tables()`` has all names.

    Functions of ``foreachBatch`` and sessions of ``newSession()`` find the catalog as well, except over Spark Connect.

    Plain ``spark.sql`` reads the current rows at every query, but all rows and columns of a table: no filter reaches the scan.
    Tables that cannot be loaded and namespaces that may not be listed are left out, and a Python warning names each of them.

    Args:
        spark: Session.
        catalog: Catalog. Other processes load it by its class, name and properties; plain ``spark.sql`` has no tables of a catalog in
            memory.
        name: Name of the catalog in SQL.
        views: Whether to create the tables in Spark's own catalog, for plain ``spark.sql``. Each table is loaded once for it.

    Raises:
        ValidationError: The name is no SQL identifier or is attached already, or Spark has a database of that name.
        IcebergError: The catalog does not list its namespaces.

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
    record_session(session)
    add_schema_follower(session, lake.name, lake.follow_write)
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
    known = _ATTACHED.get(session_key(active_session(spark)), {})
    if checked_text("detach, name", name).lower() not in known:
        raise ValidationError(f"detach: expected one of {', '.join(known) or 'no attached catalog'}, got {name!r}")
    lake = known.pop(name.lower())
    remove_schema_follower(lake.spark, lake.name)
    current = current_namespace(lake.spark)
    if current is not None and current.catalog == lake.name:
        set_current_namespace(lake.spark, None)
    lake.detach()


def attached_by_session() -> dict[str, dict[str, AttachedCatalog]]:
    """Return the attached catalogs of each session that has any, by the id of the session and by name."""
    return {key: dict(lakes) for key, lakes in list(_ATTACHED.items()) if lakes}
