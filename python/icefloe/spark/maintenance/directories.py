"""The procedure that makes a table over a directory of Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.catalog.parquet_directory import snapshot_directory
from icefloe.spark.maintenance.parquet_paths import parquet_directory
from icefloe.spark.maintenance.procedure import Procedure

if TYPE_CHECKING:
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows


def _snapshot(caller: Caller, given: Arguments) -> Rows:
    result = snapshot_directory(
        caller.named_catalog(),
        parquet_directory(given["source_table"]),
        caller.identifier(given["table"]),
        location=given.get("location"),
        properties=given.get("properties", {}),
    ).execute()
    return [(result.imported_files_count,)]


DIRECTORIES = {
    "snapshot": Procedure(
        parameters={
            "source_table": "string",
            "table": "string",
            "location": "string",
            "properties": "map<string,string>",
            "parallelism": "int",
            "ignore_missing_files": "boolean",
        },
        required=("source_table", "table"),
        returns="imported_files_count bigint NOT NULL",
        run=_snapshot,
    )
}
"""Procedures by name."""
