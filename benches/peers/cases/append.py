"""Appending two million rows that belong to a thousand partitions, in no order."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from peers.case import Case, Work

ROWS = 2_000_000
PARTITIONS = 1_000


def rows() -> pa.Table:
    random = np.random.default_rng(7)
    return pa.table(
        {
            "part": pa.array(random.integers(0, PARTITIONS, ROWS), pa.int32()),
            "id": pa.array(np.arange(ROWS), pa.int64()),
            "amount": pa.array(random.normal(size=ROWS), pa.float64()),
            "label": pa.array([f"label-{value:04}" for value in random.integers(0, 5_000, ROWS)]),
        }
    )


def prepare(data: Path) -> None:
    data.mkdir(parents=True, exist_ok=True)
    for folder in data.glob("append-*"):
        shutil.rmtree(folder)


def appending(data: Path, name: str, append: Callable[[Path], None]) -> Work:
    """Return work that appends to a new directory each time.

    The directories are removed in the end, not between rounds: for minutes after 2,000 files and directories were deleted, ext4
    searches 0.2 ms for the inode of each new one.
    """
    folders: list[Path] = []

    def work() -> int:
        folders.append(Path(tempfile.mkdtemp(prefix=f"append-{name}-", dir=data)))
        append(folders[-1])
        return ROWS

    def outcome() -> int:
        count = sum(pq.read_metadata(path).num_rows for path in folders[-1].rglob("*.parquet"))
        for folder in folders:
            shutil.rmtree(folder)
        return count

    work.outcome = outcome
    return work


def icefloe(data: Path) -> Work:
    from icefloe.catalog import load_catalog
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.transforms import IdentityTransform

    source = rows()

    def append(folder: Path) -> None:
        catalog = load_catalog("append", type="hadoop", warehouse=str(folder))
        catalog.create_namespace("db")
        spec = PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=IdentityTransform(), name="part"))
        table = catalog.create_table("db.t", schema=source.schema, partition_spec=spec)
        table.append(source)

    return appending(data, "icefloe", append)


def pyiceberg(data: Path) -> Work:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DoubleType, IntegerType, LongType, NestedField, StringType

    source = rows()
    types = (IntegerType(), LongType(), DoubleType(), StringType())
    schema = Schema(
        *(
            NestedField(n, name, kind, required=False)
            for n, (name, kind) in enumerate(zip(source.schema.names, types, strict=True), start=1)
        )
    )

    def append(folder: Path) -> None:
        catalog = SqlCatalog(uuid.uuid4().hex, uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
        catalog.create_namespace("db")
        spec = PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=IdentityTransform(), name="part"))
        catalog.create_table("db.t", schema=schema, partition_spec=spec).append(source)

    return appending(data, "pyiceberg", append)


def polars_parquet(data: Path) -> Work:
    import polars as pl

    source = pl.DataFrame(rows())
    return appending(data, "polars", lambda folder: source.write_parquet(folder, partition_by="part"))


CASES = [
    Case(
        name="partitioned_append",
        what="append 2M shuffled rows to 1,000 partitions, commit included",
        prepare=prepare,
        contenders={
            "icefloe append": icefloe,
            "pyiceberg append": pyiceberg,
            "polars write_parquet, no table": polars_parquet,
        },
        floors=frozenset({"polars write_parquet, no table"}),
    )
]
