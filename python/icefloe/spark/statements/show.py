"""SHOW: the tables, views, namespaces, columns and properties of an attached catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.catalog_views import listed_views
from icefloe.spark.statements.reported_properties import reported_properties
from icefloe.spark.statements.show_scope import expect_in, matches, pattern_of, place
from icefloe.spark.statements.table_clauses import property_key
from icefloe.spark.statements.table_information import table_information

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.statement import Statement
    from icefloe.typedef import Identifier

_KINDS = ("NAMESPACES", "DATABASES", "SCHEMAS")
_TABLES = "namespace string, tableName string, isTemporary boolean"


def show(statement: Statement, text: str) -> Any:
    """Run a SHOW statement on an attached catalog or table.

    Raises:
        FeatureUnsupportedError: The statement is another one.
    """
    cursor = Cursor(text)
    cursor.expect("SHOW")
    for keywords, command in _COMMANDS.items():
        if cursor.accept(*keywords):
            return command(statement, cursor)
    raise FeatureUnsupportedError(
        "SHOW: expected TABLES, TABLE EXTENDED, VIEWS, NAMESPACES, COLUMNS, TBLPROPERTIES or CREATE TABLE of an attached "
        f"catalog, got {text[:40]!r}: other statements run with spark.sql"
    )


def _properties(statement: Statement, cursor: Cursor) -> Any:
    reference = statement.references.resolve(cursor.names())
    properties = reported_properties(reference, statement.spark)
    if not cursor.done:
        key = _key(cursor)
        properties = {key: properties.get(key, f"Table {reference.dotted} does not have property: {key}")}
        cursor.finish()
    return statement.spark.createDataFrame(list(properties.items()), "key string, value string")


def _columns(statement: Statement, cursor: Cursor) -> Any:
    expect_in(cursor)
    name = cursor.names()
    if not cursor.done:
        expect_in(cursor)
        name = (*cursor.names(), *name[-1:])
    cursor.finish()
    schema = statement.references.resolve(name).table.schema()
    return statement.spark.createDataFrame([(field.name,) for field in schema.fields], "col_name string")


def _tables(statement: Statement, cursor: Cursor) -> Any:
    rows = [(".".join(one[:-1]), one[-1], False) for _, one in _matching(statement, cursor, "SHOW TABLES")]
    return statement.spark.createDataFrame(rows, _TABLES)


def _tables_extended(statement: Statement, cursor: Cursor) -> Any:
    rows = []
    for lake, one in _matching(statement, cursor, "SHOW TABLE EXTENDED"):
        reference = statement.references.resolve((lake.name, *one))
        rows.append((".".join(one[:-1]), one[-1], False, table_information(reference, statement.spark)))
    return statement.spark.createDataFrame(rows, f"{_TABLES}, information string")


def _matching(statement: Statement, cursor: Cursor, label: str) -> list[tuple[AttachedCatalog, Identifier]]:
    """Return the tables of a namespace whose names match the pattern of a statement."""
    lake, namespace = place(statement, cursor)
    pattern = pattern_of(cursor)
    if not namespace:
        raise ValidationError(
            f"{label}: tables are in namespaces; expected one, such as {lake.name}.db, got {lake.name}: SHOW NAMESPACES IN "
            f"{lake.name} has them"
        )
    return [(lake, one) for one in lake.catalog.list_tables(namespace) if matches(one[-1], pattern)]


def _views(statement: Statement, cursor: Cursor) -> Any:
    """Return the views of a namespace, and the temporary views of the session."""
    lake, namespace = place(statement, cursor)
    pattern = pattern_of(cursor)
    stored = [(".".join(one[:-1]), one[-1], False) for one in listed_views(lake, namespace)]
    own = [row for row in statement.spark.sql("SHOW VIEWS").collect() if row["isTemporary"]]
    rows = [row for row in (*stored, *map(tuple, own)) if matches(row[1], pattern)]
    return statement.spark.createDataFrame(rows, "namespace string, viewName string, isTemporary boolean")


def _namespaces(statement: Statement, cursor: Cursor) -> Any:
    """Return the namespaces within one; without a name, the first ones of the current catalog."""
    names_place = cursor.at("IN", "FROM")
    lake, namespace = place(statement, cursor)
    pattern = pattern_of(cursor)
    spaces = [(".".join(one),) for one in lake.catalog.list_namespaces(namespace if names_place else ())]
    return statement.spark.createDataFrame([row for row in spaces if matches(row[0], pattern)], "namespace string")


def _catalogs(statement: Statement, cursor: Cursor) -> Any:
    """Return the catalogs that Spark has loaded, and the attached ones."""
    pattern = pattern_of(cursor)
    own = {row["catalog"] for row in statement.spark.sql("SHOW CATALOGS").collect()}
    rows = [(name,) for name in sorted(own | set(statement.lakes)) if matches(name, pattern)]
    return statement.spark.createDataFrame(rows, "catalog string")


_COMMANDS: dict[tuple[str, ...], Callable[[Statement, Cursor], Any]] = {
    ("TBLPROPERTIES",): _properties,
    ("COLUMNS",): _columns,
    ("TABLES",): _tables,
    ("TABLE", "EXTENDED"): _tables_extended,
    ("VIEWS",): _views,
    ("CATALOGS",): _catalogs,
    **{(kind,): _namespaces for kind in _KINDS},
}


def _key(cursor: Cursor) -> str:
    """Return the property key in the parentheses that follow."""
    items = cursor.items()
    if len(items) != 1:
        raise ValidationError(f"SHOW TBLPROPERTIES: expected one key, got {', '.join(items) or 'none'}")
    return property_key(Cursor(items[0]))
