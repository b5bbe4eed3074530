"""Rows from Spark as data files have them."""

from __future__ import annotations

import json
import uuid

import pyarrow as pa
from icefloe.spark.types.stored_types import to_stored_types

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"id": 1, "name": "Id", "required": False, "type": "long"},
            {"id": 2, "name": "key", "required": False, "type": "uuid"},
            {"id": 3, "name": "KEY", "required": False, "type": "string"},
        ],
    }
)
KEY = uuid.UUID(int=9)


def test_stored_types_match_columns_ignoring_case():
    batch = pa.record_batch({"ID": pa.array([1], pa.int32()), "key": [str(KEY)]})
    rows = to_stored_types(batch, iter([batch]), SCHEMA).read_all()
    assert rows.schema == pa.schema([("Id", pa.int64()), ("key", pa.binary(16))])
    assert rows.to_pydict() == {"Id": [1, 1], "key": [KEY.bytes, KEY.bytes]}


def test_stored_types_prefer_columns_of_the_exact_name():
    rows = to_stored_types(pa.record_batch({"KEY": ["a"], "key": [str(KEY)]}), iter(()), SCHEMA).read_all()
    assert rows.to_pydict() == {"KEY": ["a"], "key": [KEY.bytes]}


def test_stored_types_name_fields_of_structs_by_name_in_their_order():
    inner = {
        "type": "struct",
        "fields": [{"id": n, "name": name, "required": False, "type": "long"} for n, name in enumerate("aAb", 2)],
    }
    schema = json.dumps({"type": "struct", "fields": [{"id": 1, "name": "s", "required": False, "type": inner}]})
    batch = pa.record_batch({"S": pa.array([{"B": 1, "A": 2, "a": 3}, None])})
    rows = to_stored_types(batch, iter(()), schema).read_all()
    assert rows.to_pydict() == {"s": [{"b": 1, "A": 2, "a": 3}, None]}
