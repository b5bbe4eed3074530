"""CALL: the procedures of the Java runtime that a table has a change for, under the same names and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.statements.procedures import PROCEDURES, Procedure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.statements.query import Statement

_MAINTENANCE = (
    "compute_partition_stats",
    "compute_table_stats",
    "expire_snapshots",
    "migrate",
    "remove_orphan_files",
    "rewrite_table_path",
    "snapshot",
)


def call(statement: Statement, text: str) -> DataFrame:
    """Run ``CALL lake.system.procedure(arguments)``, with arguments by position or by name."""
    cursor = Cursor(text)
    cursor.expect("CALL")
    parts = cursor.names()
    if len(parts) != 3 or parts[0].lower() not in statement.lakes or parts[1].lower() != "system":
        raise ValidationError(f"CALL: expected {next(iter(statement.lakes))}.system.<procedure>, got {'.'.join(parts)}")
    name = parts[2].lower()
    if name in _MAINTENANCE:
        raise FeatureUnsupportedError(
            f"CALL: {name} is not there yet; expected one of {', '.join(PROCEDURES)}, got {name}: run it with another engine"
        )
    if name not in PROCEDURES:
        raise ValidationError(f"CALL: expected one of {', '.join(PROCEDURES)}, got {name}")
    procedure = PROCEDURES[name]
    arguments = _arguments(statement, procedure, name, cursor.items())
    cursor.finish()
    lake = statement.lakes[parts[0].lower()]
    rows = procedure.run(statement, lake, arguments)
    frame: DataFrame = statement.spark.createDataFrame(rows, procedure.returns)
    return frame


def _arguments(statement: Statement, procedure: Procedure, name: str, items: list[str]) -> dict[str, Any]:
    expressions: dict[str, str] = {}
    named = False
    for index, item in enumerate(items):
        cursor = Cursor(item)
        first, second = cursor.peek(), cursor.peek(1)
        if first is not None and first.is_name and second is not None and second.is_keyword("=>"):
            key, named = cursor.name().lower(), True
            cursor.accept("=>")
        elif named:
            raise ValidationError(f"CALL {name}: expected arguments by name after the first one by name, got {item}")
        elif index >= len(procedure.parameters):
            raise ValidationError(
                f"CALL {name}: expected at most {len(procedure.parameters)} arguments ({', '.join(procedure.parameters)}), got {len(items)}"
            )
        else:
            key = list(procedure.parameters)[index]
        if key not in procedure.parameters:
            raise ValidationError(
                f"CALL {name}: expected one of the parameters {', '.join(procedure.parameters)}, got {key!r}"
            )
        if key in expressions:
            raise ValidationError(f"CALL {name}: parameter {key!r} is given twice; expected one value")
        expressions[key] = f"cast(({cursor.rest()}) AS {procedure.parameters[key]})"
    missing = [key for key in procedure.required if key not in expressions]
    if missing:
        raise ValidationError(
            f"CALL {name}: parameter {missing[0]!r} is missing; expected {', '.join(procedure.required)}"
        )
    values = dict(zip(expressions, statement.values(list(expressions.values())), strict=True))
    null = [key for key in procedure.required if values[key] is None]
    if null:
        raise ValidationError(f"CALL {name}: parameter {null[0]!r} is null; expected a value")
    return {key: value for key, value in values.items() if value is not None}
