"""Rows and Parquet files of the tests that add existing files to a table."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.types import DoubleType, LongType, NestedField, StringType, TimestampType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "at", TimestampType()),
    NestedField(3, "name", StringType()),
    NestedField(4, "value", DoubleType()),
)
MAPPING = "schema.name-mapping.default"


def micros(*texts):
    return pa.array([None if text is None else dt.datetime.fromisoformat(text) for text in texts], pa.timestamp("us"))


def rows(ids, **columns):
    plain = {"id": pa.array(ids, pa.int64()), "at": micros(*["2020-05-06T07:08:09"] * len(ids))}
    plain |= {"name": pa.array([f"name {n}" for n in ids]), "value": pa.array([n / 2 for n in ids])}
    return pa.table({**plain, **columns})


def write(location: Path, data: pa.Table, **options) -> str:
    location.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(data, location, **options)
    return str(location)


def with_ids(data: pa.Table, ids) -> pa.Table:
    fields = [field.with_metadata({"PARQUET:field_id": str(n)}) for field, n in zip(data.schema, ids, strict=True)]
    return data.cast(pa.schema(fields))


def partitioned(catalog, *fields):
    fields = [PartitionField(source, 1000 + n, transform, f"p{n}") for n, (source, transform) in enumerate(fields)]
    return catalog.create_table("db.p", SCHEMA, partition_spec=PartitionSpec(*fields))


def partitions(table):
    return [tuple(task.file.partition) for task in table.scan().plan_files()]


def ids(table, *filters):
    return sorted(table.scan(*filters).to_arrow().column("id").to_pylist())
