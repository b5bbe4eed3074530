"""ALTER TABLE: columns, properties, partition fields, sort order, branches and tags; one commit for each statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor, split_items
from icefloe.spark.statements.snapshot_refs import alter_ref
from icefloe.spark.statements.table_clauses import properties_of, property_key, sort_key
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.writer.partition_text import partition_field
from icefloe.table.properties.definitions import DISTRIBUTION_MODE
from icefloe.table.sorting import SortDirection
from icefloe.table.update.spec import default_name
from icefloe.transforms import IdentityTransform

if TYPE_CHECKING:
    from icefloe.spark.statements.query import Statement
    from icefloe.table import Table
    from icefloe.table.update.schema import UpdateSchema
    from icefloe.table.write_transaction import WriteTransaction

_FORMAT_VERSION = "format-version"
_COLUMN_CLAUSES = ("FIRST", "AFTER", "COMMENT", "NOT", "DEFAULT")


def alter_table(statement: Statement, text: str) -> None:
    """Run an ALTER TABLE statement."""
    cursor = Cursor(text)
    cursor.expect("ALTER", "TABLE")
    name = cursor.names()
    reference = statement.references.resolve(name)
    table = reference.writable()
    if reference.version:
        raise ValidationError(
            f"ALTER TABLE: a branch has the definition of its table; expected {reference.dotted}, got {'.'.join(name)}"
        )
    if cursor.accept("RENAME", "TO"):
        new = cursor.names()
        cursor.finish()
        lake = reference.lake
        to = new[1:] if new[0].lower() == lake.name and len(new) > 2 else new
        lake.catalog.rename_table(reference.identifier, to if len(to) > 1 else (*reference.identifier[:-1], *to))
    elif cursor.accept("SET", "TBLPROPERTIES"):
        _commit(table, cursor, lambda change: _set_properties(change, properties_of(cursor)))
    elif cursor.accept("UNSET", "TBLPROPERTIES"):
        cursor.accept("IF", "EXISTS")
        keys = [property_key(Cursor(item)) for item in cursor.items()]
        _commit(table, cursor, lambda change: change.remove_properties(*keys))
    elif cursor.accept("SET", "LOCATION"):
        _commit(table, cursor, lambda change: change.update_location(cursor.string()))
    elif cursor.accept("SET", "IDENTIFIER", "FIELDS"):
        _schema(table, cursor, lambda update: update.set_identifier_fields(*_columns(cursor)))
    elif cursor.accept("DROP", "IDENTIFIER", "FIELDS"):
        left = _identifiers_without(table, _columns(cursor))
        _schema(table, cursor, lambda update: update.set_identifier_fields(*left))
    elif cursor.accept("WRITE"):
        _write_order(table, cursor)
    elif not (alter_ref(table, cursor) or _partition_field(table, cursor) or _columns_changed(table, cursor)):
        raise cursor.error(
            "ADD, ALTER, DROP or RENAME COLUMN, ADD, DROP or REPLACE PARTITION FIELD, SET or UNSET TBLPROPERTIES, SET LOCATION, "
            "SET or DROP IDENTIFIER FIELDS, WRITE, CREATE, REPLACE or DROP BRANCH or TAG, or RENAME TO"
        )
    cursor.finish()
    reference.lake.refresh()


def _commit(table: Table, cursor: Cursor, change: Any) -> None:
    with table.transaction() as transaction:
        change(transaction)
        cursor.finish()


def _set_properties(transaction: WriteTransaction, properties: dict[str, str]) -> None:
    """Set properties; `format-version`, which is none in metadata, upgrades the table."""
    version = properties.pop(_FORMAT_VERSION, None)
    if version is not None and not (version.isascii() and version.isdigit()):
        raise ValidationError(f"SET TBLPROPERTIES, {_FORMAT_VERSION}: expected 1 or 2, got {version!r}")
    if version is not None and int(version) != transaction.table_metadata.format_version:
        transaction.upgrade_table_version(int(version))
    if properties or version is None:
        transaction.set_properties(properties)


def _schema(table: Table, cursor: Cursor, change: Any) -> None:
    update = table.update_schema(case_sensitive=False)
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


def _partition_field(table: Table, cursor: Cursor) -> bool:
    update = table.update_spec(case_sensitive=False)
    if cursor.accept("ADD", "PARTITION", "FIELD"):
        column, transform = partition_field(cursor)
        update.add_field(column, transform, cursor.name() if cursor.accept("AS") else None)
    elif cursor.accept("DROP", "PARTITION", "FIELD"):
        update.remove_field(_field_name(table, cursor))
    elif cursor.accept("REPLACE", "PARTITION", "FIELD"):
        old = _field_name(table, cursor)
        cursor.expect("WITH")
        column, transform = partition_field(cursor)
        update.remove_field(old)
        update.add_field(column, transform, cursor.name() if cursor.accept("AS") else None)
    else:
        return False
    cursor.finish()
    update.commit()
    return True


def _field_name(table: Table, cursor: Cursor) -> str:
    """Return the name of the partition field that follows, given by its name or its transform."""
    column, transform = partition_field(cursor)
    if isinstance(transform, IdentityTransform) and column in {field.name for field in table.spec().fields}:
        return column
    source = table.schema().find_field(column, case_sensitive=False)
    for field in table.spec().fields:
        if field.source_id == source.field_id and field.transform == transform:
            return field.name
    return default_name(column, transform)


def _write_order(table: Table, cursor: Cursor) -> None:
    distributed = cursor.accept("DISTRIBUTED", "BY", "PARTITION")
    locally = cursor.accept("LOCALLY")
    unordered = not locally and cursor.accept("UNORDERED")
    keys = []
    if not unordered and (locally or not distributed or not cursor.done):
        cursor.expect("ORDERED", "BY")
        keys = _sort_keys(cursor)
    cursor.finish()
    mode = "hash" if distributed else "none" if unordered or locally else "range"
    with table.transaction() as transaction:
        order = transaction.update_sort_order(case_sensitive=False)
        for column, transform, direction, nulls in keys:
            (order.asc if direction is SortDirection.ASC else order.desc)(column, transform, nulls)
        order.commit()
        transaction.set_properties({DISTRIBUTION_MODE.name: mode})


def _sort_keys(cursor: Cursor) -> list[Any]:
    """Return the sort keys that follow, between commas; parentheses may be around all of them."""
    items = cursor.items() if cursor.at("(") else split_items(cursor.rest())
    if not items:
        raise cursor.error("a column after ORDERED BY")
    keys = []
    for item in items:
        inner = Cursor(item)
        keys.append(sort_key(inner))
        inner.finish()
    return keys


def _columns_changed(table: Table, cursor: Cursor) -> bool:
    update = table.update_schema(case_sensitive=False)
    if cursor.accept("ADD", "COLUMNS") or cursor.accept("ADD", "COLUMN"):
        _add(table, update, cursor)
    elif cursor.accept("RENAME", "COLUMN"):
        old = cursor.names()
        cursor.expect("TO")
        new = cursor.name()
        if new.lower() != old[-1].lower():
            _check_new(table, (*old[:-1], new))
        update.rename_column(old, new)
    elif cursor.accept("DROP", "COLUMNS") or cursor.accept("DROP", "COLUMN"):
        _drop(table, update, cursor)
    elif cursor.accept("ALTER", "COLUMN") or cursor.accept("CHANGE", "COLUMN"):
        _alter(update, cursor)
    else:
        return False
    cursor.finish()
    update.commit()
    return True


def _check_new(table: Table, path: tuple[str, ...]) -> None:
    """Check that no column has the name of a new one, in any case: a query could not distinguish them."""
    name = ".".join(path)
    found = [one for one in table.schema().column_names if one.lower() == name.lower()]
    if found:
        raise ValidationError(
            f"ALTER TABLE: expected the name of a new column, got {name!r}: the table has {found[0]!r}"
        )


def _add(table: Table, update: UpdateSchema, cursor: Cursor) -> None:
    following = cursor.peek()
    items = cursor.items() if following is not None and following.is_keyword("(") else split_items(cursor.rest())
    for item in items:
        inner = Cursor(item)
        path = inner.names()
        _check_new(table, path)
        start = inner.index
        while not inner.done and not inner.words[inner.index].is_keyword(*_COLUMN_CLAUSES):
            inner.index += 1
        if inner.index == start:
            raise inner.error("the type of the column")
        kind = item[inner.words[start].start : inner.words[inner.index - 1].end]
        required = inner.accept("NOT", "NULL")
        doc = inner.string() if inner.accept("COMMENT") else None
        if inner.accept("DEFAULT"):
            raise FeatureUnsupportedError(
                "ALTER TABLE: DEFAULT needs format version 3, which icefloe does not write; expected a column without it, got DEFAULT"
            )
        field = schema_from_spark(StructType.fromDDL(f"c {kind}")).fields[0]
        update.add_column(path, field.field_type, doc, required)
        _move(update, path, inner)
        inner.finish()


def _move(update: UpdateSchema, path: tuple[str, ...], cursor: Cursor) -> bool:
    if cursor.accept("FIRST"):
        update.move_first(path)
        return True
    if cursor.accept("AFTER"):
        update.move_after(path, (*path[:-1], cursor.name()))
        return True
    return False


def _drop(table: Table, update: UpdateSchema, cursor: Cursor) -> None:
    if_exists = cursor.accept("IF", "EXISTS")
    following = cursor.peek()
    grouped = following is not None and following.is_keyword("(")
    items = cursor.items() if grouped else split_items(cursor.rest())
    names = {name.lower() for name in table.schema().column_names}
    for item in items:
        path = Cursor(item).names()
        if not if_exists or ".".join(path).lower() in names:
            update.delete_column(path)


def _alter(update: UpdateSchema, cursor: Cursor) -> None:
    path = cursor.names()
    if cursor.accept("TYPE"):
        kind = cursor.rest()
        update.update_column(path, schema_from_spark(StructType.fromDDL(f"c {kind}")).fields[0].field_type)
    elif cursor.accept("COMMENT"):
        update.update_column(path, doc=cursor.string())
    elif cursor.accept("DROP", "NOT", "NULL"):
        update.make_column_optional(path)
    elif cursor.accept("SET", "NOT", "NULL"):
        update.update_column(path, required=True)
    elif cursor.accept("SET", "DEFAULT") or cursor.accept("DROP", "DEFAULT"):
        raise FeatureUnsupportedError(
            "ALTER COLUMN: DEFAULT needs format version 3, which icefloe does not write; expected TYPE, COMMENT or NOT NULL, got DEFAULT"
        )
    elif not _move(update, path, cursor):
        raise cursor.error("TYPE, COMMENT, SET NOT NULL, DROP NOT NULL, FIRST or AFTER")
    if not cursor.done:
        raise ValidationError("ALTER COLUMN: expected one change, got several: write one statement for each")
