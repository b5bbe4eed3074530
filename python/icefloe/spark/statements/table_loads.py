"""Loads of an attached catalog's tables for their entries in Spark's own catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import IcebergError, NoSuchTableError
from icefloe.spark.statements.shown_table import ShownTable, warn_caller

if TYPE_CHECKING:
    from icefloe.catalog import Catalog
    from icefloe.schema import Schema
    from icefloe.typedef import Identifier


class TableLoads:
    """The loads of the tables of a catalog, with the ones that have failed and may succeed later.

    Args:
        catalog: The catalog.
        name: Name of the catalog in SQL.
    """

    def __init__(self, catalog: Catalog, name: str) -> None:
        self._catalog = catalog
        self._name = name
        self._failed: dict[Identifier, tuple[str, str]] = {}

    def failed(self, identifier: Identifier) -> tuple[str, str] | None:
        """Return Spark's database and name of a table whose last load has failed; None for any other table."""
        return self._failed.get(identifier)

    def load(self, identifier: Identifier, database: str, table: str, *, keeps_entry: bool) -> ShownTable | None:
        """Return how Spark's own catalog shows a table, which is loaded; None if it cannot, with a warning unless there is no such table.

        Args:
            identifier: Identifier of the table.
            database: Spark's database of the table.
            table: Name of the table in the database.
            keeps_entry: Whether the table has an entry that stays if the load fails, for the warning.
        """
        self._failed.pop(identifier, None)
        try:
            schema = self._catalog.load_table(identifier).schema()
        except NoSuchTableError:  # dropped since it was listed, or a table of another format
            return None
        except IcebergError as error:
            self._failed[identifier] = (database, table)
            outcome = "is not up to date in" if keeps_entry else "is left out of"
            warn_caller(f"attach: {'.'.join(identifier)} {outcome} {database}: {error}")
            return None
        return self.shown(identifier, database, table, schema)

    def shown(self, identifier: Identifier, database: str, table: str, schema: Schema) -> ShownTable | None:
        """Return how Spark's own catalog shows a table that is loaded; None, with a warning, if Spark has no type for a column.

        Args:
            identifier: Identifier of the table.
            database: Spark's database of the table.
            table: Name of the table in the database.
            schema: Schema of the table.
        """
        from icefloe.spark.types.to_spark import read_schema

        self._failed.pop(identifier, None)
        try:
            return ShownTable(identifier, database, table, self._name, schema, read_schema(schema))
        except IcebergError as error:
            warn_caller(f"attach: {'.'.join(identifier)} is left out of {database}: {error}")
            return None
