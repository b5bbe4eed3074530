"""Appending two million rows that belong to a thousand partitions, in no order."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import numpy as np
import pyarrow as pa

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


def icefloe(data: Path) -> Work:
    from icefloe.catalog import load_catalog
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.transforms import IdentityTransform

    source, folder = rows(), data / "append-icefloe"

    def work() -> int:
        shutil.rmtree(folder, ignore_errors=True)
        catalog = load_catalog("append", type="hadoop", warehouse=str(folder))
        catalog.create_namespace("db")
        spec = PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=IdentityTransform(), name="part"))
        table = catalog.create_table("db.t", schema=source.schema, partition_spec=spec)
        table.append(source)
        return source.num_rows

    return work


def pyiceberg(data: Path) -> Work:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DoubleType, IntegerType, LongType, NestedField, StringType

    source, folder = rows(), data / "append-pyiceberg"
    types = (IntegerType(), LongType(), DoubleType(), StringType())
    schema = Schema(
        *(
            NestedField(n, name, kind, required=False)
            for n, (name, kind) in enumerate(zip(source.schema.names, types, strict=True), start=1)
        )
    )

    def work() -> int:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        catalog = SqlCatalog(uuid.uuid4().hex, uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
        catalog.create_namespace("db")
        spec = PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=IdentityTransform(), name="part"))
        catalog.create_table("db.t", schema=schema, partition_spec=spec).append(source)
        return source.num_rows

    return work


def polars_parquet(data: Path) -> Work:
    import polars as pl

    source, folder = pl.DataFrame(rows()), data / "append-polars"

    def work() -> int:
        shutil.rmtree(folder, ignore_errors=True)
        source.write_parquet(folder, partition_by="part", mkdir=True)
        return source.height

    return work


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
