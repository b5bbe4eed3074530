"""The operations of histories, performed on real tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe.table.commit.replace_partition_files import ReplacePartitionFiles
from icefloe.table.commit.rewrite_files import RewriteFiles as RewriteFilesChange
from icefloe.table.read_context import schema_json
from icefloe.table.statistics import StatisticsFile
from icefloe.types import LongType

from tests.simulator.maintaining import maintain
from tests.simulator.operations import (
    AddColumn,
    AddFiles,
    Append,
    ApplyChanges,
    CatalogOperation,
    ChangeSpec,
    CreateRef,
    CreateTable,
    Delete,
    DeleteKeys,
    DropTable,
    Maintain,
    Merge,
    Operation,
    Overwrite,
    OverwritePartitions,
    Publish,
    RenameTable,
    ReplacePartitions,
    ReplaceTable,
    RewriteFiles,
    RewriteManifests,
    Rollback,
    Row,
    SetProperty,
    SetStatistics,
    Upsert,
)
from tests.simulator.prepared import CHEAP, NAME, NAMESPACE, SCHEMA, arrow, change_spec, delete_keys, new_spec

if TYPE_CHECKING:
    from icefloe.catalog.memory import InMemoryCatalog
    from icefloe.table.replace_transaction import ReplaceTableTransaction

    from tests.simulator.prepared import Prepared

TAG = "client"
"""The summary key of each snapshot whose value is `<client>.<operation>`."""
IMPORTED = "imported"
"""The directory of files that `add_files` registers."""


def perform_on_catalog(catalog: InMemoryCatalog, operation: CatalogOperation) -> None:
    """Perform an operation on another table of the catalog."""
    match operation:
        case CreateTable(name, rows):
            with catalog.create_table_transaction(f"{NAMESPACE}.{name}", SCHEMA, properties=CHEAP) as transaction:
                transaction.append(arrow(rows))
        case RenameTable(name, to):
            catalog.rename_table(f"{NAMESPACE}.{name}", f"{NAMESPACE}.{to}")
        case DropTable(name):
            catalog.drop_table(f"{NAMESPACE}.{name}")


def begin_replacement(catalog: InMemoryCatalog, operation: ReplaceTable) -> ReplaceTableTransaction:
    """Return a transaction that replaces the table by one without rows."""
    return catalog.replace_table_transaction(NAME, SCHEMA, partition_spec=new_spec(operation.spec), properties=CHEAP)


def perform(  # noqa: C901, PLR0912 - one case for each operation
    target: Any, operation: Operation, tag: str, initial: Prepared
) -> None:
    """Perform an operation on a table or in a transaction, with the tag in the summaries of its snapshots."""
    if not hasattr(operation, "branch"):
        _perform_on_metadata(target, operation, initial)
        return
    options = {"branch": operation.branch, "snapshot_properties": {TAG: tag}}
    match operation:
        case Append(rows) | ReplaceTable(rows):
            target.append(arrow(rows), **options)
        case Delete(where):
            target.delete(str(where), **options)
        case DeleteKeys(ids, part):
            delete_keys(target, [Row(one, part, 0) for one in ids], **options)
        case ApplyChanges(rows, deleted):
            batch = arrow((*rows, *(Row(*key, None) for key in deleted)))
            operations = pa.array(["U"] * len(rows) + ["D"] * len(deleted), pa.string())
            target.apply_changes(batch.append_column("op", operations), ["id", "part"], "op", **options)
        case Overwrite(rows, where):
            target.overwrite(arrow(rows), str(where), **options)
        case OverwritePartitions(rows):
            target.dynamic_partition_overwrite(arrow(rows), **options)
        case Upsert(rows):
            target.upsert(arrow(rows), ["id"], **options)
        case Merge():
            _merge(target, operation, options)
        case AddFiles(rows):
            paths = [f"{initial.directory}/{IMPORTED}/{tag}-{number}.parquet" for number in range(len(rows))]
            Path(initial.directory, IMPORTED).mkdir(exist_ok=True)
            for path, row in zip(paths, rows, strict=True):
                pq.write_table(arrow((row,)), path)
            target.add_files(paths, **options)
        case ReplacePartitions(rows):
            _replace_partitions(target, arrow(rows), options)
        case RewriteFiles():
            _compact(target, options)
        case RewriteManifests():
            target.rewrite_manifests(**options).commit()
        case Maintain(verb, branch):
            maintain(target, verb, branch)
        case Publish():
            target.manage_snapshots().cherry_pick(initial.staged).commit()
        case Rollback():
            target.manage_snapshots().rollback_to_snapshot(initial.head).commit()


def _perform_on_metadata(target: Any, operation: Operation, initial: Prepared) -> None:
    match operation:
        case CreateRef(name, tag):
            changes = target.manage_snapshots()
            (changes.create_tag if tag else changes.create_branch)(initial.head, name).commit()
        case AddColumn(name):
            with target.update_schema() as update:
                update.add_column(name, LongType())
        case ChangeSpec(spec):
            change_spec(target, spec)
        case SetProperty(key, value):
            if hasattr(target, "set_properties"):
                target.set_properties({key: value})
            else:
                target.transaction().set_properties({key: value}).commit_transaction()
        case SetStatistics(path):
            file = StatisticsFile(
                snapshot_id=initial.head,
                statistics_path=f"{initial.directory}/{path}",
                file_size_in_bytes=10,
                file_footer_size_in_bytes=4,
                blob_metadata=[],
            )
            with target.update_statistics() as update:
                update.set_statistics(file)


def _merge(target: Any, operation: Merge, options: dict[str, Any]) -> None:
    merge = target.merge(arrow(operation.rows), ["id"], **options)
    if operation.matched == "update":
        merge.when_matched_update()
    elif operation.matched == "delete":
        merge.when_matched_delete()
    if operation.insert:
        merge.when_not_matched_insert()
    if operation.delete_others:
        merge.when_not_matched_by_source_delete()
    merge.execute()


def _replace_partitions(target: Any, rows: Any, options: dict[str, Any]) -> None:
    with target.target(**options) as written:
        files = written.writer.data_files(rows)
        change = ReplacePartitionFiles(written.transaction, options["branch"], options["snapshot_properties"])
        change.append(files).validate_from_snapshot(written.snapshot_id)
        change.validate_no_conflicting_deletes().validate_no_conflicting_data().commit()


def _compact(target: Any, options: dict[str, Any]) -> None:
    with target.target(**options) as written:
        plan = written.plan(written.filter("true"))
        paths = plan.files.column("file_path")
        if len(paths) == 0:
            return
        whole_rows = replace(plan, projection=schema_json(written.metadata.schema()))
        rows = pa.table(whole_rows.stream())
        change = RewriteFilesChange(written.transaction, options["branch"], options["snapshot_properties"])
        change.delete(paths)
        if rows.num_rows > 0:
            change.append(written.writer.data_files(rows))
        change.validate_from_snapshot(written.snapshot_id).commit()
