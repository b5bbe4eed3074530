"""The columns of a table in ALTER TABLE: ADD, ALTER, CHANGE, DROP, RENAME and REPLACE."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructField, StructType

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor, split_items
from icefloe.spark.statements.column_definition import ColumnDefinition, struct_of, type_of
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.to_spark import to_spark_type

if TYPE_CHECKING:
    from icefloe.schema import Schema
    from icefloe.table import Table
    from icefloe.table.update.schema import UpdateSchema
    from icefloe.types import IcebergType

    Path = tuple[str, ...]


def alter_columns(table: Table, cursor: Cursor, *, case_sensitive: bool) -> bool:
    """Run the change of columns that follows, and return whether one follows.

    Args:
        table: Table.
        cursor: The statement after the name of the table.
        case_sensitive: Whether the session distinguishes names by case.
    """
    update = table.update_schema(case_sensitive=case_sensitive)
    columns = _Columns(table.schema(), update, case_sensitive)
    if cursor.accept("ADD", "COLUMNS") or cursor.accept("ADD", "COLUMN"):
        columns.add([ColumnDefinition.of(item, "ALTER TABLE") for item in _items(cursor)])
    elif cursor.accept("RENAME", "COLUMN"):
        path = cursor.names()
        cursor.expect("TO")
        columns.rename(path, cursor.name())
    elif cursor.accept("DROP", "COLUMNS") or cursor.accept("DROP", "COLUMN"):
        if_exists = cursor.accept("IF", "EXISTS")
        columns.drop([_path(item) for item in _items(cursor)], if_exists=if_exists)
    elif cursor.accept("REPLACE", "COLUMNS"):
        columns.replace(cursor.items())
    elif cursor.accept("CHANGE"):
        columns.alter(_changed(cursor), hive_style=True)
    elif cursor.accept("ALTER"):
        columns.alter(_changed(cursor), hive_style=False)
    else:
        return False
    cursor.finish()
    update.commit()
    return True


@dataclass(frozen=True)
class _Columns:
    """The columns of a table under change.

    Args:
        schema: Schema before the change.
        update: Update that takes the changes.
        case_sensitive: Whether names are distinguished by case.
    """

    schema: Schema
    update: UpdateSchema
    case_sensitive: bool

    def add(self, definitions: list[ColumnDefinition]) -> None:
        """Add columns, and fields within structs."""
        for one in definitions:
            self._check_new(one.path)
            self.update.add_column(one.path, _iceberg_type(one.data_type), one.comment, one.required)
            self._move(one.path, one.position)

    def rename(self, path: Path, name: str) -> None:
        """Give a column another name."""
        if self._folded(name) != self._folded(path[-1]):
            self._check_new((*path[:-1], name))
        self.update.rename_column(path, name)

    def drop(self, paths: list[Path], *, if_exists: bool) -> None:
        """Drop columns; `if_exists` ignores names that are no columns."""
        names = set(map(self._folded, self.schema.column_names))
        for path in paths:
            if not if_exists or self._folded(".".join(path)) in names:
                self.update.delete_column(path)

    def replace(self, items: list[str]) -> None:
        """Drop all columns and add others: columns of the same name are new ones, without values in the rows that exist."""
        if not items:
            raise ValidationError("REPLACE COLUMNS: expected the new columns, got none")
        struct = struct_of(items, "REPLACE COLUMNS")
        for field in self.schema.fields:
            self.update.delete_column((field.name,))
        for column in schema_from_spark(struct).fields:
            self.update.add_column((column.name,), column.field_type, column.doc, column.required)

    def alter(self, items: list[str], *, hive_style: bool) -> None:
        """Change columns, each once: `path change`, or in the style of Hive `path name type [COMMENT text] [position]`."""
        seen: set[str] = set()
        for item in items:
            cursor = Cursor(item)
            path = cursor.names()
            if self._folded(".".join(path)) in seen:
                raise _several_changes()
            seen.add(self._folded(".".join(path)))
            if hive_style and not _is_change(cursor):
                self._change(path, ColumnDefinition.of(cursor.rest(), "CHANGE COLUMN"))
            else:
                self._alter(path, cursor)

    def _alter(self, path: Path, cursor: Cursor) -> None:
        update = self.update
        if cursor.accept("TYPE"):
            self._set_type(path, type_of(cursor, "ALTER COLUMN"))
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
        elif cursor.accept("FIRST"):
            self._move(path, ("FIRST",))
        elif cursor.accept("AFTER"):
            self._move(path, ("AFTER", cursor.name()))
        else:
            raise cursor.error("TYPE, COMMENT, SET NOT NULL, DROP NOT NULL, FIRST or AFTER")
        if not cursor.done:
            raise _several_changes()

    def _change(self, path: Path, made: ColumnDefinition) -> None:
        """Change a column to a definition, which repeats the name of the column."""
        shown, name = ".".join(path), ".".join(made.path)
        if self._folded(name) != self._folded(path[-1]):
            raise ValidationError(
                f"CHANGE COLUMN: the name stays; expected {path[-1]}, got {name}: ALTER TABLE ... RENAME COLUMN {shown} TO {name} changes it"
            )
        if made.required:
            raise ValidationError(
                f"CHANGE COLUMN: expected a column without NOT NULL, got NOT NULL: ALTER TABLE ... ALTER COLUMN {shown} SET NOT NULL sets it"
            )
        self._set_type(path, made.data_type)
        if made.comment is not None:
            self.update.update_column(path, doc=made.comment)
        self._move(path, made.position)

    def _set_type(self, path: Path, data_type: Any) -> None:
        field = self.schema.find_field(".".join(path), case_sensitive=self.case_sensitive)
        # Several types of the format are one of Spark, and a struct that is the same has other field ids.
        present = to_spark_type(json.loads(field.field_type.model_dump_json()))
        if present.simpleString() != data_type.simpleString():
            self.update.update_column(path, _iceberg_type(data_type))

    def _move(self, path: Path, position: tuple[str, ...] | None) -> None:
        if position is None:
            return
        if len(position) == 1:
            self.update.move_first(path)
        else:
            self.update.move_after(path, (*path[:-1], position[1]))

    def _check_new(self, path: Path) -> None:
        """Check that no column has the name of a new one: a query could not distinguish them."""
        name = ".".join(path)
        found = [one for one in self.schema.column_names if self._folded(one) == self._folded(name)]
        if found:
            raise ValidationError(
                f"ALTER TABLE: expected the name of a new column, got {name!r}: the table has {found[0]!r}"
            )

    def _folded(self, name: str) -> str:
        return name if self.case_sensitive else name.lower()


def _items(cursor: Cursor) -> list[str]:
    """Return the texts between the commas that follow, with or without parentheses around all of them."""
    items = cursor.items() if cursor.at("(") else split_items(cursor.rest())
    if not items:
        raise cursor.error("a column")
    return items


def _changed(cursor: Cursor) -> list[str]:
    """Return the changes that follow, between commas; COLUMN before them may be left out."""
    following = cursor.peek(1)
    # A column may be named `column`.
    if cursor.at("COLUMN") and following is not None and following.is_name:
        cursor.accept("COLUMN")
    items = split_items(cursor.rest())
    if not items:
        raise cursor.error("a column")
    return items


def _path(item: str) -> Path:
    cursor = Cursor(item)
    path = cursor.names()
    cursor.finish()
    return path


def _is_change(cursor: Cursor) -> bool:
    """Return whether a change of the form of ALTER COLUMN follows, not the definition of a column of such a name."""
    following = cursor.peek(1)
    if cursor.at("COMMENT"):
        return following is not None and following.kind == "string"
    return cursor.done or cursor.at("TYPE", "SET", "DROP", "AFTER") or (cursor.at("FIRST") and following is None)


def _iceberg_type(data_type: Any) -> IcebergType:
    return schema_from_spark(StructType([StructField("c", data_type)])).fields[0].field_type


def _several_changes() -> ValidationError:
    return ValidationError("ALTER COLUMN: expected one change, got several: write one statement for each")
