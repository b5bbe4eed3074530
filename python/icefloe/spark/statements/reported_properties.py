"""The properties of a table as Spark reports them: with facts of the table, without the values of secrets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from icefloe.table.properties.definitions import WRITE_FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.schema import Schema
    from icefloe.spark.statements.references import Reference
    from icefloe.table import Table
    from icefloe.table.sorting import SortField

_NUMBERED = re.compile(r"(bucket|truncate)\[(\d+)\]")
_TIMES = ("year", "month", "day", "hour")
_OF_SPARK = ("comment", "owner", "collation", "provider", "location", "external", "is_managed_location", "table_type")
"""Properties that Spark reports in rows of their own, or not at all."""
_OF_METADATA_TABLES = ("current-snapshot-id", "format")
_REDACTED = "*********(redacted)"
_SECRETS = (
    ("spark.redaction.regex", "(?i)secret|password|token|access[.]?key"),
    ("spark.sql.redaction.options.regex", "(?i)url"),
)
"""Settings of Spark with their defaults: a value is not shown if its key or itself matches one of the expressions."""


def reported_properties(reference: Reference, spark: Any) -> dict[str, str]:
    """Return the properties of a table as SHOW TBLPROPERTIES lists them, in the order of their keys.

    Args:
        reference: The table; a metadata table has its format and snapshot alone.
        spark: Session, whose settings say which values are secrets.
    """
    table = reference.table
    found = {key: value for key, value in table.properties.items() if key not in _OF_SPARK} | _facts(table)
    if reference.metadata_table is not None:
        found = {key: found[key] for key in _OF_METADATA_TABLES}
    return without_secrets(found, spark)


def without_secrets(properties: Mapping[str, str], spark: Any) -> dict[str, str]:
    """Return properties in the order of their keys, with the values that may be shown.

    Args:
        properties: Properties.
        spark: Session, whose settings say which values are secrets.
    """
    secrets = [re.compile(spark.conf.get(key, default)) for key, default in _SECRETS]
    return {
        key: _REDACTED if any(one.search(key) or one.search(value) for one in secrets) else value
        for key, value in sorted(properties.items())
    }


def transformed_column(transform: str, column: str) -> str:
    """Return a transform of a column as CREATE TABLE takes it.

    Examples:
        >>> transformed_column("bucket[4]", "id"), transformed_column("day", "at"), transformed_column("identity", "id")
        ('bucket(4, id)', 'days(at)', 'id')
    """
    numbered = _NUMBERED.fullmatch(transform)
    if numbered is not None:
        return f"{numbered[1]}({numbered[2]}, {column})"
    return f"{transform}s({column})" if transform in _TIMES else column


def _facts(table: Table) -> dict[str, str]:
    snapshot = table.current_snapshot()
    facts = {
        "format": f"iceberg/{WRITE_FORMAT.of(table.properties)}",
        "format-version": str(table.metadata.format_version),
        "current-snapshot-id": "none" if snapshot is None else str(snapshot.snapshot_id),
    }
    schema = table.schema()
    if table.sort_order().fields:
        facts["sort-order"] = ", ".join(_sort_key(schema, field) for field in table.sort_order().fields)
    if schema.identifier_field_ids:
        names = [schema.find_column_name(one) or "" for one in schema.identifier_field_ids]
        facts["identifier-fields"] = f"[{','.join(names)}]"
    return facts


def _sort_key(schema: Schema, field: SortField) -> str:
    """Return a key of a sort order in the words of the Java runtime, which has the width of truncate after the column."""
    column = schema.find_column_name(field.source_id) or ""
    width = _NUMBERED.fullmatch(str(field.transform))
    if width is not None and width[1] == "truncate":
        key = f"truncate({column}, {width[2]})"
    else:
        key = transformed_column(str(field.transform), column)
    return f"{key} {field.direction} {field.null_order}"
