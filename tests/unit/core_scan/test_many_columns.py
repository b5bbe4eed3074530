"""Rows of many columns, which are decoded some columns at a time: with deletes, filters, limits, nested columns."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tests.unit.scan_tables import (
    ID,
    POS,
    arrow_field,
    delete_file,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    task,
    write,
)

ROWS = 5_000
NUMBERS = [field(n, f"c{n}", "long") for n in range(2, 20)]
TEXTS = [field(n, f"t{n}", "string") for n in range(20, 30)]
PAIR = field(30, "pair", {"type": "struct", "fields": [field(31, "a", "long"), field(32, "b", "string")]})
WIDE = schema(ID, *NUMBERS, PAIR, *TEXTS)


def row(n):
    numbers = {f"c{c}": n * c if n % c else None for c in range(2, 20)}
    texts = {f"t{c}": f"{n % c}-" * (n % 9) if n % 7 else None for c in range(20, 30)}
    return {"id": n, **numbers, "pair": {"a": n, "b": str(n)} if n % 5 else None, **texts}


@pytest.fixture(scope="module")
def rows():
    return [row(n) for n in range(ROWS)]


@pytest.fixture(scope="module")
def location(tmp_path_factory, rows):
    pair = pa.struct([arrow_field(31, "a", pa.int64()), arrow_field(32, "b", pa.string())])
    kinds = {"long": pa.int64(), "string": pa.string()}
    fields = [arrow_field(1, "id", pa.int64()), *(arrow_field(f["id"], f["name"], kinds[f["type"]]) for f in NUMBERS)]
    fields += [arrow_field(30, "pair", pair), *(arrow_field(f["id"], f["name"], pa.string()) for f in TEXTS)]
    columns = {f: [row[f.name] for row in rows] for f in fields}
    path = tmp_path_factory.mktemp("wide") / "wide.parquet"
    return write(path, columns, row_group_size=3_500, data_page_size=1_000, compression="zstd")


@pytest.mark.parametrize("batch_size", [1, 100, 65536])
@pytest.mark.parametrize("views", [False, True])
def test_columns_stay_side_by_side(location, rows, batch_size, views):
    found = read([task(location)], WIDE, batch_size=batch_size, string_views=views)
    assert found.to_pylist() == rows


@pytest.mark.parametrize("gone", [range(0, ROWS, 3), range(1_000, 4_200), [0, ROWS - 1]])
def test_deleted_positions(location, rows, tmp_path, gone):
    deletes = [position_deletes(tmp_path / "p.parquet", [(location, position) for position in gone])]
    found = read([task(location, deletes=[0])], WIDE, deletes=deletes)
    gone = set(gone)
    assert found.to_pylist() == [row for row in rows if row["id"] not in gone]


@pytest.mark.parametrize(
    ("residual", "kept"),
    [
        (leaf("lt", "c3", 300), lambda row: row["c3"] is not None and row["c3"] < 300),
        (leaf("gt-eq", "id", 4_000), lambda row: row["id"] >= 4_000),
        (leaf("eq", "t25", "3-3-3-"), lambda row: row["t25"] == "3-3-3-"),
        (leaf("lt", "id", -1), lambda row: False),
    ],
)
@pytest.mark.parametrize("limit", [None, 1, 50])
def test_filters_beside_deletes_and_limits(location, rows, tmp_path, residual, kept, limit):
    keys = delete_file(write(tmp_path / "keys.parquet", {arrow_field(1, "id", pa.int64()): [4, 44, 4_444]}), 2, 3, [1])
    deletes = [position_deletes(tmp_path / "p.parquet", [(location, 4_100)]), keys]
    files = [task(location, deletes=[0, 1], residual=json.dumps(residual))]
    found = read(files, WIDE, deletes=deletes, limit=limit)
    expected = [row for row in rows if kept(row) and row["id"] not in {4, 44, 4_100, 4_444}]
    assert found.to_pylist() == expected[:limit]


def test_positions_beside_them(location, rows):
    wanted = schema(*WIDE["fields"], POS)
    found = read([task(location)], WIDE, projection=wanted).to_pylist()
    assert found == [{**row, "_pos": row["id"]} for row in rows]
