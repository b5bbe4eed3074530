"""Procedures that rewrite files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.spark.maintenance.cluster import execute
from icefloe.spark.maintenance.procedure import Procedure
from icefloe.spark.maintenance.procedure_warnings import warn
from icefloe.spark.maintenance.rewrite_options import rewrite_options
from icefloe.spark.maintenance.where import where
from icefloe.table.maintenance.groups.options import OF_CURVES, OF_DATA_FILES, OF_SORT
from icefloe.table.maintenance.rewrite.order_text import OrderText

if TYPE_CHECKING:
    from icefloe.spark.maintenance.procedure import Arguments, Caller, Rows
    from icefloe.table.maintenance.deletes.position_deletes import RewritePositionDeletes

STRATEGIES = ("binpack", "sort")


def _rewrite_data_files(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    builder = table.maintenance.rewrite_data_files()
    strategy = given.get("strategy", "sort" if "sort_order" in given else "binpack").lower()
    if strategy not in STRATEGIES:
        raise ValidationError(f"rewrite_data_files: strategy: expected binpack or sort, got {strategy!r}")
    if strategy == "binpack" and "sort_order" in given:
        raise ValidationError("rewrite_data_files: sort_order: expected strategy sort, got binpack")
    order = given.get("sort_order")
    if strategy == "sort":
        builder = builder.sort(order)
    if "where" in given:
        builder = builder.filter(where(given["where"], table.schema(), caller.spark))
    builder = builder.branch(given.get("branch", "main"))
    is_curve = order is not None and OrderText(order, "rewrite_data_files").curve() is not None
    of_others = (*(() if strategy == "sort" else OF_SORT), *(() if is_curve else OF_CURVES))
    options = rewrite_options("rewrite_data_files", given.get("options", {}), of_others)
    plan = builder.options(**options).plan()
    warn(plan.warnings)
    result: Any = execute(table, plan, caller.spark)
    warn(f"rewrite_data_files: {text}" for text in result.failures)
    return [
        (
            result.rewritten_data_files_count,
            result.added_data_files_count,
            result.rewritten_bytes_count,
            result.failed_data_files_count,
            result.removed_delete_files_count,
        )
    ]


def _rewrite_manifests(caller: Caller, given: Arguments) -> Rows:
    table = caller.table(given)
    builder = table.maintenance.rewrite_manifests()
    # The reference rewrites the manifests of the table's current spec unless another one is named.
    builder = builder.spec_id(given.get("spec_id", table.metadata.default_spec_id))
    if "sort_by" in given:
        builder = builder.sort_by(*given["sort_by"])
    result = builder.execute()
    return [(result.rewritten_manifests_count, result.added_manifests_count)]


def _rewrite_position_deletes(caller: Caller, given: Arguments) -> Rows:
    options = rewrite_options("rewrite_position_delete_files", given.get("options", {}), OF_DATA_FILES)
    builder = _position_deletes(caller, given).options(**options)
    if "where" in given:
        builder = builder.filter(where(given["where"], caller.table(given).schema(), caller.spark))
    # Without a plan, a conflict leads to a new one.
    result = builder.execute()
    warn(f"rewrite_position_delete_files: {text}" for text in result.failures)
    return [
        (
            result.rewritten_delete_files_count,
            result.added_delete_files_count,
            result.rewritten_bytes_count,
            result.added_bytes_count,
        )
    ]


def _position_deletes(caller: Caller, given: Arguments) -> RewritePositionDeletes:
    table = caller.table(given)
    if caller.spark is None:
        return table.maintenance.rewrite_position_deletes()
    from icefloe.spark.maintenance.position_delete_groups import ClusterRewritePositionDeletes

    return ClusterRewritePositionDeletes(caller.spark, table)


REWRITING = {
    "rewrite_data_files": Procedure(
        parameters={
            "table": "string",
            "strategy": "string",
            "sort_order": "string",
            "options": "map<string,string>",
            "where": "string",
            "branch": "string",
        },
        required=("table",),
        returns="rewritten_data_files_count int NOT NULL, added_data_files_count int NOT NULL, rewritten_bytes_count bigint NOT NULL, "
        "failed_data_files_count int NOT NULL, removed_delete_files_count int NOT NULL",
        run=_rewrite_data_files,
    ),
    "rewrite_manifests": Procedure(
        parameters={"table": "string", "use_caching": "boolean", "spec_id": "int", "sort_by": "array<string>"},
        required=("table",),
        returns="rewritten_manifests_count int NOT NULL, added_manifests_count int NOT NULL",
        run=_rewrite_manifests,
    ),
    "rewrite_position_delete_files": Procedure(
        parameters={"table": "string", "options": "map<string,string>", "where": "string"},
        required=("table",),
        returns="rewritten_delete_files_count int NOT NULL, added_delete_files_count int NOT NULL, rewritten_bytes_count bigint NOT NULL, "
        "added_bytes_count bigint NOT NULL",
        run=_rewrite_position_deletes,
    ),
}
"""Procedures by name."""
