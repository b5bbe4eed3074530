"""The operations that change a table, with their initial tables."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import LongType, NestedField, StringType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.catalog import Catalog

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", StringType()))
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
ARROW = pa.schema([("id", pa.int64()), ("part", pa.string())])
NEW = pa.table({"id": [4, 9], "part": ["a", "b"]}, schema=ARROW)
FOREIGN = pa.table({"id": [7, 8], "part": ["a", "a"]}, schema=ARROW)
"""Rows of a Parquet file that is not part of a table."""


@dataclass(frozen=True)
class TableOperation:
    """An operation on the table `t` of a namespace.

    Attributes:
        act: Function that performs the operation, given a catalog and the namespace.
        begins_without_table: Whether the operation creates the table.
        needs: The feature of catalogs that the operation needs, None for an operation of every catalog.
        properties: Properties of the initial table.
        prepare: Function that changes the initial table before the operation.
        leaves_data_files: Whether a failed operation leaves data files: they were written by the caller, before the commit.
        surroundings: Function that adds other objects of the catalog to the initial table, given a catalog and the namespace.
        observed: Function that returns the state of these objects, None for an operation on tables alone.
        deletes_files: Whether the catalog deletes files as a part of the operation: all of the table, or old metadata.
    """

    act: Callable[[Catalog, str], Any]
    begins_without_table: bool = False
    needs: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    prepare: Callable[[Any], Any] = lambda table: None
    leaves_data_files: bool = False
    surroundings: Callable[[Catalog, str], Any] = lambda catalog, namespace: None
    observed: Callable[[Catalog, str], Any] | None = None
    deletes_files: bool = False


def on_table(act: Callable[[Any], Any]) -> Callable[[Catalog, str], Any]:
    return lambda catalog, namespace: act(catalog.load_table(f"{namespace}.t"))


def _add_column(table: Any) -> None:
    with table.update_schema() as update:
        update.add_column("more", LongType())


def _add_partition_field(table: Any) -> None:
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(4), "id_bucket")


def _sort(table: Any) -> None:
    with table.update_sort_order() as update:
        update.asc("id", IdentityTransform())


def _several_changes(table: Any) -> None:
    with table.transaction() as transaction:
        transaction.set_properties({"owner": "me"})
        transaction.append(NEW)
        transaction.delete("id = 2")


def _all_kinds_of_changes(table: Any) -> None:
    with table.transaction() as transaction:
        transaction.append(NEW)
        transaction.upsert(FOREIGN, ["id"])
        transaction.overwrite(NEW, "part = 'b'")
        with transaction.update_schema() as update:
            update.add_column("more", LongType())
        head = transaction.table_metadata.current_snapshot_id
        transaction.manage_snapshots().create_tag(head, "release")


def _create_with_rows(catalog: Catalog, namespace: str) -> None:
    with catalog.create_table_transaction(f"{namespace}.t", SCHEMA, partition_spec=SPEC) as transaction:
        transaction.append(NEW)


def _replace_with_rows(catalog: Catalog, namespace: str) -> None:
    with catalog.replace_table_transaction(f"{namespace}.t", SCHEMA) as transaction:
        transaction.append(NEW)


def _create_or_replace_with_rows(catalog: Catalog, namespace: str) -> None:
    with catalog.create_or_replace_table_transaction(f"{namespace}.t", SCHEMA, partition_spec=SPEC) as transaction:
        transaction.append(NEW)


def _delete_keys(table: Any) -> None:
    """Replace the rows of the keys of `NEW` by equality deletes and data files that were written before the commit."""
    change = table.new_row_delta()
    for file in write_equality_deletes(table.io, table.metadata, NEW, [1]):
        change.add_deletes(file)
    change.add_rows(_written(table, NEW)).commit()


def _foreign_file(table: Any) -> str:
    return f"{table.location()}/foreign.parquet"


def _write_foreign_file(table: Any) -> None:
    data = io.BytesIO()
    pq.write_table(FOREIGN, data)
    table.io.core.write(_foreign_file(table), data.getvalue(), overwrite=True)


def _written(table: Any, rows: pa.Table) -> Any:
    """Return new data files of a table that are not committed."""
    return table.transaction().target().writer.data_files(rows)


def _rewrite(table: Any) -> None:
    old = table.scan().plan_whole_files().files.column("file_path")
    table.new_rewrite().delete(old).append(_written(table, table.scan().to_arrow())).commit()


def _apply_changes(table: Any) -> None:
    changes = pa.table({"id": [4, 9, 5], "part": ["b", "b", "a"], "op": ["U", "I", "D"], "at": [1, 2, 3]})
    table.apply_changes(changes, ["id", "part"], "op", "at", batch_id="7")


def _tag_both_snapshots(table: Any) -> None:
    first, second = table.snapshots()
    table.manage_snapshots().create_tag(first.snapshot_id, "release").create_tag(second.snapshot_id, "newest").commit()


def _head(table: Any, ref: str = "main") -> int:
    return table.snapshot_by_name(ref).snapshot_id


def _statistics_file(table: Any, kind: str) -> str:
    return f"{table.location()}/metadata/{kind}.puffin"


def _write_statistics_files(table: Any) -> None:
    for kind in ("table", "partition"):
        table.io.core.write(_statistics_file(table, kind), b"PFA1", overwrite=True)


def _set_statistics(table: Any) -> None:
    head = _head(table)
    whole = StatisticsFile(
        snapshot_id=head,
        statistics_path=_statistics_file(table, "table"),
        file_size_in_bytes=4,
        file_footer_size_in_bytes=4,
        blob_metadata=[],
    )
    partitions = PartitionStatisticsFile(
        snapshot_id=head, statistics_path=_statistics_file(table, "partition"), file_size_in_bytes=4
    )
    with table.update_statistics() as update:
        update.set_statistics(whole).set_partition_statistics(partitions)


def _stage(table: Any) -> None:
    """Stage a snapshot, and commit another one to main."""
    table.append(FOREIGN, branch=None, snapshot_properties={"wap.id": "nightly"})
    table.append(NEW)


def _cherry_pick(table: Any) -> None:
    (staged,) = (one.snapshot_id for one in table.snapshots() if one.summary.get("wap.id") == "nightly")
    table.manage_snapshots().cherry_pick(staged).commit()


def _roll_back(table: Any) -> None:
    table.manage_snapshots().rollback_to_snapshot(table.current_snapshot().parent_snapshot_id).commit()


def _advance_main(table: Any) -> None:
    table.append(NEW)


ON_READ = tuple((f"write.{name}.mode", "merge-on-read") for name in ("delete", "update", "merge"))
TABLE_OPERATIONS = {
    "create": TableOperation(
        lambda catalog, namespace: catalog.create_table(f"{namespace}.t", SCHEMA, partition_spec=SPEC),
        begins_without_table=True,
    ),
    "create with rows": TableOperation(_create_with_rows, begins_without_table=True, needs="create with rows"),
    "replace with rows": TableOperation(_replace_with_rows),
    "create or replace, without a table": TableOperation(
        _create_or_replace_with_rows, begins_without_table=True, needs="create with rows"
    ),
    "create or replace, over a table": TableOperation(_create_or_replace_with_rows),
    "append": TableOperation(on_table(lambda table: table.append(NEW))),
    "append and merge manifests": TableOperation(
        on_table(lambda table: table.append(NEW)), properties=(("commit.manifest.min-count-to-merge", "2"),)
    ),
    "append to a branch": TableOperation(on_table(lambda table: table.append(NEW, branch="side"))),
    "stage": TableOperation(on_table(lambda table: table.append(NEW, branch=None))),
    "append in Avro": TableOperation(
        on_table(lambda table: table.append(NEW)), properties=(("write.format.default", "avro"),)
    ),
    "append in ORC": TableOperation(
        on_table(lambda table: table.append(NEW)), properties=(("write.format.default", "orc"),)
    ),
    "append to version 1": TableOperation(
        on_table(lambda table: table.append(NEW)), properties=(("format-version", "1"),)
    ),
    "upgrade": TableOperation(
        on_table(lambda table: table.transaction().upgrade_table_version(2).commit_transaction()),
        properties=(("format-version", "1"),),
    ),
    "row delta": TableOperation(on_table(_delete_keys), leaves_data_files=True),
    "overwrite": TableOperation(on_table(lambda table: table.overwrite(NEW, "part = 'a'"))),
    "dynamic overwrite": TableOperation(on_table(lambda table: table.dynamic_partition_overwrite(NEW))),
    "delete by rewriting": TableOperation(on_table(lambda table: table.delete("id = 2"))),
    "delete by delete files": TableOperation(on_table(lambda table: table.delete("id = 2")), properties=ON_READ),
    "update by rewriting": TableOperation(on_table(lambda table: table.update("id = 2", {"part": "'c'"}))),
    "update by delete files": TableOperation(
        on_table(lambda table: table.update("id = 2", {"part": "'c'"})), properties=ON_READ
    ),
    "apply changes": TableOperation(on_table(_apply_changes)),
    "upsert": TableOperation(on_table(lambda table: table.upsert(NEW, ["id"]))),
    "merge": TableOperation(
        on_table(lambda table: table.merge(NEW, ["id"]).when_matched_update().when_not_matched_insert().execute()),
        properties=ON_READ,
    ),
    "add files": TableOperation(
        on_table(lambda table: table.add_files([_foreign_file(table)])), prepare=_write_foreign_file
    ),
    "replace partitions": TableOperation(
        on_table(lambda table: table.new_replace_partitions().append(_written(table, NEW)).commit()),
        leaves_data_files=True,
    ),
    "rewrite files": TableOperation(on_table(_rewrite), leaves_data_files=True),
    "rewrite manifests": TableOperation(on_table(lambda table: table.rewrite_manifests().commit())),
    "transaction": TableOperation(on_table(_several_changes)),
    "transaction of all kinds": TableOperation(on_table(_all_kinds_of_changes)),
    "schema": TableOperation(on_table(_add_column)),
    "spec": TableOperation(on_table(_add_partition_field)),
    "sort order": TableOperation(on_table(_sort)),
    "properties": TableOperation(
        on_table(lambda table: table.transaction().set_properties({"owner": "me"}).commit_transaction())
    ),
    "properties and old metadata": TableOperation(
        on_table(lambda table: table.transaction().set_properties({"owner": "me"}).commit_transaction()),
        properties=(
            ("write.metadata.delete-after-commit.enabled", "true"),
            ("write.metadata.previous-versions-max", "1"),
        ),
        deletes_files=True,
    ),
    "statistics": TableOperation(on_table(_set_statistics), prepare=_write_statistics_files),
    "branch": TableOperation(
        on_table(lambda table: table.manage_snapshots().create_branch(_head(table), "more").commit())
    ),
    "tag": TableOperation(
        on_table(lambda table: table.manage_snapshots().create_tag(_head(table), "release").commit())
    ),
    "rollback": TableOperation(on_table(_roll_back)),
    "set current snapshot": TableOperation(
        on_table(lambda table: table.manage_snapshots().set_current_snapshot(table.snapshots()[0].snapshot_id).commit())
    ),
    "remove branch": TableOperation(on_table(lambda table: table.manage_snapshots().remove_branch("side").commit())),
    "rename branch": TableOperation(
        on_table(lambda table: table.manage_snapshots().rename_branch("side", "other").commit())
    ),
    "fast-forward": TableOperation(
        on_table(lambda table: table.manage_snapshots().fast_forward("side", "main").commit()), prepare=_advance_main
    ),
    "cherry-pick": TableOperation(on_table(_cherry_pick), prepare=_stage),
    "publish": TableOperation(
        on_table(lambda table: table.manage_snapshots().publish_changes("nightly").commit()), prepare=_stage
    ),
    "replace branch": TableOperation(
        on_table(
            lambda table: table.manage_snapshots().replace_branch("side", table.snapshots()[0].snapshot_id).commit()
        )
    ),
    "replace tag": TableOperation(
        on_table(lambda table: table.manage_snapshots().replace_tag("release", _head(table)).commit()),
        prepare=_tag_both_snapshots,
    ),
    "remove tag": TableOperation(
        on_table(lambda table: table.manage_snapshots().remove_tag("release").commit()), prepare=_tag_both_snapshots
    ),
}
"""Operations of every catalog on one table."""


def prepare(catalog: Catalog, namespace: str, operation: TableOperation) -> None:
    """Create a namespace and, unless the operation creates the table, table `t` with two snapshots and a branch."""
    catalog.create_namespace(namespace)
    operation.surroundings(catalog, namespace)
    if operation.begins_without_table:
        return
    table = catalog.create_table(f"{namespace}.t", SCHEMA, partition_spec=SPEC, properties=dict(operation.properties))
    table.append(pa.table({"id": [1, 2, 3], "part": ["a", "a", None]}, schema=ARROW))
    table.append(pa.table({"id": [4, 5], "part": ["b", "a"]}, schema=ARROW))
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "side").commit()
    operation.prepare(table)
