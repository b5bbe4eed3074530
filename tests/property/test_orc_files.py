"""Random schemas and rows through ORC files: rows and counts as written."""

from __future__ import annotations

import datetime as dt
import itertools
from random import Random
from typing import Any

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.schema import Schema, assign_fresh_type_ids
from icefloe.types import NestedField, StructType

from tests.exact_rows import exact
from tests.property.random_schema import named, random_type, random_value

TABLES = 12


def held(value: Any) -> Any:
    """Return a value with timestamps that ORC readers can represent."""
    if isinstance(value, dt.datetime):
        value = value.replace(year=2262, month=1) if value.year == 9999 else value
        return value.replace(microsecond=0) if value.year < 1970 else value
    if isinstance(value, dict):
        return {key: held(each) for key, each in value.items()}
    if isinstance(value, list):
        return [held(each) for each in value]
    return tuple(held(each) for each in value) if isinstance(value, tuple) else value


def test_random_rows_are_read_back_from_orc():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        for seed in range(TABLES):
            rng, ids = Random(f"orc {seed}"), itertools.count(100)
            fields = [
                NestedField(n, f"c {n}", assign_fresh_type_ids(random_type(rng), lambda ids=ids: next(ids)))
                for n in range(1, rng.randint(2, 6))
            ]
            properties = {
                "write.format.default": "orc",
                "write.orc.stripe-size-bytes": rng.choice(["1", "1000", "67108864"]),
                "write.orc.vectorized.batch-size": rng.choice(["1", "7", "1024"]),
            }
            table = catalog.create_table(f"db.t{seed}", Schema(*fields), properties=properties)
            struct = StructType(*table.schema().fields)
            rows = [
                held(named(random_value(rng, struct, required=True), struct)) for _ in range(rng.choice([1, 9, 300]))
            ]
            written = pa.Table.from_pylist(rows, schema=table.schema().as_arrow())
            table.append(written)
            assert exact(table.scan().to_arrow()) == exact(written), table.schema()
