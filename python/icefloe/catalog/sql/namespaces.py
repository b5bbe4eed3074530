"""Namespaces of a SQL catalog: statements on the rows of both tables, run inside a transaction.

A namespace exists if it has properties, or if it contains a table or a namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, delete, func, insert, or_, select, update

from icefloe.catalog.identifiers import SEPARATOR, dotted
from icefloe.catalog.sql.layout import exact_bytes, exactly, namespace_properties, tables

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from icefloe.typedef import Identifier, Properties

EXISTS = "exists"

_columns = namespace_properties.c


def exists(connection: Connection, catalog: str, levels: Identifier) -> bool:
    """Return whether a namespace exists."""
    name = dotted(levels)
    below = name + SEPARATOR
    for owner, column in (
        (_columns.catalog_name, _columns.namespace),
        (tables.c.catalog_name, tables.c.table_namespace),
    ):
        # LIKE has wildcards, and ignores case in SQLite.
        is_below = exactly(func.substr(column, 1, len(below)), below)
        query = select(column).where(exactly(owner, catalog), or_(exactly(column, name), is_below)).limit(1)
        if connection.execute(query).first() is not None:
            return True
    return False


def lock(connection: Connection, catalog: str, levels: Identifier) -> bool:
    """Lock a namespace against drops and changes until the transaction ends; return whether it exists.

    One row is locked, so that transactions cannot wait for parts of each other's locks. A namespace of another writer may lack
    that row; all of its rows are locked then.
    """
    own = _key(catalog, levels)
    for rows in (and_(own, exactly(_columns.property_key, EXISTS)), own):
        locking = update(namespace_properties).where(rows).values(property_value=_columns.property_value)
        if connection.execute(locking).rowcount > 0:
            return True
    return exists(connection, catalog, levels)


def names(connection: Connection, catalog: str) -> set[str]:
    """Return the dotted names of all namespaces that have properties or tables."""
    return {
        str(row[0])
        for owner, column in (
            (tables.c.catalog_name, tables.c.table_namespace),
            (_columns.catalog_name, _columns.namespace),
        )
        for row in connection.execute(
            select(func.max(column)).where(exactly(owner, catalog)).group_by(exact_bytes(column))
        )
    }


def stored_properties(connection: Connection, catalog: str, levels: Identifier) -> dict[str, str]:
    """Return the properties of a namespace, including the property `exists`."""
    query = select(_columns.property_key, _columns.property_value).where(_key(catalog, levels))
    return {str(key): str(value) for key, value in connection.execute(query)}


def add(connection: Connection, catalog: str, levels: Identifier, properties: Properties) -> None:
    """Insert properties that the namespace does not have."""
    rows = [
        {"catalog_name": catalog, "namespace": dotted(levels), "property_key": key, "property_value": value}
        for key, value in properties.items()
    ]
    if rows:
        connection.execute(insert(namespace_properties).values(rows))


def change(
    connection: Connection, catalog: str, levels: Identifier, removals: set[str], updates: Properties
) -> dict[str, str]:
    """Remove and set properties; return the properties before.

    Existing rows are updated: a transaction that waits for a row would not see it after a delete and insert.
    """
    before = stored_properties(connection, catalog, levels)
    own = _key(catalog, levels)
    removed = sorted((removals & set(before)) - {EXISTS})
    if removed:
        rows = or_(*(exactly(_columns.property_key, key) for key in removed))
        connection.execute(delete(namespace_properties).where(own, rows))
    for key in sorted(set(updates) & set(before)):
        row = update(namespace_properties).where(own, exactly(_columns.property_key, key))
        connection.execute(row.values(property_value=updates[key]))
    after = {EXISTS: "true", **updates}
    add(connection, catalog, levels, {key: after[key] for key in after if key not in before})
    return before


def remove(connection: Connection, catalog: str, levels: Identifier) -> None:
    """Delete the properties of a namespace."""
    connection.execute(delete(namespace_properties).where(_key(catalog, levels)))


def _key(catalog: str, levels: Identifier) -> ColumnElement[bool]:
    return and_(exactly(_columns.catalog_name, catalog), exactly(_columns.namespace, dotted(levels)))
