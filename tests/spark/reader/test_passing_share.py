"""The share of rows that pass a filter, from a sample."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.spark.reader.passing_share import passing_share

ROWS = 30_000


@pytest.fixture(scope="module")
def sampled(catalog):
    schema = pa.schema([("id", pa.int64()), ("n", pa.int64()), ("s", pa.string())])
    table = catalog.create_table("db.sampled", schema)
    for start in range(0, 6 * ROWS, ROWS):
        ids = range(start, start + ROWS)
        columns = {"id": ids, "n": [one * 7919 % 1000 for one in ids], "s": [f"s{one % 10}" for one in ids]}
        table.append(pa.table({name: list(values) for name, values in columns.items()}, schema=schema))
    return table


def share(table, row_filter):
    return passing_share(table.scan(row_filter=row_filter, options={"split-size": str(2**62)}).plan())


@pytest.mark.parametrize(
    ("row_filter", "expected"), [("n < 100", 0.1), ("n < 500 and s = 's1'", 0.05), ("s <> 's3'", 0.9), ("n < 5", 0.005)]
)
def test_share_is_near_that_of_all_rows(sampled, row_filter, expected):
    assert sampled.scan(row_filter=row_filter).count() == pytest.approx(expected * 6 * ROWS)
    assert share(sampled, row_filter) == pytest.approx(expected, rel=0.2, abs=0.005)


def test_share_of_sorted_values_is_that_of_the_parts_sampled(sampled):
    assert share(sampled, f"id < {3 * ROWS}") == 1.0, "the files of other rows are pruned"
    assert share(sampled, f"id >= 0 and id < {3 * ROWS + ROWS // 2}") == pytest.approx(7 / 8)


@pytest.mark.parametrize(("row_filter", "expected"), [("true", 1.0), ("n is null", 1.0), ("n = 1000 or s = 'x'", 1.0)])
def test_all_rows_pass_a_plan_without_files(sampled, row_filter, expected):
    assert share(sampled, row_filter) == expected


def test_share_of_a_small_file_counts_each_row_once(catalog):
    table = catalog.create_table("db.small_sample", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2, 3]}))
    assert share(table, "id in (1, 3)") == pytest.approx(2 / 3)
