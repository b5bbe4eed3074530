"""Rows, schema and stored entries of the tables of Hive tests."""

import itertools

import pyarrow as pa
from icefloe.catalog.hive import calls
from icefloe.catalog.hive.structs import GetTableRequest
from icefloe.schema import Schema
from icefloe.types import (
    DecimalType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
    UUIDType,
)

ROWS = pa.table({"id": [1, 2, 3]})
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="the key"),
    NestedField(2, "at", TimestamptzType()),
    NestedField(3, "tags", MapType(4, StringType(), 5, ListType(6, DecimalType(9, 2)))),
    NestedField(7, "place", StructType(NestedField(8, "city", StringType()), NestedField(9, "code", UUIDType()))),
)
NUMBERS = itertools.count()
FAST = {"iceberg.hive.lock-check-min-wait-ms": "5"}


def entry_of(catalog, table):
    metastore = catalog._metastore
    with metastore.session() as session:
        return session.call(calls.GET_TABLE, GetTableRequest(dbName=table[0], tblName=table[1])).table
