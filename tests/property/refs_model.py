"""A table model with branches, tags, staged snapshots, and the changes that replace rows by keys or partitions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
from icefloe.catalog import Catalog
from icefloe.table.snapshots import is_ancestor_of
from icefloe.types import DoubleType, FloatType, UUIDType

from tests.property.random_filter import random_filter
from tests.property.table_model import TableModel, ids_within

Rows = list[dict[int, Any]]


class RefsModel(TableModel):
    """A random table whose changes also go to branches, or are published later.

    Args:
        catalog: The catalog of the table.
        rng: Draws the changes.
        directory: Where files that are added to the table are written.
    """

    formats = ("parquet", "parquet", "avro", "orc")

    def __init__(self, catalog: Catalog, rng: Random, directory: Path) -> None:
        super().__init__(catalog, rng)
        self.directory = directory
        self.states: dict[int, Rows] = {}
        self.branches: dict[str, Rows] = {}
        self.tags: dict[str, int] = {}

    def step(self) -> None:
        is_orc = self.table.properties["write.format.default"] == "orc"
        if is_orc and "timestamp" in str(self.schema):
            # ORC has no timestamps of some years.
            with self.table.transaction() as change:
                change.set_properties({"write.format.default": "parquet"})
        super().step()

    def weighted(self) -> dict[Any, int]:
        return super().weighted() | {
            self.create_branch: 1, self.change_branch: 4, self.fast_forward: 1, self.tag: 1, self.publish: 2, self.roll_back: 1,
            self.upsert: 3, self.overwrite_partitions: 3, self.add_files: 2,
        }  # fmt: skip

    def remember(self, snapshot_id: int, rows: Rows) -> None:
        if snapshot_id not in self.states:
            self.states[snapshot_id] = list(rows)
            super().remember(snapshot_id, rows)

    @property
    def head(self) -> int | None:
        snapshot = self.table.current_snapshot()
        return None if snapshot is None else snapshot.snapshot_id

    # ---- branches, tags, staged snapshots

    def create_branch(self) -> str | None:
        if self.head is None:
            return None
        name = f"branch {len(self.branches)}"
        self.table.manage_snapshots().create_branch(self.head, name).commit()
        self.branches[name] = list(self.rows)
        return name

    def change_branch(self) -> str | None:
        if not self.branches:
            return None
        name = self.rng.choice(sorted(self.branches))
        before = self.table.metadata.refs[name].snapshot_id
        if self.rng.random() < 0.6:
            rows = self.new_rows()
            self.table.append(self.arrow(rows), branch=name)
            self.branches[name] = self.branches[name] + rows
            done = f"{len(rows)} rows"
        else:
            mode, condition = self.choose_mode(), random_filter(self.rng, self.struct)
            self.table.delete(condition.expression(), branch=name)
            self.branches[name] = [row for row in self.branches[name] if not condition.holds(row)]
            done = f"{mode} {condition}"
        after = self.table.metadata.refs[name].snapshot_id
        if after != before:
            self.remember(after, self.branches[name])
        return f"{name} {done}"

    def fast_forward(self) -> str | None:
        ahead = [
            name
            for name in sorted(self.branches)
            if self.head is not None
            and is_ancestor_of(self.table.metadata.refs[name].snapshot_id, self.head, self.table.metadata)
        ]
        if not ahead:
            return None
        name = self.rng.choice(ahead)
        self.table.manage_snapshots().fast_forward("main", name).commit()
        self.rows = list(self.branches[name])
        return name

    def tag(self) -> str | None:
        if self.head is None:
            return None
        name = f"tag {len(self.tags)}"
        self.table.manage_snapshots().create_tag(self.head, name).commit()
        self.tags[name] = self.head
        return name

    def publish(self) -> str:
        """Stage an append, and publish it at once or after another append."""
        rows, wap_id = self.new_rows(), f"audit {next(self.numbers)}"
        self.table.append(self.arrow(rows), branch=None, snapshot_properties={"wap.id": wap_id})
        staged = next(one for one in reversed(self.table.snapshots()) if one.summary["wap.id"] == wap_id)
        self.remember(staged.snapshot_id, self.rows + rows)
        done = self.append() if self.rng.random() < 0.5 else "at once"
        self.table.manage_snapshots().publish_changes(wap_id).commit()
        self.rows += rows
        return f"{len(rows)} rows, {done}"

    def roll_back(self) -> str | None:
        known = [
            one for one in self.states if self.head is not None and is_ancestor_of(self.head, one, self.table.metadata)
        ]
        if not known:
            return None
        chosen = self.rng.choice(sorted(known))
        self.table.manage_snapshots().rollback_to_snapshot(chosen).commit()
        self.rows = list(self.states[chosen])
        return str(chosen)

    # ---- changes by keys, partitions and files

    def upsert(self) -> str:
        """Replace rows by the column `key`, with keys that the table has at most once."""
        with self.table.transaction() as change:
            mode = self.rng.choice(["copy-on-write", "merge-on-read"][: self.table.format_version])
            change.set_properties({"write.merge.mode": mode, "write.update.mode": mode})
        key_id = self.schema.find_field("key").field_id
        found = Counter(row.get(key_id) for row in self.rows)
        single = [key for key, count in found.items() if count == 1 and key is not None]
        rows = self.new_rows()
        for row in rows:
            if single and self.rng.random() < 0.6:
                row[key_id] = self.rng.choice(single)
        own = {row[key_id]: row for row in rows if row[key_id] is not None and found[row[key_id]] < 2}
        if not own:
            return "none"
        self.table.upsert(self.arrow(list(own.values())), join_cols=["key"])
        self.rows = [row for row in self.rows if row.get(key_id) not in own] + list(own.values())
        return f"{mode} {sorted(map(str, own))}"

    def overwrite_partitions(self) -> str | None:
        by_float = any(
            isinstance(self.source(one.source_id)[1], FloatType | DoubleType) for one in self.table.spec().fields
        )
        # 0.0 and -0.0 are different partitions that no filter distinguishes.
        if by_float:
            return None
        rows = self.new_rows()
        replaced = {self.partition_of(row) for row in rows}
        self.table.dynamic_partition_overwrite(self.arrow(rows))
        self.rows = [row for row in self.rows if self.partition_of(row) not in replaced] + rows
        return f"{len(rows)} rows"

    def source(self, field_id: int) -> tuple[list[int], Any]:
        """The path of field ids to a column of structs, and the column's type."""
        path, fields = [], self.schema.fields
        while True:
            inner = next(one for one in fields if field_id in ids_within(one))
            path.append(inner.field_id)
            if inner.field_id == field_id:
                return path, inner.field_type
            fields = inner.field_type.fields

    def partition_of(self, row: dict[int, Any]) -> tuple[Any, ...]:
        """The partition of a row by the reference transforms of Python."""
        found = []
        for field in self.table.spec().fields:
            if str(field.transform) != "void":
                path, kind = self.source(field.source_id)
                value: Any = row
                for each in path:
                    value = None if value is None else value.get(each)
                found.append(field.transform.transform(kind)(value))
        return tuple(found)

    def add_files(self) -> str | None:
        is_partitioned = any(str(field.transform) != "void" for field in self.table.spec().fields)
        has_uuid = any(isinstance(self.schema.find_type(name), UUIDType) for name in self.schema.column_names)
        if is_partitioned or has_uuid:
            return None
        rows = self.new_rows()
        path = self.directory / f"{next(self.numbers)}.parquet"
        pq.write_table(self.arrow(rows), path)
        self.table.add_files([str(path)])
        self.rows += rows
        return f"{len(rows)} rows"
