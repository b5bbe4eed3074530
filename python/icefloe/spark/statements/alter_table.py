"""ALTER TABLE: columns, properties, partition fields, sort order, branches and tags; one commit for each statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor, split_items
from icefloe.spark.statements.alter_columns import alter_columns
from icefloe.spark.statements.default_collation import COLLATION, collation_named
from icefloe.spark.statements.snapshot_refs import alter_ref
from icefloe.spark.statements.table_clauses import check_not_reserved, properties_of, property_keys, sort_key
from icefloe.spark.writer.partition_text import partition_field
from icefloe.table.properties.definitions import DISTRIBUTION_MODE
from icefloe.table.sorting import SortDirection
from icefloe.table.update.spec import default_name
from icefloe.transforms import IdentityTransform

if TYPE_CHECKING:
    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement
    from icefloe.table import Table
    from icefloe.table.write_transaction import WriteTransaction
    from icefloe.typedef import Identifier

_FORMAT_VERSION = "format-version"
_DISTRIBUTION = ("DISTRIBUTED", "BY", "PARTITION")
_RESERVED_BY_SPARK = {
    "location": "ALTER TABLE ... SET LOCATION",
    "provider": "the clause USING in CREATE TABLE",
    "owner": "no owner, which is the user who created the table",
    "external": "CREATE EXTERNAL TABLE",
}
"""Properties that no statement sets or removes by their keys, and what sets each."""
_RESERVED = {
    **_RESERVED_BY_SPARK,
    COLLATION: "ALTER TABLE ... DEFAULT COLLATION",
    "sort-order": "ALTER TABLE ... WRITE ORDERED BY",
    "identifier-fields": "ALTER TABLE ... SET IDENTIFIER FIELDS",
}
"""Properties of Spark that are no properties of a table, and the statement that sets each."""


def alter_table(statement: Statement, text: str) -> None:
    """Run an ALTER TABLE statement."""
    cursor = Cursor(text)
    cursor.expect("ALTER", "TABLE")
    name = cursor.names()
    reference = statement.references.resolve(name)
    table, exact = reference.writable(), statement.case_sensitive()
    if reference.version:
        raise ValidationError(
            f"ALTER TABLE: a branch has the definition of its table; expected {reference.dotted}, got {'.'.join(name)}"
        )
    changed = [reference.identifier]
    if cursor.accept("RENAME", "TO"):
        changed.append(_rename(reference, cursor))
    elif _alters_properties(statement, table, cursor):
        pass
    elif cursor.accept("SET", "IDENTIFIER", "FIELDS"):
        _schema(table, cursor, lambda update: update.set_identifier_fields(*_columns(cursor)), exact)
    elif cursor.accept("DROP", "IDENTIFIER", "FIELDS"):
        left = _identifiers_without(table, _columns(cursor))
        _schema(table, cursor, lambda update: update.set_identifier_fields(*left), True)
    elif cursor.accept("WRITE"):
        _write_order(table, cursor, exact)
    elif not (
        alter_ref(table, cursor)
        or _partition_field(table, cursor, exact)
        or alter_columns(table, cursor, case_sensitive=exact)
    ):
        raise _unknown_change(cursor)
    cursor.finish()
    reference.lake.follow_tables(*changed)


def _rename(reference: Reference, cursor: Cursor) -> Identifier:
    """Rename a table, and return its new identifier."""
    new = cursor.names()
    cursor.finish()
    lake = reference.lake
    to = new[1:] if new[0].lower() == lake.name and len(new) > 2 else new
    identifier = to if len(to) > 1 else (*reference.identifier[:-1], *to)
    lake.catalog.rename_table(reference.identifier, identifier)
    return identifier


def _unknown_change(cursor: Cursor) -> ValidationError:
    """Return the error for the change that follows, with its first words: `ADD CONSTRAINT`, `DROP IF EXISTS PARTITION`."""
    first = cursor.index
    cursor.index += 1
    if not cursor.accept("IF", "EXISTS"):
        cursor.accept("IF", "NOT", "EXISTS")
    shown = " ".join(word.text for word in cursor.words[first : cursor.index + 1])
    instead = (
        ": INSERT makes partitions, and DELETE FROM removes their rows" if shown.upper().endswith("PARTITION") else ""
    )
    return ValidationError(
        "ALTER TABLE: expected ADD, ALTER, DROP or RENAME COLUMN, ADD, DROP or REPLACE PARTITION FIELD, SET or UNSET TBLPROPERTIES, SET LOCATION, "
        "DEFAULT COLLATION, SET or DROP IDENTIFIER FIELDS, WRITE, CREATE, REPLACE or DROP BRANCH or TAG, or RENAME TO, got "
        f"{shown or 'the end of the statement'}{instead}"
    )


def _alters_properties(statement: Statement, table: Table, cursor: Cursor) -> bool:
    """Change the properties or the location of a table, and return whether the statement does so."""
    if cursor.accept("SET", "TBLPROPERTIES"):
        _commit(table, cursor, lambda change: _set_properties(change, properties_of(cursor)))
    elif cursor.accept("UNSET", "TBLPROPERTIES"):
        cursor.accept("IF", "EXISTS")
        keys = property_keys(cursor)
        check_not_reserved(keys, _RESERVED_BY_SPARK, "UNSET TBLPROPERTIES")
        _commit(table, cursor, lambda change: change.remove_properties(*keys))
    elif cursor.accept("DEFAULT", "COLLATION"):
        collation = collation_named(statement, ".".join(cursor.names()))
        _commit(table, cursor, lambda change: change.set_properties({COLLATION: collation}))
    elif cursor.accept("SET", "LOCATION"):
        _commit(table, cursor, lambda change: change.update_location(cursor.string()))
    else:
        return False
    return True


def _commit(table: Table, cursor: Cursor, change: Any) -> None:
    with table.transaction() as transaction:
        change(transaction)
        cursor.finish()


def _set_properties(transaction: WriteTransaction, properties: dict[str, str]) -> None:
    """Set properties; `format-version`, which is none in metadata, upgrades the table."""
    check_not_reserved(properties, _RESERVED, "SET TBLPROPERTIES")
    version = properties.pop(_FORMAT_VERSION, None)
    if version is not None and not (version.isascii() and version.isdigit()):
        raise ValidationError(f"SET TBLPROPERTIES, {_FORMAT_VERSION}: expected 1 or 2, got {version!r}")
    if version is not None and int(version) != transaction.table_metadata.format_version:
        transaction.upgrade_table_version(int(version))
    if properties or version is None:
        transaction.set_properties(properties)


def _schema(table: Table, cursor: Cursor, change: Any, exact: bool) -> None:
    update = table.update_schema(case_sensitive=exact)
    change(update)
    cursor.finish()
    update.commit()


def _identifiers_without(table: Table, gone: list[str]) -> list[str]:
    """Return the identifier fields of a table but some, named in any case."""
    names = {name.lower(): name for name in table.schema().identifier_field_names()}
    for name in gone:
        if names.pop(name.lower(), None) is None:
            raise ValidationError(
                f"DROP IDENTIFIER FIELDS: {name!r} is no identifier field; expected one of {', '.join(sorted(names.values())) or 'none'}"
            )
    return sorted(names.values())


def _columns(cursor: Cursor) -> list[str]:
    found = [".".join(cursor.names())]
    while cursor.accept(","):
        found.append(".".join(cursor.names()))
    return found


def _partition_field(table: Table, cursor: Cursor, exact: bool) -> bool:
    update = table.update_spec(case_sensitive=exact)
    if cursor.accept("ADD", "PARTITION", "FIELD"):
        column, transform = partition_field(cursor)
        update.add_field(column, transform, cursor.name() if cursor.accept("AS") else None)
    elif cursor.accept("DROP", "PARTITION", "FIELD"):
        update.remove_field(_field_name(table, cursor, exact))
    elif cursor.accept("REPLACE", "PARTITION", "FIELD"):
        old = _field_name(table, cursor, exact)
        cursor.expect("WITH")
        column, transform = partition_field(cursor)
        update.remove_field(old)
        update.add_field(column, transform, cursor.name() if cursor.accept("AS") else None)
    else:
        return False
    cursor.finish()
    update.commit()
    return True


def _field_name(table: Table, cursor: Cursor, exact: bool) -> str:
    """Return the name of the partition field that follows, given by its name or its transform."""
    column, transform = partition_field(cursor)
    if isinstance(transform, IdentityTransform) and column in {field.name for field in table.spec().fields}:
        return column
    source = table.schema().find_field(column, case_sensitive=exact)
    for field in table.spec().fields:
        if field.source_id == source.field_id and field.transform == transform:
            return field.name
    return default_name(column, transform)


def _write_order(table: Table, cursor: Cursor, exact: bool) -> None:
    distributed = before = cursor.accept(*_DISTRIBUTION)
    locally = cursor.accept("LOCALLY")
    unordered = not locally and cursor.accept("UNORDERED")
    keys = []
    if not unordered and (locally or not distributed or not cursor.done):
        cursor.expect("ORDERED", "BY")
        keys = _sort_keys(cursor)
    if not before:
        distributed = cursor.accept(*_DISTRIBUTION)
    cursor.finish()
    mode = "hash" if distributed else "none" if unordered else "range"
    with table.transaction() as transaction:
        order = transaction.update_sort_order(case_sensitive=exact)
        for column, transform, direction, nulls in keys:
            (order.asc if direction is SortDirection.ASC else order.desc)(column, transform, nulls)
        order.commit()
        # LOCALLY is about the order within a task, and leaves the distribution to the tasks as it is.
        if distributed or not locally:
            transaction.set_properties({DISTRIBUTION_MODE.name: mode})


def _sort_keys(cursor: Cursor) -> list[Any]:
    """Return the sort keys that follow, between commas; parentheses may be around all of them, and a distribution after them."""
    items = cursor.items() if cursor.at("(") else split_items(_until_distribution(cursor))
    if not items:
        raise cursor.error("a column after ORDERED BY")
    keys = []
    for item in items:
        inner = Cursor(item)
        keys.append(sort_key(inner))
        inner.finish()
    return keys


def _until_distribution(cursor: Cursor) -> str:
    """Return the text before DISTRIBUTED BY PARTITION or the end of the statement, and move there."""
    first = cursor.peek()
    while (word := cursor.peek()) is not None:
        following = [cursor.peek(ahead) for ahead in range(len(_DISTRIBUTION))]
        if all(one is not None and one.is_keyword(key) for key, one in zip(_DISTRIBUTION, following, strict=True)):
            break
        cursor.index += 1
    last = cursor.words[cursor.index - 1]
    return "" if first is None or first is word else cursor.text[first.start : last.end]
