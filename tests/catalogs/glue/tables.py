"""Rows and schemas of the tables of Glue tests, their stored entries and their files."""

import itertools

import pyarrow as pa
from icefloe.schema import Schema
from icefloe.types import LongType, NestedField, StringType, StructType, TimestamptzType

ROWS = pa.table({"id": [1, 2, 3]})
PLAIN = pa.schema([("id", pa.int64())])
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="the key"),
    NestedField(2, "at", TimestamptzType()),
    NestedField(3, "place", StructType(NestedField(4, "city", StringType()))),
)
NUMBERS = itertools.count()


def entry_of(catalog, table):
    return catalog.glue.get_table(DatabaseName=table[0], Name=table[1])["Table"]


def files(table):
    return set(table.io.core.list(f"{table.location()}/").column("location").to_pylist())
