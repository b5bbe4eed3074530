"""Every operation that changes a table, each as a function that makes a table and leaves it changed for Java to continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe.catalog import Catalog
from icefloe.manifest.columns import DATA_FILE_SCHEMA
from icefloe.table import Table
from icefloe.types import LongType, StringType

from tests.interop.java.maintained_changes import MAINTAINED
from tests.interop.java.started_table import (
    BY_PART,
    MERGE_EARLY,
    MERGE_ON_READ,
    SCHEMA,
    START,
    VERSION_1,
    Change,
    branched,
    on,
    rows,
    staged,
    with_properties,
    with_statistics,
    written,
)


def path_of(location: str) -> str:
    return location.removeprefix("file://").removeprefix("file:")


def merged(table: Table) -> None:
    table.merge(rows((1, "z"), (9, "n")), on=["id"]).when_matched_update().when_not_matched_insert().execute()


def row_delta(table: Table) -> None:
    """Delete row 2 by its position and rows of id 3 by equality, and add a row, in one snapshot."""
    plan = table.scan("id = 2").plan_whole_files()
    location = plan.files.column("file_path")[0].as_py()
    partition = plan.files.column("partition")[0].as_py()
    spec_id = table.spec().spec_id
    positions = pa.schema([field_of("file_path", pa.string(), 2147483546), field_of("pos", pa.int64(), 2147483545)])
    by_position = delete_file(
        table,
        pa.table([[location], [0]], schema=positions),
        {"content": 1, "referenced_data_file": location},
        partition,
    )
    keys = pa.schema([field_of("id", pa.int64(), 1)])
    by_key = delete_file(table, pa.table([[3]], schema=keys), {"content": 2, "equality_ids": [1]}, '["a"]')
    deletes = pa.RecordBatch.from_pylist(
        [{**one, "spec_id": spec_id} for one in (by_position, by_key)], DATA_FILE_SCHEMA
    )
    table.new_row_delta().add_rows(written(table, rows((7, "b")))).add_deletes(deletes).commit()


def field_of(name: str, kind: pa.DataType, field_id: int) -> pa.Field:
    return pa.field(name, kind, nullable=False, metadata={"PARQUET:field_id": str(field_id)})


def delete_file(table: Table, data: pa.Table, facts: dict[str, Any], partition: str) -> dict[str, Any]:
    location = f"{table.location()}/data/delete-{facts['content']}.parquet"
    pq.write_table(data, path_of(location))
    return {
        **facts,
        "file_path": location,
        "file_format": "PARQUET",
        "partition": partition,
        "record_count": data.num_rows,
        "file_size_in_bytes": Path(path_of(location)).stat().st_size,
    }


def rewritten_files(table: Table) -> None:
    plan = table.scan().plan_whole_files()
    new = written(table, table.scan().to_arrow())
    table.new_rewrite().delete(plan.files.column("file_path")).append(new).commit()


def rewritten_deletes(table: Table) -> None:
    """Rewrite data files together with their delete files, and keep the sequence number."""
    table.delete("id = 1")
    plan = table.scan().plan_whole_files()
    started_at = table.current_snapshot().sequence_number
    rewrite = table.new_rewrite().delete(plan.files.column("file_path")).append(written(table, table.scan().to_arrow()))
    rewrite.delete_deletes(plan.deletes.column("file_path")).data_sequence_number(started_at).commit()


def added_files(table: Table) -> None:
    location = f"{table.location()}/imported/part=q/file.parquet"
    Path(path_of(location)).parent.mkdir(parents=True)
    pq.write_table(rows((7, "q"), (8, "q")), path_of(location))
    table.add_files([location])


def cherry_picked(table: Table) -> None:
    source = staged(table, "w1")
    table.append(rows((8, "b")))
    table.manage_snapshots().cherry_pick(source).commit()


def published(table: Table) -> None:
    staged(table, "w2")
    table.manage_snapshots().publish_changes("w2").commit()


def rolled_back(table: Table) -> None:
    table.manage_snapshots().rollback_to_snapshot(table.snapshots()[0].snapshot_id).commit()


def rolled_back_in_time(table: Table) -> None:
    table.manage_snapshots().rollback_to_timestamp(table.snapshots()[1].timestamp_ms).commit()


def current_set(table: Table) -> None:
    table.manage_snapshots().rollback_to_snapshot(table.snapshots()[0].snapshot_id).commit()
    table.manage_snapshots().set_current_snapshot(table.snapshots()[1].snapshot_id).commit()


def fast_forwarded(table: Table) -> None:
    branched_off = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_branch(branched_off, "next").commit()
    table.append(rows((7, "next")), branch="next")
    table.manage_snapshots().fast_forward("main", "next").commit()


def schema_evolved(table: Table) -> None:
    with table.update_schema() as update:
        update.add_column("note", StringType(), "a note").add_column("number", LongType())
    table.append(rows((7, "a")).append_column("note", [["n"]]))
    with table.update_schema() as update:
        update.rename_column("note", "remark").move_first("remark").delete_column("number")


def batches_applied(table: Table) -> None:
    """Apply batches of changes: each updates row 1, removes the row before its own and adds one."""
    for number in range(6):
        pairs = (1, "a"), (6 + number, "a"), (7 + number, "a")
        batch = rows(*pairs).append_column("op", [["U", "D", "I"]])
        table.apply_changes(batch, ["id", "part"], "op", batch_id=str(number))


def spec_evolved(table: Table) -> None:
    table.update_spec().remove_field("part").add_field("id", "bucket[2]", "id_bucket").commit()
    table.append(rows((7, "a"), (8, "x")))
    table.delete("part = 'a' and id < 4")


def sorted_anew(table: Table) -> None:
    table.update_sort_order().desc("id", "identity").asc("part", "bucket[4]").commit()
    table.append(rows((7, "a"), (8, "a")))


def upgraded(table: Table) -> None:
    table.transaction().upgrade_table_version(2).set_properties(MERGE_ON_READ).commit_transaction()
    table.delete("id = 1")
    table.append(rows((7, "a")))


def inline(table: Table) -> None:
    """List the manifests of all snapshots in the metadata, as the first writers of version 1 did, then write."""
    location = Path(path_of(table.metadata_location))
    metadata = json.loads(location.read_text())
    for snapshot, known in zip(metadata["snapshots"], table.snapshots(), strict=True):
        del snapshot["manifest-list"]
        snapshot["manifests"] = [manifest.manifest_path for manifest in known.manifests(table.io)]
    location.write_text(json.dumps(metadata))
    # The checksum of the file that Java's local file system wrote.
    location.with_name(f".{location.name}.crc").unlink(missing_ok=True)
    table = table.catalog.load_table(table.name())
    table.append(rows((7, "a")))
    table.delete("id = 1")


def created_with_rows(catalog: Catalog, name: str) -> None:
    with catalog.create_table_transaction(name, SCHEMA, partition_spec=BY_PART) as transaction:
        transaction.append(START)
        transaction.append(rows((5, "c")))


def many_changes(table: Table) -> None:
    with table.transaction() as transaction:
        transaction.append(rows((7, "a")))
        transaction.delete("id = 1")
        transaction.update_schema().add_column("note", StringType()).commit()
        transaction.set_properties({"owner": "me"})


CHANGES: dict[str, Change] = {
    "fast_append": on(lambda table: table.new_fast_append().append(written(table, rows((7, "a")))).commit()),
    "merge_append": with_properties(lambda table: table.append(rows((7, "a"))), MERGE_EARLY),
    "overwrite": on(lambda table: table.overwrite(rows((10, "a")), "id <= 2")),
    "dynamic_overwrite": on(lambda table: table.dynamic_partition_overwrite(rows((10, "a")))),
    "replace_partitions": on(lambda table: table.new_replace_partitions().append(written(table, rows((7, "a")))).commit()),
    "delete_copy_on_write": on(lambda table: table.delete("id = 1 or part = 'b'")),
    "delete_merge_on_read": with_properties(lambda table: table.delete("id = 1 or part = 'b'"), MERGE_ON_READ),
    "delete_everything": on(lambda table: table.delete()),
    "upsert": on(lambda table: table.upsert(rows((1, "z"), (9, "n")), ["id"])),
    "upsert_merge_on_read": with_properties(lambda table: table.upsert(rows((1, "z"), (9, "n")), ["id"]), MERGE_ON_READ),
    "merge": on(merged),
    "merge_merge_on_read": with_properties(merged, MERGE_ON_READ),
    "apply_changes": on(batches_applied),
    "apply_changes_folded": with_properties(batches_applied, {"write.icefloe.fold-min-files": "3"}),
    "row_delta": on(row_delta),
    "rewrite_files": on(rewritten_files),
    "rewrite_deletes": with_properties(rewritten_deletes, MERGE_ON_READ),
    "rewrite_manifests": on(lambda table: table.rewrite_manifests().commit()),
    "add_files": on(added_files),
    "cherry_pick": on(cherry_picked),
    "publish": on(published),
    "rollback": on(rolled_back),
    "rollback_in_time": on(rolled_back_in_time),
    "set_current": on(current_set),
    "branches_and_tags": on(branched),
    "fast_forward": on(fast_forwarded),
    "schema": on(schema_evolved),
    "spec": on(spec_evolved),
    "sort_order": on(sorted_anew),
    "statistics": on(with_statistics),
    "transaction": on(many_changes),
    "create_transaction": created_with_rows,
    "version_1": with_properties(lambda table: table.overwrite(rows((10, "a")), "id <= 2"), VERSION_1),
    "version_1_delete": with_properties(lambda table: table.delete("id = 1 or part = 'b'"), {**VERSION_1, **MERGE_EARLY}),
    "version_1_spec": with_properties(spec_evolved, VERSION_1),
    "version_1_inline": with_properties(inline, VERSION_1),
    "version_1_upgraded": with_properties(upgraded, VERSION_1),
    **MAINTAINED,
}  # fmt: skip
