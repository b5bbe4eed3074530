"""Procedures of the Java runtime as a Python function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.maintenance.procedures import TABLE_PROCEDURES

if TYPE_CHECKING:
    from icefloe.table import Table


def call(procedure: str, *, table: Table, **arguments: Any) -> dict[str, Any]:
    """Run a maintenance procedure on a table and return its row, with the column names of the Java runtime.

    No Spark session is needed: the procedure runs in this process.

    Args:
        procedure: `system.rewrite_data_files`, `system.rewrite_manifests` or `system.rewrite_position_delete_files`; `system.` may be
            omitted.
        table: The table.
        **arguments: Arguments of the procedure by the names of the Java runtime: `strategy`, `sort_order`, `where`, `options` and others.

    Raises:
        ValidationError: The procedure or an argument does not exist, or a value is not valid.

    Examples:
        >>> icefloe.spark.call("system.rewrite_data_files", table=table)["rewritten_data_files_count"]
        0
    """
    name = procedure.lower().removeprefix("system.")
    found = TABLE_PROCEDURES.get(name)
    if found is None:
        raise ValidationError(f"call: expected one of {', '.join(TABLE_PROCEDURES)}, got {procedure!r}")
    unknown = [argument for argument in arguments if argument not in found.parameters]
    if unknown:
        raise ValidationError(f"call {name}: expected the arguments {', '.join(found.parameters)}, got {unknown[0]!r}")
    given = {argument: value for argument, value in arguments.items() if value is not None}
    return dict(zip(found.columns, found.run(table, given), strict=True))
