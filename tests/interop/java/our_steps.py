"""The steps of a script, carried out by icefloe."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from icefloe.manifest.columns import DATA_FILE_SCHEMA
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table import Table
from icefloe.table.commit.summary import EQUALITY_DELETES

from tests.interop.java.java_steps import BYTES, RECORDS
from tests.interop.java.same_steps import Script, Step, referenced, split

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string())])
BY_PART = PartitionSpec(PartitionField(2, 1000, "identity", "part"))


class OurSteps:
    """Carries out a script; returns the metadata file after each step."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.snapshots: list[int] = []

    def run(self, script: Script) -> list[str]:
        found = []
        for step in script.steps:
            before = {snapshot.snapshot_id for snapshot in self.table.snapshots()}
            getattr(self, step.kind)(step)
            new = [each.snapshot_id for each in self.table.snapshots() if each.snapshot_id not in before]
            self.snapshots.append(new[0] if new else 0)
            found.append(self.table.metadata_location)
        return found

    def append(self, step: Step) -> None:
        self.add_built(self.table.new_append(*self._target(step)), step.add).commit()

    def fast_append(self, step: Step) -> None:
        self.add_built(self.table.new_fast_append(*self._target(step)), step.add).commit()

    def overwrite(self, step: Step) -> None:
        self.add_built(
            self.table.new_overwrite(*self._target(step)).delete(self._paths(step.remove)), step.add
        ).commit()

    def delete(self, step: Step) -> None:
        self.table.new_delete(*self._target(step)).delete(self._paths(step.remove)).commit()

    def delete_filter(self, step: Step) -> None:
        self.table.delete(f"part = '{step.text}'")

    def replace_partitions(self, step: Step) -> None:
        self.add_built(self.table.new_replace_partitions(*self._target(step)), step.add).commit()

    def row_delta(self, step: Step) -> None:
        change = self.table.new_row_delta(*self._target(step))
        if step.deletes:
            change.add_deletes(self._files(step.deletes, content=1))
        if step.keys:
            change.add_deletes(self._files(step.keys, content=2))
        if step.add:
            change.add_rows(self._files(step.add))
        change.remove_rows(self._paths(step.remove)).remove_deletes(self._paths(step.unused)).commit()

    def rewrite(self, step: Step) -> None:
        self.add_built(self.table.new_rewrite(*self._target(step)).delete(self._paths(step.remove)), step.add).commit()

    def rewrite_manifests(self, step: Step) -> None:
        self.table.rewrite_manifests().commit()

    def create_branch(self, step: Step) -> None:
        self.table.manage_snapshots().create_branch(self.snapshots[step.of], step.text).commit()

    def create_tag(self, step: Step) -> None:
        self.table.manage_snapshots().create_tag(self.snapshots[step.of], step.text).commit()

    def cherry_pick(self, step: Step) -> None:
        self.table.manage_snapshots().cherry_pick(self.snapshots[step.of]).commit()

    def rollback(self, step: Step) -> None:
        self.table.manage_snapshots().rollback_to_snapshot(self.snapshots[step.of]).commit()

    def set_current(self, step: Step) -> None:
        self.table.manage_snapshots().set_current_snapshot(self.snapshots[step.of]).commit()

    def fast_forward(self, step: Step) -> None:
        self.table.manage_snapshots().fast_forward("main", step.text).commit()

    def remove_field(self, step: Step) -> None:
        self.table.update_spec().remove_field(step.text).commit()

    def add_field(self, step: Step) -> None:
        self.table.update_spec().add_field(step.text, "identity", step.text).commit()

    def upgrade(self, step: Step) -> None:
        self.table.transaction().upgrade_table_version(2).commit_transaction()

    def _target(self, step: Step) -> tuple[str | None, dict[str, str]]:
        return step.branch, {"wap.id": step.text} if step.branch is None else {}

    def add_built(self, change: Any, names: tuple[str, ...]) -> Any:
        """Add data files of the table's spec to a change."""
        return change.append(self._files(names)) if names else change

    def _paths(self, names: tuple[str, ...]) -> list[str]:
        return [self._path(name) for name in names]

    def _path(self, name: str) -> str:
        return f"{self.table.location()}/data/{split(name)[0]}.parquet"

    def _files(self, names: tuple[str, ...], content: int = 0) -> pa.RecordBatch:
        earlier = [None] * (len(self.table.spec().fields) - 1)
        rows = [
            {
                "content": content,
                "file_path": path,
                "file_format": "PARQUET",
                "spec_id": self.table.spec().spec_id,
                "partition": json.dumps([*earlier, split(name)[1]] if self.table.spec().fields else []),
                "record_count": RECORDS,
                "file_size_in_bytes": BYTES,
                "equality_ids": [1] if content == EQUALITY_DELETES else None,
                "referenced_data_file": None if target is None else self._path(target),
            }
            for name, path, target in zip(names, self._paths(names), map(referenced, names), strict=True)
        ]
        return pa.RecordBatch.from_pylist(rows, DATA_FILE_SCHEMA)
