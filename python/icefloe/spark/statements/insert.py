"""INSERT INTO and INSERT OVERWRITE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor, split_items, words_of
from icefloe.spark.statements.assignment import assigned
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.write import write

if TYPE_CHECKING:
    from icefloe.spark.statements.query import Statement
    from icefloe.spark.writer.commit import WriteMode
    from icefloe.table import Table

_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def insert(statement: Statement, text: str) -> None:
    """Run an INSERT statement: one commit."""
    cursor = Cursor(text)
    cursor.expect("INSERT")
    overwrite = cursor.accept("OVERWRITE")
    if not overwrite:
        cursor.expect("INTO")
    cursor.accept("TABLE")
    reference = statement.references.resolve(cursor.names())
    table = reference.writable()
    constants = _partition(cursor) if cursor.accept("PARTITION") else {}
    if cursor.accept("IF", "NOT", "EXISTS"):
        raise FeatureUnsupportedError(
            "INSERT: IF NOT EXISTS is not supported; expected INSERT without it, got IF NOT EXISTS"
        )
    by_name = cursor.accept("BY", "NAME")
    columns = None
    if _column_list(cursor):
        columns = [_name(item) for item in cursor.items()]
        by_name = cursor.accept("BY", "NAME") or by_name
    condition = _replaced(cursor, overwrite=overwrite)
    query = statement.above + cursor.rest()

    frame = frame_of_query(statement, query)
    struct = to_spark_schema(table.schema())
    static = {name: value for name, value in constants.items() if value is not None}
    if by_name:
        columns = frame.columns
    elif columns is None:
        columns = [name for name in struct.names if name.lower() not in static]
    rows = assigned(frame, struct, columns, "INSERT", by_name=by_name)
    for name, value in static.items():
        field = next(one for one in struct.fields if one.name.lower() == name)
        rows = rows.selectExpr("*", f"cast({value} AS {field.dataType.simpleString()}) AS `{field.name}`")
    options = {"branch": reference.version["branch"]} if "branch" in reference.version else {}
    mode, more = _mode(statement, table, overwrite=overwrite, condition=condition, constants=constants)
    write(rows, table, mode, {**options, **more})


def _mode(
    statement: Statement, table: Table, *, overwrite: bool, condition: str | None, constants: dict[str, str | None]
) -> tuple[WriteMode, dict[str, str]]:
    if condition is not None:
        return "overwrite", {"overwrite-filter": condition}
    if not overwrite:
        return "append", {}
    dynamic = statement.spark.conf.get(_OVERWRITE_MODE, "static").lower() == "dynamic"
    if dynamic:
        return "overwrite-partitions", {}
    static = {name: value for name, value in constants.items() if value is not None}
    if not static:
        return "overwrite", {}
    identities = {
        table.schema().find_column_name(field.source_id)
        for field in table.spec().fields
        if str(field.transform) == "identity"
    }
    names = {field.name.lower(): field.name for field in table.schema().fields}
    foreign = [name for name in static if names[name] not in identities]
    if foreign:
        raise ValidationError(
            f"INSERT OVERWRITE: PARTITION expects identity partition columns ({', '.join(sorted(map(str, identities))) or 'none'}), got "
            f"{foreign[0]}: use REPLACE WHERE"
        )
    return "overwrite", {
        "overwrite-filter": " AND ".join(f'"{names[name]}" = {value}' for name, value in static.items())
    }


def _partition(cursor: Cursor) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for item in cursor.items():
        inner = Cursor(item)
        name = inner.name()
        found[name.lower()] = inner.rest() if inner.accept("=") else None
    return found


def _column_list(cursor: Cursor) -> bool:
    """Return whether a list of columns follows, not a query in parentheses."""
    first, second = cursor.peek(), cursor.peek(1)
    if first is None or second is None or not first.is_keyword("("):
        return False
    return not second.is_keyword("SELECT", "WITH", "VALUES", "FROM", "TABLE", "(")


def _replaced(cursor: Cursor, *, overwrite: bool) -> str | None:
    """Return the condition of REPLACE WHERE; None without one."""
    if not cursor.accept("REPLACE", "WHERE"):
        return None
    if overwrite:
        raise cursor.error("INSERT INTO before REPLACE WHERE")
    depth, first = 0, cursor.peek()
    while not cursor.done:
        word: Any = cursor.peek()
        if depth == 0 and word.is_keyword("SELECT", "WITH", "VALUES", "FROM", "TABLE"):
            break
        depth += word.is_keyword("(") - word.is_keyword(")")
        cursor.index += 1
    if first is None or cursor.done:
        raise cursor.error("a query after the condition of REPLACE WHERE")
    following: Any = cursor.peek()
    return cursor.text[first.start : following.start].strip()


def _name(item: str) -> str:
    (word,) = words_of(item) if len(words_of(item)) == 1 else (None,)
    if word is None or not word.is_name:
        raise ValidationError(f"INSERT: expected names of columns, got {split_items(item)[0]!r}")
    return word.text
