"""SET VARIABLE: variables of the session get values from queries of attached tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.lexer import Cursor, split_items
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.types.conform import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.spark.statements.statement import Statement

    Names = tuple[str, ...]


def set_variables(statement: Statement, text: str) -> None:
    """Run ``SET VAR name = value, ...`` or ``SET VAR (name, ...) = (query)``.

    Raises:
        ValidationError: The statement does not parse.
    """
    cursor = Cursor(text)
    cursor.expect("SET")
    if not cursor.accept("VAR"):
        cursor.expect("VARIABLE")
    if cursor.at("("):
        names = [Cursor(item).names() for item in cursor.items()]
        cursor.expect("=")
        query = cursor.group()
        cursor.finish()
    else:
        pairs = [_assignment(Cursor(item)) for item in split_items(cursor.rest())]
        names = [name for name, _ in pairs]
        query = "SELECT " + ", ".join(value for _, value in pairs)
    assign_row(statement, names, query)


def assign_row(statement: Statement, names: Sequence[Names], query: str) -> None:
    """Assign the columns of the only row of a query to variables; without a row, null."""
    listed = ", ".join(".".join(quoted(part) for part in name) for name in names)
    # In parentheses within parentheses, a query that counts rows is no statement of its own.
    frame_of_query(statement, f"(SELECT * FROM ({query}))", command=f"SET VAR ({listed}) = ")


def _assignment(cursor: Cursor) -> tuple[Names, str]:
    name = cursor.names()
    if not cursor.accept("="):
        cursor.expect("==")
    if cursor.done:
        raise cursor.error("a value")
    return name, cursor.rest()
