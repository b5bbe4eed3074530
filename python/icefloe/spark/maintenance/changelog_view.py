"""The procedure that makes a view of a table's changed rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.maintenance.procedure import Procedure
from icefloe.spark.table_options import whole_number

if TYPE_CHECKING:
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows

_OPTIONS = ("start-snapshot-id", "end-snapshot-id", "start-timestamp", "end-timestamp")


def _changelog_view(caller: Caller, given: Arguments) -> Rows:
    from icefloe.spark.reader.changes import changes

    table = caller.table(given)
    options = {key.lower(): value for key, value in given.get("options", {}).items()}
    unknown = [key for key in options if key not in _OPTIONS]
    if unknown:
        raise ValidationError(
            f"CALL create_changelog_view: expected the options {', '.join(_OPTIONS)}, got {unknown[0]!r}"
        )
    identifiers = given.get("identifier_columns")
    updates = given.get("compute_updates", identifiers is not None)
    snapshots: dict[str, Any] = {key.replace("-", "_"): whole_number(key, value) for key, value in options.items()}
    frame = changes(
        table,
        spark=caller.spark,
        compute_updates=updates,
        identifier_columns=None if identifiers is None or not updates else tuple(identifiers),
        net_changes=given.get("net_changes", False),
        **snapshots,
    )
    if "changelog_view" in given:
        name = given["changelog_view"]
        frame.createOrReplaceTempView(f"`{name}`")
    else:
        # The reference returns its own names in backquotes.
        name = f"`{table.name()[-1]}_changes`"
        frame.createOrReplaceTempView(name)
    return [(name,)]


CHANGELOG_VIEW = {
    "create_changelog_view": Procedure(
        parameters={
            "table": "string",
            "changelog_view": "string",
            "options": "map<string,string>",
            "compute_updates": "boolean",
            "identifier_columns": "array<string>",
            "net_changes": "boolean",
        },
        required=("table",),
        returns="changelog_view string NOT NULL",
        run=_changelog_view,
    )
}
"""Procedures by name."""
