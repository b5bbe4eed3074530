"""Initial tables of histories, each created once in a process and shared by its histories."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.commit.row_delta import RowDelta
from icefloe.table.environment import Environment
from icefloe.transforms import IdentityTransform, TruncateTransform
from icefloe.types import LongType, NestedField, StringType

from tests.simulator.model import OTHER_ROWS
from tests.simulator.operations import MAIN, WIDTH, History, Row, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.table import Table

NAMESPACE = "db"
NAME = "db.t"
START_MS = 1_700_000_000_000
MOST_TABLES = 256
SCHEMA = Schema(
    NestedField(1, "id", LongType()), NestedField(2, "part", StringType()), NestedField(3, "value", LongType())
)
ARROW = pa.schema([("id", pa.int64()), ("part", pa.string()), ("value", pa.int64())])
SPECS = {"flat": (), "part": (("part", IdentityTransform()),), "id": (("id", TruncateTransform(WIDTH)),)}
CHEAP = {"write.parquet.compression-codec": "uncompressed"}


@dataclass(frozen=True)
class Prepared:
    """A table on storage with the initial rows of a history.

    Attributes:
        root: The warehouse.
        pointers: The metadata location of every table.
        files: The files in the directory of the table.
        head: The id of the last snapshot of main.
        staged: The id of the staged snapshot; None without staged rows.
        snapshots: The ids of all snapshots.
    """

    root: str
    pointers: dict[tuple[tuple[str, ...], str], str]
    files: frozenset[str]
    head: int
    staged: int | None
    snapshots: frozenset[int]

    @property
    def directory(self) -> str:
        """The directory of the table."""
        return f"{self.root}/{NAMESPACE}/t"

    def restore(self) -> None:
        """Delete all files that were added; prepare the table again next time if one of its own was deleted."""
        found = files_below(self.root)
        for path in found - self.files:
            Path(path).unlink()
        if not self.files <= found:
            _discard(self)


_prepared: OrderedDict[object, Prepared] = OrderedDict()


def prepared(history: History) -> Prepared:
    """Return the initial table of a history."""
    parts = history.layout, history.initial, history.deleted, history.branches, history.staged, history.others
    key = (*parts, history.is_created_partitioned, str(history.properties))
    found = _prepared.get(key)
    if found is None:
        found = _prepared[key] = _prepare(history)
        if len(_prepared) > MOST_TABLES:
            _, oldest = _prepared.popitem(last=False)
            shutil.rmtree(oldest.root, ignore_errors=True)
    _prepared.move_to_end(key)
    return found


def forget_prepared() -> None:
    """Delete all prepared tables."""
    while _prepared:
        _, oldest = _prepared.popitem()
        shutil.rmtree(oldest.root, ignore_errors=True)


atexit.register(forget_prepared)


def arrow(rows: Rows) -> pa.Table:
    """Return rows as an Arrow table."""
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, ARROW, strict=True)], schema=ARROW)


def files_below(root: str) -> frozenset[str]:
    """Return the paths of all files below a directory."""
    found = []
    for directory, _, names in os.walk(root):
        found += [f"{directory}/{name}" for name in names]
    return frozenset(found)


def _discard(broken: Prepared) -> None:
    for key in [key for key, found in _prepared.items() if found is broken]:
        del _prepared[key]
    shutil.rmtree(broken.root, ignore_errors=True)


def _prepare(history: History) -> Prepared:
    # Tables are small and short-lived: a memory disk saves the cost of syncing them.
    disk = "/dev/shm" if Path("/dev/shm").is_dir() else None
    root = tempfile.mkdtemp(prefix="icefloe-", dir=disk)
    catalog = InMemoryCatalog("prepared", warehouse=root)
    catalog.environment = _environment()
    catalog.create_namespace(NAMESPACE)
    spec = history.layout.value[0] if history.is_created_partitioned else "flat"
    properties = {**CHEAP, **history.properties}
    table = catalog.create_table(NAME, SCHEMA, partition_spec=new_spec(spec), properties=properties)
    initial = list(history.initial)
    for name in history.layout.value:
        if name != spec:
            change_spec(table, name)
            spec = name
        table.append(arrow(initial.pop(0) if initial else ()))
    for rows in initial:
        table.append(arrow(rows))
    delete_initial_rows(table, history)
    head = table.current_snapshot().snapshot_id
    for branch in history.branches:
        table.manage_snapshots().create_branch(head, branch).commit()
    staged = None
    if history.staged:
        table.append(arrow(history.staged), branch=None)
        staged = next(snapshot.snapshot_id for snapshot in reversed(table.snapshots()))
    for name in history.others:
        catalog.create_table(f"{NAMESPACE}.{name}", SCHEMA, properties=CHEAP).append(arrow(OTHER_ROWS))
    names = (NAME, *(f"{NAMESPACE}.{name}" for name in history.others))
    return Prepared(
        root=root,
        pointers={((NAMESPACE,), name.partition(".")[2]): catalog.load_table(name).metadata_location for name in names},
        files=files_below(root),
        head=head,
        staged=staged,
        snapshots=frozenset(snapshot.snapshot_id for snapshot in table.snapshots()),
    )


def delete_initial_rows(table: Table, history: History) -> None:
    """Delete rows of the initial snapshots: each id in a commit of its own, by position and by equality in turn."""
    parts = sorted({row.part for rows in history.initial for row in rows}, key=str)
    for number, row_id in enumerate(history.deleted):
        if number % 2 == 0 or len(history.layout.value) > 1:
            table.delete(f"id = {row_id}")
        else:
            delete_keys(table, [Row(row_id, part, 0) for part in parts], branch=MAIN, snapshot_properties={})


def delete_keys(target: Any, keys: Sequence[Row], **options: Any) -> None:
    """Delete ids in parts of a table, or in a transaction, by equality deletes."""
    with target.target(**options) as written:
        change = RowDelta(written.transaction, options["branch"], options["snapshot_properties"])
        change.add_deletes(written.writer.equality_deletes(arrow(tuple(keys)), [1])).commit()


def new_spec(name: str) -> PartitionSpec:
    """Return one of `SPECS` for a new table."""
    return PartitionSpec(
        *(
            PartitionField(SCHEMA.find_field(source).field_id, 1000, transform, f"{source}_{name}")
            for source, transform in SPECS[name]
        )
    )


def change_spec(table: Table, name: str) -> None:
    """Replace the partition spec by one of `SPECS`."""
    with table.update_spec() as update:
        for field in table.spec().fields if hasattr(table, "spec") else table.table_metadata.spec().fields:
            update.remove_field(field.name)
        for source, transform in SPECS[name]:
            update.add_field(source, transform)


def _environment() -> Environment:
    draws, times = Random("prepared"), itertools.count(START_MS)
    return Environment(
        now_ms=lambda: next(times),
        uniform=draws.uniform,
        new_uuid=lambda: str(UUID(int=draws.getrandbits(128), version=4)),
        new_snapshot_id=lambda: draws.getrandbits(62) + 1,
    )
