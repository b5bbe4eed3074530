"""All operations that change a table or a catalog, with their initial tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from icefloe.exceptions import IcebergError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import LongType, NestedField, StringType

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefloe.catalog import Catalog

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", StringType()))
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
ARROW = pa.schema([("id", pa.int64()), ("part", pa.string())])
NEW = pa.table({"id": [4, 9], "part": ["a", "b"]}, schema=ARROW)


@dataclass(frozen=True)
class TableOperation:
    """An operation on the table `t` of a namespace.

    Attributes:
        act: Function that performs the operation, given a catalog and the namespace.
        begins_without_table: Whether the operation creates the table.
        catalogs: The kinds of catalogs that support the operation.
        properties: Properties of the initial table.
    """

    act: Callable[[Catalog, str], Any]
    begins_without_table: bool = False
    catalogs: tuple[str, ...] = ("memory", "sql", "hadoop")
    properties: tuple[tuple[str, str], ...] = ()


def _on_table(act: Callable[[Any], Any]) -> Callable[[Catalog, str], Any]:
    return lambda catalog, namespace: act(catalog.load_table(f"{namespace}.t"))


def _add_column(table: Any) -> None:
    with table.update_schema() as update:
        update.add_column("more", LongType())


def _add_partition_field(table: Any) -> None:
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(4), "id_bucket")


def _several_changes(table: Any) -> None:
    with table.transaction() as transaction:
        transaction.set_properties({"owner": "me"})
        transaction.append(NEW)
        transaction.delete("id = 2")


ON_READ = (("write.delete.mode", "merge-on-read"), ("write.merge.mode", "merge-on-read"))
OPERATIONS = {
    "create": TableOperation(
        lambda catalog, namespace: catalog.create_table(f"{namespace}.t", SCHEMA, partition_spec=SPEC),
        begins_without_table=True,
    ),
    "append": TableOperation(_on_table(lambda table: table.append(NEW))),
    "append and merge manifests": TableOperation(
        _on_table(lambda table: table.append(NEW)), properties=(("commit.manifest.min-count-to-merge", "2"),)
    ),
    "overwrite": TableOperation(_on_table(lambda table: table.overwrite(NEW, "part = 'a'"))),
    "dynamic overwrite": TableOperation(_on_table(lambda table: table.dynamic_partition_overwrite(NEW))),
    "delete by rewriting": TableOperation(_on_table(lambda table: table.delete("id = 2"))),
    "delete by delete files": TableOperation(_on_table(lambda table: table.delete("id = 2")), properties=ON_READ),
    "upsert": TableOperation(_on_table(lambda table: table.upsert(NEW, ["id"]))),
    "merge": TableOperation(
        _on_table(lambda table: table.merge(NEW, ["id"]).when_matched_update().when_not_matched_insert().execute()),
        properties=ON_READ,
    ),
    "transaction": TableOperation(_on_table(_several_changes)),
    "schema": TableOperation(_on_table(_add_column)),
    "spec": TableOperation(_on_table(_add_partition_field)),
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
    "branch": TableOperation(
        _on_table(
            lambda table: table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "more").commit()
        )
    ),
    "rename": TableOperation(
        lambda catalog, namespace: catalog.rename_table(f"{namespace}.t", f"{namespace}.renamed"),
        catalogs=("memory", "sql"),
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


def state_of(catalog: Catalog, namespace: str) -> dict[str, Any]:
    """Return the visible state of the tables of a namespace."""
    return {name: _state(catalog.load_table((namespace, name))) for _, name in catalog.list_tables(namespace)}


def _state(table: Any) -> Any:
    refs = sorted(table.metadata.refs)
    rows = {ref: sorted(map(str, table.scan().use_ref(ref).to_arrow().to_pylist())) for ref in refs}
    fields = [str(field) for field in table.schema().fields]
    return fields, [str(field) for field in table.spec().fields], dict(table.properties), rows, len(table.snapshots())


def missing_files(catalog: Catalog, namespace: str) -> list[str]:
    """Return the missing files that are referenced by snapshots of the tables of a namespace."""
    missing = []
    for identifier in catalog.list_tables(namespace):
        table = catalog.load_table(identifier)
        for snapshot in table.snapshots():
            paths = [snapshot.manifest_list]
            try:
                paths += snapshot.manifest_rows(table.io).column("manifest_path").to_pylist()
                paths += table.inspect.files(snapshot.snapshot_id).column("file_path").to_pylist()
            except IcebergError as error:
                missing.append(str(error))
            missing += [path for path in paths if not table.io.core.exists(path)]
    return missing
