"""Metadata with changed values: loading returns a table or raises an error of icefloe."""

import copy
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import IcebergError
from icefloe.table.metadata import TableMetadataUtil

SCHEMA = pa.schema([("id", pa.int64()), ("tags", pa.list_(pa.struct([("name", pa.string())])))])
ODD = [None, True, 0, -1, 1, 2**31, 2**63, 10**30, 1.5, "", "x", "1", "main", "fixed[-1]", "decimal(99, 2)"]
ODD += ["bucket[0]", "\0", [], {}, [None], [[]], [0], {"a": 1}]


def places(value, path=()):
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def mutated(value, path, chance):
    changed = copy.deepcopy(value)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    if chance.random() < 0.2:
        del holder[path[-1]]
    else:
        holder[path[-1]] = copy.deepcopy(chance.choice(ODD))
    return changed


@pytest.fixture
def metadata(shared_catalog):
    table = shared_catalog.create_table("db.t", SCHEMA)
    for name in ("a", "b"):
        table.append(pa.Table.from_pylist([{"id": 1, "tags": [{"name": name}]}], schema=SCHEMA))
    return json.loads(Path(table.metadata_location).read_bytes())


def test_mutated_metadata_is_read_or_is_an_error(metadata):
    chance = random.Random(17)
    errors = 0
    for path in places(metadata):
        for _ in range(3):
            text = json.dumps(mutated(metadata, path, chance))
            try:
                found = TableMetadataUtil.parse_raw(text)
                found.schema(), found.spec(), found.sort_order(), found.current_snapshot()
            except IcebergError:
                errors += 1
    assert errors > 100


def test_deeply_nested_metadata_is_an_error():
    for text in ("[" * 100_000, '{"x":' * 100_000, '{"format-version":2,"x":' + "[" * 100_000 + "]" * 100_000 + "}"):
        with pytest.raises(IcebergError, match="recursion limit exceeded at line 1"):
            TableMetadataUtil.parse_raw(text)
