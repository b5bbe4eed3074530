"""Statements on namespaces, and the refresh of attached tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import (
    FeatureUnsupportedError,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    ValidationError,
)
from icefloe.spark.lexer import Cursor
from icefloe.spark.session import current_user
from icefloe.spark.statements.table_clauses import check_not_reserved, properties_of, property_keys

if TYPE_CHECKING:
    from icefloe.catalog import Catalog
    from icefloe.spark.statements.statement import Statement
    from icefloe.typedef import Identifier

_KINDS = ("NAMESPACE", "DATABASE", "SCHEMA")
_RESERVED = {
    "location": "the clause LOCATION",
    "owner": "no owner, which is the user who creates the namespace",
}
"""Properties that no statement sets by their keys, and what sets each."""
_SHOWN_PROPERTIES = ("comment", "location", "owner")


def create_namespace(statement: Statement, text: str) -> None:
    """Run CREATE NAMESPACE; the property `owner` is the user of the session, where namespaces of the catalog have properties."""
    cursor = Cursor(text)
    cursor.expect("CREATE")
    _kind(cursor)
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    lake, namespace = statement.references.locate_namespace(cursor.names())
    properties = _given_properties(cursor)
    try:
        _create(lake.catalog, namespace, properties, current_user(statement.spark))
    except NamespaceAlreadyExistsError:
        if not if_not_exists:
            raise
    lake.follow_namespaces()


def _given_properties(cursor: Cursor) -> dict[str, str]:
    """Return the properties that the clauses of CREATE NAMESPACE set; COMMENT has precedence over a property `comment`."""
    clauses, properties = dict[str, str](), dict[str, str]()
    given: set[str] = set()
    while (word := cursor.peek()) is not None:
        clause = word.text.upper()
        if clause in given:
            raise ValidationError(f"CREATE NAMESPACE: {clause} is given twice; expected each clause once")
        given.add(clause)
        if cursor.accept("COMMENT") or cursor.accept("LOCATION"):
            clauses[clause.lower()] = cursor.string()
        elif cursor.accept("WITH", "DBPROPERTIES") or cursor.accept("WITH", "PROPERTIES"):
            properties = properties_of(cursor)
            check_not_reserved(properties, _RESERVED, "CREATE NAMESPACE", "namespace")
        else:
            raise cursor.error("COMMENT, LOCATION or WITH PROPERTIES")
    return {**properties, **clauses}


def _create(catalog: Catalog, namespace: Identifier, properties: dict[str, str], owner: str) -> None:
    try:
        catalog.create_namespace(namespace, {**properties, "owner": owner})
    except FeatureUnsupportedError:  # the catalog's namespaces have no properties
        catalog.create_namespace(namespace, properties)


def drop_namespace(statement: Statement, text: str) -> None:
    """Run DROP NAMESPACE; a namespace with tables is refused."""
    cursor = Cursor(text)
    cursor.expect("DROP")
    _kind(cursor)
    if_exists = cursor.accept("IF", "EXISTS")
    lake, namespace = statement.references.locate_namespace(cursor.names())
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
    lake.follow_namespaces(namespace)


def alter_namespace(statement: Statement, text: str) -> None:
    """Run ALTER NAMESPACE: SET or UNSET PROPERTIES, or SET LOCATION."""
    cursor = Cursor(text)
    cursor.expect("ALTER")
    _kind(cursor)
    lake, namespace = statement.references.locate_namespace(cursor.names())
    removed: set[str] = set()
    updates: dict[str, str] = {}
    if cursor.accept("SET", "PROPERTIES") or cursor.accept("SET", "DBPROPERTIES"):
        updates = properties_of(cursor)
        check_not_reserved(updates, _RESERVED, "ALTER NAMESPACE", "namespace")
    elif cursor.accept("SET", "LOCATION"):
        updates = {"location": cursor.string()}
    elif cursor.accept("UNSET", "PROPERTIES") or cursor.accept("UNSET", "DBPROPERTIES"):
        cursor.accept("IF", "EXISTS")
        removed = set(property_keys(cursor))
        check_not_reserved(removed, _RESERVED, "ALTER NAMESPACE", "namespace")
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
    lake, namespace = statement.references.locate_namespace(cursor.names())
    cursor.finish()
    properties = dict(lake.catalog.load_namespace_properties(namespace))
    rows = [("Catalog Name", lake.name), ("Namespace Name", ".".join(namespace))]
    rows += [(key.capitalize(), properties.pop(key)) for key in _SHOWN_PROPERTIES if key in properties]
    if extended:
        pairs = ", ".join(f"({key},{value})" for key, value in sorted(properties.items()))
        rows.append(("Properties", f"({pairs})" if pairs else ""))
    return statement.spark.createDataFrame(rows, "info_name string, info_value string")


def refresh_table(statement: Statement, text: str) -> None:
    """Run REFRESH of a table: the entries of Spark's own catalog follow the catalog; every statement reads the current rows anyway."""
    cursor = Cursor(text)
    cursor.expect("REFRESH")
    cursor.accept("TABLE")
    reference = statement.references.resolve(cursor.names())
    cursor.finish()
    reference.lake.follow_tables(reference.identifier)


def _kind(cursor: Cursor) -> None:
    if not any(cursor.accept(kind) for kind in _KINDS):
        raise cursor.error("NAMESPACE, DATABASE or SCHEMA")
