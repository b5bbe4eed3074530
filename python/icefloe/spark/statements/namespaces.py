"""Statements on namespaces, and the lists and the refresh of attached tables."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, NoSuchNamespaceError, ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.table_clauses import properties_of, property_keys

if TYPE_CHECKING:
    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.query import Statement
    from icefloe.typedef import Identifier

_KINDS = ("NAMESPACE", "DATABASE", "SCHEMA")
_SHOWN_PROPERTIES = ("comment", "location", "owner")


def create_namespace(statement: Statement, text: str) -> None:
    """Run CREATE NAMESPACE."""
    cursor = Cursor(text)
    cursor.expect("CREATE")
    _kind(cursor)
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    lake, namespace = statement.references.locate(cursor.names())
    properties: dict[str, str] = {}
    while not cursor.done:
        if cursor.accept("COMMENT"):
            properties["comment"] = cursor.string()
        elif cursor.accept("LOCATION"):
            properties["location"] = cursor.string()
        elif cursor.accept("WITH", "DBPROPERTIES") or cursor.accept("WITH", "PROPERTIES"):
            properties.update(properties_of(cursor))
        else:
            raise cursor.error("COMMENT, LOCATION or WITH PROPERTIES")
    if if_not_exists:
        lake.catalog.create_namespace_if_not_exists(namespace, properties)
    else:
        lake.catalog.create_namespace(namespace, properties)
    lake.refresh()


def drop_namespace(statement: Statement, text: str) -> None:
    """Run DROP NAMESPACE; a namespace with tables is refused."""
    cursor = Cursor(text)
    cursor.expect("DROP")
    _kind(cursor)
    if_exists = cursor.accept("IF", "EXISTS")
    lake, namespace = statement.references.locate(cursor.names())
    if cursor.accept("CASCADE"):
        raise FeatureUnsupportedError(
            "DROP NAMESPACE: CASCADE is not supported; expected an empty namespace: drop its tables first"
        )
    cursor.accept("RESTRICT")
    cursor.finish()
    try:
        lake.catalog.drop_namespace(namespace)
    except NoSuchNamespaceError:
        if not if_exists:
            raise
    lake.refresh()


def alter_namespace(statement: Statement, text: str) -> None:
    """Run ALTER NAMESPACE: SET or UNSET PROPERTIES, or SET LOCATION."""
    cursor = Cursor(text)
    cursor.expect("ALTER")
    _kind(cursor)
    lake, namespace = statement.references.locate(cursor.names())
    removed: set[str] = set()
    updates: dict[str, str] = {}
    if cursor.accept("SET", "PROPERTIES") or cursor.accept("SET", "DBPROPERTIES"):
        updates = properties_of(cursor)
    elif cursor.accept("SET", "LOCATION"):
        updates = {"location": cursor.string()}
    elif cursor.accept("UNSET", "PROPERTIES") or cursor.accept("UNSET", "DBPROPERTIES"):
        cursor.accept("IF", "EXISTS")
        removed = set(property_keys(cursor))
    else:
        raise cursor.error("SET PROPERTIES, UNSET PROPERTIES or SET LOCATION")
    cursor.finish()
    lake.catalog.update_namespace_properties(namespace, removed, updates)


def describe_namespace(statement: Statement, text: str) -> Any:
    """Run DESCRIBE NAMESPACE: catalog, name, comment, location and owner; with EXTENDED, the other properties."""
    cursor = Cursor(text)
    if not cursor.accept("DESC"):
        cursor.expect("DESCRIBE")
    _kind(cursor)
    extended = cursor.accept("EXTENDED")
    lake, namespace = statement.references.locate(cursor.names())
    cursor.finish()
    properties = dict(lake.catalog.load_namespace_properties(namespace))
    rows = [("Catalog Name", lake.name), ("Namespace Name", ".".join(namespace))]
    rows += [(key.capitalize(), properties.pop(key)) for key in _SHOWN_PROPERTIES if key in properties]
    if extended:
        pairs = ", ".join(f"({key},{value})" for key, value in sorted(properties.items()))
        rows.append(("Properties", f"({pairs})" if pairs else ""))
    return statement.spark.createDataFrame(rows, "info_name string, info_value string")


def refresh_table(statement: Statement, text: str) -> None:
    """Run REFRESH TABLE: the entries of Spark's own catalog follow the catalog; every statement reads the current rows anyway."""
    cursor = Cursor(text)
    cursor.expect("REFRESH", "TABLE")
    reference = statement.references.resolve(cursor.names())
    cursor.finish()
    reference.lake.refresh()


def show(statement: Statement, text: str) -> Any:
    """Run SHOW TABLES, SHOW NAMESPACES, SHOW TBLPROPERTIES or SHOW COLUMNS."""
    cursor = Cursor(text)
    cursor.expect("SHOW")
    if cursor.accept("TBLPROPERTIES"):
        properties = statement.references.resolve(cursor.names()).table.properties
        if not cursor.done:
            (key,) = properties_key(cursor)
            properties = {key: properties.get(key, f"Table does not have property: {key}")}
        return statement.spark.createDataFrame(sorted(properties.items()), "key string, value string")
    if cursor.accept("COLUMNS"):
        _in(cursor)
        schema = statement.references.resolve(cursor.names()).table.schema()
        return statement.spark.createDataFrame([(field.name,) for field in schema.fields], "col_name string")
    tables = cursor.accept("TABLES")
    if not tables and not any(cursor.accept(f"{kind}S") for kind in _KINDS):
        raise FeatureUnsupportedError(
            "SHOW: expected TABLES, NAMESPACES, COLUMNS or TBLPROPERTIES of an attached catalog, got "
            f"{text[:40]!r}: other statements run with spark.sql"
        )
    _in(cursor)
    lake, namespace = _namespace(statement, cursor.names())
    pattern = cursor.string() if not cursor.done and (cursor.accept("LIKE") or True) else "*"
    cursor.finish()
    if tables and not namespace:
        raise ValidationError(
            f"SHOW TABLES: tables are in namespaces; expected one, such as {lake.name}.db, got {lake.name}: SHOW NAMESPACES IN "
            f"{lake.name} has them"
        )
    if tables:
        rows = [(".".join(one[:-1]), one[-1], False) for one in lake.catalog.list_tables(namespace)]
        matching = [row for row in rows if _like(row[1], pattern)]
        return statement.spark.createDataFrame(matching, "namespace string, tableName string, isTemporary boolean")
    spaces = [(".".join(one),) for one in lake.catalog.list_namespaces(namespace)]
    return statement.spark.createDataFrame([row for row in spaces if _like(row[0], pattern)], "namespace string")


def properties_key(cursor: Cursor) -> list[str]:
    """Return the property key in the parentheses that follow."""
    items = cursor.items()
    if len(items) != 1:
        raise ValidationError(f"SHOW TBLPROPERTIES: expected one key, got {', '.join(items) or 'none'}")
    return [items[0].strip("'\"")]


def _kind(cursor: Cursor) -> None:
    if not any(cursor.accept(kind) for kind in _KINDS):
        raise cursor.error("NAMESPACE, DATABASE or SCHEMA")


def _in(cursor: Cursor) -> None:
    if not cursor.accept("IN") and not cursor.accept("FROM"):
        raise cursor.error("IN and a namespace")


def _namespace(statement: Statement, parts: tuple[str, ...]) -> tuple[AttachedCatalog, Identifier]:
    if len(parts) == 1 and parts[0].lower() in statement.lakes:
        return statement.lakes[parts[0].lower()], ()
    return statement.references.locate(parts)


def _like(name: str, pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), one.strip().lower().replace("%", "*")) for one in pattern.split("|"))
