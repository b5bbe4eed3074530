"""The statements of a SQL catalog on the row of one table.

They are built once, with parameters: building a statement takes longer than SQLite takes to run it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, and_, bindparam, or_, select, update

from icefloe.catalog.identifiers import dotted
from icefloe.catalog.sql.layout import TABLE_TYPE, exactly, tables

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select, Update

    from icefloe.typedef import Identifier


def _parameter(name: str) -> Any:
    return bindparam(name, type_=String())


def is_table(*, has_types: bool) -> ColumnElement[bool]:
    """Return the condition that a row is a table.

    Args:
        has_types: Whether the database has the column that tells tables and views apart.
    """
    if not has_types:
        return tables.c.table_name.is_not(None)
    return or_(tables.c.iceberg_type == TABLE_TYPE, tables.c.iceberg_type.is_(None))


@cache
def is_key(*, has_types: bool) -> ColumnElement[bool]:
    """Return the condition that a row is the table of the parameters of :func:`table_key`."""
    return and_(
        exactly(tables.c.catalog_name, _parameter("key_catalog")),
        exactly(tables.c.table_namespace, _parameter("key_namespace")),
        exactly(tables.c.table_name, _parameter("key_name")),
        is_table(has_types=has_types),
    )


def table_key(catalog: str, namespace: Identifier, name: str) -> dict[str, str]:
    """Return the parameters of :func:`is_key` for a table."""
    return {"key_catalog": catalog, "key_namespace": dotted(namespace), "key_name": name}


@cache
def select_location(*, has_types: bool) -> Select[tuple[str]]:
    """Return the query of a table's metadata location, with the parameters of :func:`table_key`."""
    return select(tables.c.metadata_location).where(is_key(has_types=has_types))


@cache
def update_location(*, has_types: bool) -> Update:
    """Return the swap of a table's metadata location, with the parameters of :func:`table_key`, `old_location` and `new_location`."""
    old, new = _parameter("old_location"), _parameter("new_location")
    guard = and_(is_key(has_types=has_types), exactly(tables.c.metadata_location, old))
    return update(tables).where(guard).values(metadata_location=new, previous_metadata_location=old)
