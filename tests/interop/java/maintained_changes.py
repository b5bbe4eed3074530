"""Every maintenance verb, each as a function that leaves a table for Java to continue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from icefloe.catalog import Catalog
from icefloe.table import Table
from icefloe.types import StringType

from tests.interop.java.started_table import (
    MERGE_ON_READ,
    VERSION_1,
    Change,
    branched,
    rows,
    staged,
    started,
    unpartitioned,
    with_properties,
    with_statistics,
)
from tests.unit.table.maintenance.path_rewrite.copies import copied, hidden, path_of, rewritten

BY_PARTITION = {**MERGE_ON_READ, "write.delete.granularity": "partition"}
POLICY = {
    "maintenance.compact.min-small-files": "2",
    "maintenance.compact.max-deletes-per-file": "1",
    "maintenance.manifests.min-count": "2",
    "history.expire.max-snapshot-age-ms": "1",
}


def expired(table: Table) -> None:
    """Expire most snapshots of a table with a branch, a tag, statistics and rewritten manifests, and remove orphan files."""
    with_statistics(table)
    branched(table)
    staged(table, "w3")
    table.overwrite(rows((1, "z")), "id = 1")
    table.rewrite_manifests().commit()
    with table.update_schema() as update:
        update.add_column("note", StringType())
    table.append(rows((8, "a")))
    table.maintenance.expire_snapshots().older_than("0s").clean_expired_metadata().execute()
    table.io.core.write(f"{table.location()}/data/orphan.parquet", b"orphan", overwrite=False)
    table.maintenance.remove_orphan_files().older_than("0s").force().execute()


def delete_keys(table: Table, *keys: tuple[int, str]) -> None:
    """Delete rows by equality on `id`, in their partitions."""
    table.new_row_delta().add_deletes(table.transaction().target().writer.equality_deletes(rows(*keys), [1])).commit()


def delete_all_ways(table: Table) -> None:
    """Delete row 1 by position and row 2 by equality, and give the table a row that was written after both."""
    table.delete("id = 1")
    delete_keys(table, (2, "b"))
    table.append(rows((2, "b"), (7, "a")))


def compacted(table: Table) -> None:
    delete_all_ways(table)
    table.maintenance.rewrite_data_files().options(rewrite_all=True).execute()


def sorted_by_id(table: Table) -> None:
    delete_all_ways(table)
    table.update_sort_order().desc("id", "identity").commit()
    table.maintenance.rewrite_data_files().sort().options(rewrite_all=True).execute()


def on_a_curve(table: Table) -> None:
    table.delete("id = 1")
    table.append(rows((2, "b"), (7, "a")))
    table.maintenance.rewrite_data_files().zorder("id", "part").options(rewrite_all=True).execute()


def compacted_beside_a_delete(table: Table) -> None:
    """Compact with the sequence number of a snapshot before an equality delete, which must delete row 2 of the new files."""
    other = table.catalog.load_table(table.name())
    plan = table.maintenance.rewrite_data_files().options(rewrite_all=True).plan()
    delete_keys(other, (2, "b"))
    table.maintenance.execute(plan)


def compacted_to_another_spec(table: Table) -> None:
    delete_all_ways(table)
    table.update_spec().remove_field("part").add_field("id", "bucket[2]", "id_bucket").commit()
    table.maintenance.rewrite_data_files().execute()


def clustered_manifests(table: Table) -> None:
    delete_all_ways(table)
    table.maintenance.rewrite_manifests().execute()


def merged_position_deletes(table: Table) -> None:
    delete_all_ways(table)
    table.delete("id = 5 or id = 6")
    table.maintenance.rewrite_position_deletes().options(rewrite_all=True).execute()


def converted_deletes(table: Table) -> None:
    delete_all_ways(table)
    table.maintenance.convert_equality_deletes().execute()


def without_dangling_deletes(table: Table) -> None:
    """Remove the equality delete of a row that was never there."""
    table.delete("id = 1")
    delete_keys(table, (9, "nowhere"))
    table.maintenance.remove_dangling_deletes().execute()


def analyzed(table: Table) -> None:
    delete_all_ways(table)
    table.maintenance.compute_statistics().execute()
    table.maintenance.compute_partition_statistics().execute()


def copied_elsewhere(catalog: Catalog, name: str) -> None:
    """Register the copy of a table with deletes at another location; the original is hidden."""
    source = started(catalog, f"{name}_source", MERGE_ON_READ)
    delete_all_ways(source)
    result = rewritten(source, Path(path_of(source.location())).with_name(f"copy_of_{name}")).execute()
    copied(result)
    hidden(source)
    catalog.register_table(name, result.metadata_location)


def by_policy(table: Table) -> None:
    delete_all_ways(table)
    table.maintenance.policy().execute()


def policy_of_version_1(table: Table) -> None:
    table.overwrite(rows((1, "z")), "id = 1")
    table.maintenance.policy().execute()


def merge_on_read(change: Callable[[Table], object]) -> Change:
    return with_properties(change, MERGE_ON_READ)


MAINTAINED: dict[str, Change] = {
    "expire_snapshots": merge_on_read(expired),
    "rewrite_data_files": merge_on_read(compacted),
    "rewrite_data_files_sort": merge_on_read(sorted_by_id),
    "rewrite_data_files_zorder": lambda catalog, name: on_a_curve(
        started(catalog, name, MERGE_ON_READ, unpartitioned())
    ),
    "rewrite_data_files_old_delete": merge_on_read(compacted_beside_a_delete),
    "rewrite_data_files_spec": merge_on_read(compacted_to_another_spec),
    "rewrite_manifests_all": merge_on_read(clustered_manifests),
    "rewrite_position_deletes": with_properties(merged_position_deletes, BY_PARTITION),
    "convert_equality_deletes": merge_on_read(converted_deletes),
    "remove_dangling_deletes": merge_on_read(without_dangling_deletes),
    "compute_statistics": merge_on_read(analyzed),
    "rewrite_table_path": copied_elsewhere,
    "policy": with_properties(by_policy, {**MERGE_ON_READ, **POLICY}),
    "policy_version_1": with_properties(policy_of_version_1, {**VERSION_1, **POLICY}),
}
