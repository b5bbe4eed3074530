"""Delete files that a commit drops, against a naive reading of the specification and a table that drops none by partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe.catalog import load_catalog
from icefloe.table.commit.manifest_writer import DATA, ManifestWriter, manifests_of
from icefloe.table.commit.referenced_files import referenced_paths
from icefloe.table.commit.snapshot_producer import SnapshotProducer
from icefloe.table.commit.summary import EQUALITY_DELETES
from icefloe.table.write.equality_deletes import write_equality_deletes

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.int32())])
MODES = ("copy-on-write", "merge-on-read")
ids, parts = st.integers(0, 9), st.integers(0, 2)
STEPS = st.one_of(
    st.tuples(st.just("append"), parts, st.lists(ids, min_size=1, max_size=4)),
    st.tuples(st.just("delete keys"), parts, st.lists(ids, min_size=1, max_size=3, unique=True)),
    st.tuples(st.just("delete keys of every partition"), parts, st.lists(ids, min_size=1, max_size=3, unique=True)),
    st.tuples(st.just("delete"), parts, ids),
    st.tuples(st.just("delete below"), parts, ids),
    st.tuples(st.just("update"), parts, ids),
    st.tuples(st.just("remove files"), parts, ids),
    st.tuples(st.just("overwrite"), parts, st.lists(ids, min_size=1, max_size=2)),
    st.tuples(st.just("rewrite"), st.booleans(), st.booleans()),
    st.tuples(st.just("configure"), st.sampled_from(MODES), st.sampled_from(("file", "partition"))),
    st.tuples(st.just("partition"), st.booleans(), st.none()),
)


def rows(part: int, row_ids: list[int]) -> pa.Table:
    return pa.table({"id": row_ids, "part": [part] * len(row_ids)}, schema=SCHEMA)


def delete_keys(table: Any, spec_id: int, part: int, row_ids: list[int]) -> None:
    delta = table.new_row_delta()
    for file in write_equality_deletes(table.io, table.metadata, rows(part, row_ids), [1], spec_id=spec_id):
        delta.add_deletes(file)
    delta.commit()


def delete(table: Any, part: int, row_id: int, relation: str = "=") -> None:
    table.delete(f"part = {part} and id {relation} {row_id}")


def remove_files(table: Any, part: int, row_id: int) -> None:
    paths = table.scan(f"part = {part} and id = {row_id}").plan_whole_files().files.column("file_path")
    if len(paths) > 0:
        table.new_delete().delete(paths).commit()


def rewrite(table: Any, every: bool, keeps_number: bool) -> None:
    options = {"rewrite_all": every, "use_starting_sequence_number": keeps_number}
    table.maintenance.rewrite_data_files().options(**options).execute()


def configure(table: Any, mode: str, granularity: str) -> None:
    modes = {f"write.{name}.mode": mode for name in ("delete", "update")}
    with table.transaction() as transaction:
        transaction.set_properties({**modes, "write.delete.granularity": granularity})


def partition_by(table: Any, is_partitioned: bool, _: None) -> None:
    if is_partitioned != bool(table.spec().fields):
        with table.update_spec() as update:
            (update.add_identity if is_partitioned else update.remove_field)("part")


CHANGES = {
    "append": lambda table, part, row_ids: table.append(rows(part, row_ids)),
    "delete keys": lambda table, part, row_ids: delete_keys(table, table.metadata.default_spec_id, part, row_ids),
    "delete keys of every partition": lambda table, part, row_ids: delete_keys(table, 0, part, row_ids),
    "delete": delete,
    "delete below": lambda table, part, row_id: delete(table, part, row_id, "<="),
    "update": lambda table, part, row_id: table.update(f"part = {part} and id = {row_id}", {"id": "id + 1"}),
    "remove files": remove_files,
    "overwrite": lambda table, part, row_ids: table.dynamic_partition_overwrite(rows(part, row_ids)),
    "rewrite": rewrite,
    "configure": configure,
    "partition": partition_by,
}


@dataclass(frozen=True)
class Files:
    """The live files of a table's head, as rows of a list."""

    data: list[dict[str, Any]]
    deletes: list[dict[str, Any]]

    @classmethod
    def of(cls, table: Any) -> Files:
        head = table.current_snapshot()
        if head is None:
            return cls([], [])
        found = ManifestWriter(table.io, 1, "uuid").live_entries(table.metadata, manifests_of(table.io, head))
        names = ["content", "file_path", "spec_id", "partition", "sequence_number"]
        files = found.select(names).append_column("data_file", referenced_paths(found)).to_pylist()
        deletes = [file for file in files if file["content"] != DATA]
        return cls([file for file in files if file["content"] == DATA], deletes)


def is_global(table: Any, delete: dict[str, Any]) -> bool:
    return delete["content"] == EQUALITY_DELETES and not table.specs()[delete["spec_id"]].fields


def partition(file: dict[str, Any]) -> tuple[int, str]:
    return file["spec_id"], file["partition"]


def applies(table: Any, delete: dict[str, Any], data: dict[str, Any]) -> bool:
    """Whether a delete file applies to a data file. Spec: Scan Planning."""
    if delete["content"] == EQUALITY_DELETES:
        is_own = is_global(table, delete) or partition(delete) == partition(data)
        return is_own and data["sequence_number"] < delete["sequence_number"]
    is_own = partition(delete) == partition(data) and delete["data_file"] in (None, data["file_path"])
    return is_own and data["sequence_number"] <= delete["sequence_number"]


def unused(table: Any, before: Files) -> list[dict[str, Any]]:
    """Return the older delete files that apply to no data file, of the partitions that lost data files."""
    after = Files.of(table)
    live = {file["file_path"] for file in after.data}
    lost = {partition(file) for file in before.data if file["file_path"] not in live}
    known = {file["file_path"] for file in before.deletes}
    return [
        delete
        for delete in after.deletes
        if delete["file_path"] in known
        and ((is_global(table, delete) and lost) or partition(delete) in lost)
        and not any(applies(table, delete, data) for data in after.data)
    ]


def create(catalog: Any, name: str) -> Any:
    table = catalog.create_table(f"db.{name}", SCHEMA, properties={"write.delete.mode": "merge-on-read"})
    with table.update_spec() as update:
        update.add_identity("part")
    return table


@given(steps=st.lists(STEPS, min_size=4, max_size=12))
@settings(max_examples=60)
def test_dropped_delete_files_apply_to_no_data_file_and_kept_ones_do(steps):
    with load_catalog("scratch", type="memory") as catalog, pytest.MonkeyPatch.context() as patched:
        catalog.create_namespace("db")
        table, keeping = create(catalog, "dropping"), create(catalog, "keeping")
        for part in (0, 1, 2):
            for each in (table, keeping):
                each.append(rows(part, [0, 1, 2]))
        for step in steps:
            before = Files.of(table)
            CHANGES[step[0]](table, *step[1:])
            assert unused(table, before) == []
            with patched.context() as without:
                without.setattr(SnapshotProducer, "_unused_deletes", lambda *_: [])
                CHANGES[step[0]](keeping, *step[1:])
            found, expected = (
                sorted(each.scan().to_arrow().to_pylist(), key=lambda row: (row["part"], row["id"]))
                for each in (table, keeping)
            )
            assert found == expected
