"""A table of small files, its content, and the options that rewrite it."""

import pyarrow as pa
import pytest

MERGE_ON_READ = {"write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read"}
FEW = {"min_input_files": 2}


@pytest.fixture
def small_files(catalog, rows):
    """Return a function that creates a table of ten files with three rows each, ids 0 to 29."""

    def make(spec=None, properties=None):
        table = catalog.create_table(
            "db.small", rows().schema, **({} if spec is None else {"partition_spec": spec}), properties=properties or {}
        )
        for start in range(0, 30, 3):
            table.append(rows(*((number, "abc"[number % 3], number / 2) for number in range(start, start + 3))))
        return table

    return make


def ids(table):
    return table.scan().to_arrow().column("id").to_pylist()


def files(table):
    return table.inspect.files().filter(pa.compute.field("content") == 0).num_rows
