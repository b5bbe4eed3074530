"""SHOW PROCEDURES and DESCRIBE PROCEDURE: the procedures of the namespace `system` of an attached catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from icefloe.exceptions import ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.maintenance.call import procedure_named
from icefloe.spark.maintenance.procedures import PROCEDURES
from icefloe.spark.statements.describe_table import describe
from icefloe.spark.statements.show_scope import place

if TYPE_CHECKING:
    from icefloe.spark.maintenance.procedure import Procedure
    from icefloe.spark.statements.statement import Statement
    from icefloe.typedef import Identifier

SYSTEM = "system"
"""The namespace of procedures in each catalog, as in the Java runtime."""
_COLUMNS = StructType(
    [
        StructField("catalog", StringType(), nullable=False),
        StructField("namespace", ArrayType(StringType(), containsNull=False)),
        StructField("schema", StringType()),
        StructField("procedure_name", StringType(), nullable=False),
    ]
)


def show_procedures(statement: Statement, text: str) -> Any:
    """Run ``SHOW PROCEDURES [IN namespace]``: one row for each procedure, and none for a namespace other than `system`."""
    cursor = Cursor(text)
    cursor.expect("SHOW", "PROCEDURES")
    lake, namespace = place(statement, cursor)
    cursor.finish()
    names = PROCEDURES if _is_system(namespace) else ()
    rows = [(lake.name, list(namespace), namespace[-1], name) for name in names]
    return statement.spark.createDataFrame(rows, _COLUMNS)


def describe_procedure(statement: Statement, text: str) -> Any:
    """Run ``DESCRIBE PROCEDURE name``: a row with the name, and one with the parameters and the columns of the result.

    Raises:
        ValidationError: There is no such procedure.
    """
    cursor = Cursor(text)
    if not cursor.accept("DESC"):
        cursor.expect("DESCRIBE")
    cursor.expect("PROCEDURE")
    if cursor.done or cursor.at("."):  # a table of this name
        return describe(statement, text)
    parts = cursor.names()
    cursor.finish()
    lake, identifier = statement.references.locate(parts)
    if not _is_system(identifier[:-1]):
        raise ValidationError(
            f"DESCRIBE PROCEDURE: expected {lake.name}.{SYSTEM}.<procedure>, got {'.'.join(parts)}: SHOW PROCEDURES IN "
            f"{lake.name}.{SYSTEM} has the names"
        )
    name = identifier[-1].lower()
    rows = [
        (f"Procedure:   {name}",),
        (f"Description: {_signature(name, procedure_named(name, 'DESCRIBE PROCEDURE'))}",),
    ]
    return statement.spark.createDataFrame(rows, "procedure_desc string NOT NULL")


def _is_system(namespace: Identifier) -> bool:
    return [part.lower() for part in namespace] == [SYSTEM]


def _signature(name: str, procedure: Procedure) -> str:
    """Return the parameters of a procedure, optional ones in brackets, and the columns of its result.

    Examples:
        >>> _signature("publish_changes", PROCEDURES["publish_changes"])
        'publish_changes(table string, wap_id string) returns source_snapshot_id bigint, current_snapshot_id bigint'
    """
    parameters = [f"{key} {kind}" for key, kind in procedure.parameters.items()]
    shown = [
        text if key in procedure.required else f"[{text}]"
        for key, text in zip(procedure.parameters, parameters, strict=True)
    ]
    return f"{name}({', '.join(shown)}) returns {procedure.returns.replace(' NOT NULL', '')}"
