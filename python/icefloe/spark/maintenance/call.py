"""Procedures of the Java runtime as a Python function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_text
from icefloe.exceptions import ValidationError
from icefloe.spark.maintenance.procedure import Caller
from icefloe.spark.maintenance.procedures import PROCEDURES

if TYPE_CHECKING:
    from icefloe.catalog import Catalog
    from icefloe.spark.maintenance.procedure import Procedure


def call(
    procedure: str, *arguments: Any, catalog: Catalog | None = None, spark: Any = None, **named: Any
) -> dict[str, Any] | list[dict[str, Any]]:
    """Run a procedure of the Java runtime and return its rows, with the column names of the Java runtime.

    Args:
        procedure: `system.rewrite_data_files`, `system.expire_snapshots` and others; `system.` may be omitted.
        *arguments: Arguments by position, in the order of the Java runtime.
        catalog: The catalog that has the tables, if a table is given by its name; by default the catalog of the table.
        spark: The session whose executors rewrite and list files; by default this process does.
        **named: Arguments by the names of the Java runtime, such as `table`, `older_than` or `options`. The table is a `Table` or
            its name.

    Returns:
        The procedure's row by column name. `ancestors_of` and `remove_orphan_files` return a list of rows.

    Raises:
        ValidationError: The procedure or an argument does not exist, or a value is not valid.

    Examples:
        >>> icefloe.spark.call("system.rewrite_data_files", table=table)["rewritten_data_files_count"]
        0
        >>> len(icefloe.spark.call("system.ancestors_of", table))
        1
    """
    name = checked_text("call, procedure", procedure).lower().removeprefix("system.")
    found = procedure_named(name)
    values = found.bind(name, arguments, named.items())
    found.check_types(name, values)
    own = getattr(values.get("table"), "catalog", None)
    caller = Caller(own if catalog is None else catalog, spark)
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.run(caller, values)]
    return rows if found.many_rows else rows[0]


def procedure_named(name: str, label: str = "CALL") -> Procedure:
    """Return the procedure of a name in lower case.

    Args:
        name: The name.
        label: The statement, for errors.

    Raises:
        ValidationError: There is none.
    """
    if name not in PROCEDURES:
        raise ValidationError(f"{label}: expected one of {', '.join(PROCEDURES)}, got {name}")
    return PROCEDURES[name]
