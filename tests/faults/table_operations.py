"""All operations that change a table or a catalog, with their initial tables."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile
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
    """

    act: Callable[[Catalog, str], Any]
    begins_without_table: bool = False
    needs: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    prepare: Callable[[Any], Any] = lambda table: None
    leaves_data_files: bool = False


LACKS = {
    "hadoop": {"rename", "register", "create with rows"},
    "hadoop-s3": {"rename", "register", "create with rows"},
    "hadoop-azure": {"rename", "register", "create with rows"},
    "hadoop-gcs": {"rename", "register", "create with rows"},
}
"""The features that kinds of catalogs lack; other kinds have all features."""


def operations_of(kind: str) -> list[str]:
    """Return the names of the operations that a kind of catalog has."""
    return [name for name, operation in OPERATIONS.items() if operation.needs not in LACKS.get(kind, ())]


def _on_table(act: Callable[[Any], Any]) -> Callable[[Catalog, str], Any]:
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


def _register(catalog: Catalog, namespace: str) -> None:
    catalog.register_table(f"{namespace}.again", catalog.load_table(f"{namespace}.t").metadata_location)


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


ON_READ = (("write.delete.mode", "merge-on-read"), ("write.merge.mode", "merge-on-read"))
OPERATIONS = {
    "create": TableOperation(
        lambda catalog, namespace: catalog.create_table(f"{namespace}.t", SCHEMA, partition_spec=SPEC),
        begins_without_table=True,
    ),
    "create with rows": TableOperation(_create_with_rows, begins_without_table=True, needs="create with rows"),
    "append": TableOperation(_on_table(lambda table: table.append(NEW))),
    "append and merge manifests": TableOperation(
        _on_table(lambda table: table.append(NEW)), properties=(("commit.manifest.min-count-to-merge", "2"),)
    ),
    "append to a branch": TableOperation(_on_table(lambda table: table.append(NEW, branch="side"))),
    "stage": TableOperation(_on_table(lambda table: table.append(NEW, branch=None))),
    "overwrite": TableOperation(_on_table(lambda table: table.overwrite(NEW, "part = 'a'"))),
    "dynamic overwrite": TableOperation(_on_table(lambda table: table.dynamic_partition_overwrite(NEW))),
    "delete by rewriting": TableOperation(_on_table(lambda table: table.delete("id = 2"))),
    "delete by delete files": TableOperation(_on_table(lambda table: table.delete("id = 2")), properties=ON_READ),
    "upsert": TableOperation(_on_table(lambda table: table.upsert(NEW, ["id"]))),
    "merge": TableOperation(
        _on_table(lambda table: table.merge(NEW, ["id"]).when_matched_update().when_not_matched_insert().execute()),
        properties=ON_READ,
    ),
    "add files": TableOperation(
        _on_table(lambda table: table.add_files([_foreign_file(table)])), prepare=_write_foreign_file
    ),
    "replace partitions": TableOperation(
        _on_table(lambda table: table.new_replace_partitions().append(_written(table, NEW)).commit()),
        leaves_data_files=True,
    ),
    "rewrite files": TableOperation(_on_table(_rewrite), leaves_data_files=True),
    "rewrite manifests": TableOperation(_on_table(lambda table: table.rewrite_manifests().commit())),
    "transaction": TableOperation(_on_table(_several_changes)),
    "transaction of all kinds": TableOperation(_on_table(_all_kinds_of_changes)),
    "schema": TableOperation(_on_table(_add_column)),
    "spec": TableOperation(_on_table(_add_partition_field)),
    "sort order": TableOperation(_on_table(_sort)),
    "properties": TableOperation(
        _on_table(lambda table: table.transaction().set_properties({"owner": "me"}).commit_transaction())
    ),
    "properties and old metadata": TableOperation(
        _on_table(lambda table: table.transaction().set_properties({"owner": "me"}).commit_transaction()),
        properties=(
            ("write.metadata.delete-after-commit.enabled", "true"),
            ("write.metadata.previous-versions-max", "1"),
        ),
    ),
    "statistics": TableOperation(_on_table(_set_statistics), prepare=_write_statistics_files),
    "branch": TableOperation(
        _on_table(lambda table: table.manage_snapshots().create_branch(_head(table), "more").commit())
    ),
    "tag": TableOperation(
        _on_table(lambda table: table.manage_snapshots().create_tag(_head(table), "release").commit())
    ),
    "rollback": TableOperation(_on_table(_roll_back)),
    "fast-forward": TableOperation(
        _on_table(lambda table: table.manage_snapshots().fast_forward("side", "main").commit()), prepare=_advance_main
    ),
    "cherry-pick": TableOperation(_on_table(_cherry_pick), prepare=_stage),
    "publish": TableOperation(
        _on_table(lambda table: table.manage_snapshots().publish_changes("nightly").commit()), prepare=_stage
    ),
    "register": TableOperation(_register, needs="register"),
    "rename": TableOperation(
        lambda catalog, namespace: catalog.rename_table(f"{namespace}.t", f"{namespace}.renamed"), needs="rename"
    ),
    "drop": TableOperation(lambda catalog, namespace: catalog.drop_table(f"{namespace}.t")),
    "purge": TableOperation(lambda catalog, namespace: catalog.purge_table(f"{namespace}.t")),
}


def prepare(catalog: Catalog, namespace: str, operation: TableOperation) -> None:
    """Create a namespace and, unless the operation creates the table, table `t` with two snapshots and a branch."""
    catalog.create_namespace(namespace)
    if operation.begins_without_table:
        return
    table = catalog.create_table(f"{namespace}.t", SCHEMA, partition_spec=SPEC, properties=dict(operation.properties))
    table.append(pa.table({"id": [1, 2, 3], "part": ["a", "a", None]}, schema=ARROW))
    table.append(pa.table({"id": [4, 5], "part": ["b", "a"]}, schema=ARROW))
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "side").commit()
    operation.prepare(table)
