"""Dynamic overwrites over evolved specs, as PyIceberg and DuckDB read what is left."""

import duckdb
import duckdb_extensions
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from pyiceberg.table import StaticTable

pytestmark = pytest.mark.interop

ROWS = pa.table({"id": [1, 2, 3, 4, 5], "part": ["a", "b", "a", None, "b"]})
SPECS = {
    "unpartitioned to identity": ([], [("part", "identity")], {1, 3}),
    "identity to bucket": ([("part", "identity")], [("id", "bucket[2]")], None),
    "identity to truncate": ([("part", "identity")], [("id", "truncate[3]")], {1, 2}),
    "two fields to one": ([("id", "bucket[2]"), ("part", "identity")], [("part", "identity")], {1, 3}),
    "identity to unpartitioned": ([("part", "identity")], [], {1, 2, 3, 4, 5}),
}


@pytest.fixture
def catalog():
    with load_catalog("scratch", type="memory") as made:
        made.create_namespace("db")
        yield made


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        for name in ("avro", "iceberg"):
            duckdb_extensions.import_extension(name, con=made)
            made.load_extension(name)
        yield made


@pytest.mark.parametrize("name", SPECS)
def test_other_readers_find_what_a_partition_overwrite_leaves(catalog, connection, name):
    old, new, replaced = SPECS[name]
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64()), ("part", pa.string())]))
    for terms in (old, new):
        with table.update_spec() as update:
            for field in table.spec().fields:
                update.remove_field(field.name)
            for number, (source, transform) in enumerate(terms):
                update.add_field(source, transform, f"{source}_{number}_{len(table.specs())}")
        if terms is old:
            table.append(ROWS)
    if replaced is None:
        from pyiceberg.transforms import BucketTransform
        from pyiceberg.types import LongType

        bucket = BucketTransform(2).transform(LongType())
        replaced = {key for key in range(1, 6) if bucket(key) == bucket(1)}
        row = {"id": [1], "part": ["new"]}
    else:
        row = {"id": [1], "part": ["a"]}
    table.dynamic_partition_overwrite(pa.table(row))
    expected = sorted({1, 2, 3, 4, 5} - replaced | {1})
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == expected
    pyiceberg = StaticTable.from_metadata(table.metadata_location).scan().to_arrow()
    assert sorted(pyiceberg.column("id").to_pylist()) == expected
    found = connection.execute(f"SELECT id FROM iceberg_scan('{table.metadata_location}') ORDER BY id").fetchall()
    assert [key for (key,) in found] == expected
