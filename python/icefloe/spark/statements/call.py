"""CALL: the procedures of the Java runtime under the same names and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.maintenance.call import procedure_named
from icefloe.spark.maintenance.procedure import Caller
from icefloe.spark.statements.literals import in_utc

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.maintenance.procedure import Procedure
    from icefloe.spark.statements.statement import Statement

_MAKES_TABLES = ("migrate", "register_table", "snapshot")


def call(statement: Statement, text: str) -> DataFrame:
    """Run ``CALL lake.system.procedure(arguments)``, with arguments by position or by name."""
    cursor = Cursor(text)
    cursor.expect("CALL")
    parts = cursor.names()
    references = statement.references
    if references.current is not None and len(parts) == 2:
        parts = (references.current_lake(references.current).name, *parts)
    if len(parts) != 3 or parts[0].lower() not in statement.lakes or parts[1].lower() != "system":
        raise ValidationError(
            f"CALL: expected {next(iter(statement.lakes), 'lake')}.system.<procedure>, got {'.'.join(parts)}"
        )
    name = parts[2].lower()
    procedure = procedure_named(name)
    arguments = _arguments(statement, procedure, name, cursor.items())
    cursor.finish()
    lake = statement.lakes[parts[0].lower()]
    current = references.current
    namespace = current.namespace if current is not None and current.catalog == lake.name else ()
    rows = procedure.run(Caller(lake.catalog, statement.spark, lake.name, namespace), arguments)
    if name in _MAKES_TABLES:
        lake.follow_new_tables()
    frame: DataFrame = statement.spark.createDataFrame(rows, procedure.returns)
    return frame


def _arguments(statement: Statement, procedure: Procedure, name: str, items: list[str]) -> dict[str, Any]:
    positional: list[str] = []
    named: list[tuple[str, str]] = []
    for item in items:
        cursor = Cursor(item)
        first, second = cursor.peek(), cursor.peek(1)
        if first is not None and first.is_name and second is not None and second.is_keyword("=>"):
            key = cursor.name().lower()
            cursor.accept("=>")
            named.append((key, cursor.rest()))
        elif named:
            raise ValidationError(f"CALL {name}: expected arguments by name after the first one by name, got {item}")
        else:
            positional.append(cursor.rest())
    texts = procedure.bind(name, positional, named)
    casts = [f"cast(({text}) AS {procedure.parameters[key]})" for key, text in texts.items()]
    values = dict(zip(texts, map(in_utc, statement.values(casts)), strict=True))
    return procedure.bind(name, (), values.items())
