"""The procedure that copies a table's metadata for another location."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.maintenance.procedure import Procedure

if TYPE_CHECKING:
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows


_NO_LIST = "N/A"


def _rewrite_table_path(caller: Caller, given: Arguments) -> Rows:
    builder = caller.table(given).maintenance.rewrite_table_path(
        given["source_prefix"],
        given["target_prefix"],
        staging_location=given.get("staging_location"),
        start_version=given.get("start_version"),
        end_version=given.get("end_version"),
        create_file_list=given.get("create_file_list", True),
    )
    result = builder.execute()
    return [
        (
            result.latest_version,
            _NO_LIST if result.file_list_location is None else result.file_list_location,
            result.rewritten_manifest_file_paths_count,
            result.rewritten_delete_file_paths_count,
        )
    ]


TABLE_PATHS = {
    "rewrite_table_path": Procedure(
        parameters={
            "table": "string",
            "source_prefix": "string",
            "target_prefix": "string",
            "start_version": "string",
            "end_version": "string",
            "staging_location": "string",
            "create_file_list": "boolean",
        },
        required=("table", "source_prefix", "target_prefix"),
        returns="latest_version string, file_list_location string, rewritten_manifest_file_paths_count int, "
        "rewritten_delete_file_paths_count int",
        run=_rewrite_table_path,
    )
}
"""Procedures by name."""
