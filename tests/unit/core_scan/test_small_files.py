"""Files of few rows, whose columns are decoded in one go: the same rows as batch by batch, whatever compresses them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.core_scan.conftest import LIST, MAP, NESTED
from tests.unit.scan_tables import (
    FILE,
    ID,
    POS,
    arrow_field,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)

TEXT = st.none() | st.text(max_size=30)
INT = st.none() | st.integers(-(2**31), 2**31 - 1)
PAIR = st.none() | st.fixed_dictionaries({"x": INT, "y": TEXT})
VALUE = st.none() | st.fixed_dictionaries({"v": INT, "w": INT})
COLUMNS = {
    arrow_field(50, "n", pa.int32()): INT,
    arrow_field(51, "t", pa.string()): TEXT,
    arrow_field(52, "f", pa.float64()): st.none() | st.floats(allow_nan=False),
    arrow_field(53, "o", pa.bool_()): st.none() | st.booleans(),
    arrow_field(1, "s", NESTED): PAIR,
    arrow_field(2, "l", LIST): st.none() | st.lists(PAIR, max_size=4),
    arrow_field(3, "m", MAP): st.none() | st.lists(st.tuples(st.text(max_size=4), VALUE), max_size=3),
}
STRUCT = {"type": "struct", "fields": [field(11, "x", "int"), field(12, "y", "string")]}
ELEMENT = {"type": "struct", "fields": [field(41, "x", "int"), field(42, "y", "string")]}
ITEM = {"type": "struct", "fields": [field(33, "v", "int"), field(34, "w", "int")]}
COLUMNS_READ = (
    *(
        field(50 + n, name, kind)
        for n, (name, kind) in enumerate(zip("ntfo", ("int", "string", "double", "boolean"), strict=True))
    ),
    field(1, "s", STRUCT),
    field(2, "l", {"type": "list", "element-id": 21, "element": ELEMENT, "element-required": False}),
    field(
        3,
        "m",
        {"type": "map", "key-id": 31, "key": "string", "value-id": 32, "value": ITEM, "value-required": False},
    ),
)
TABLE, PROJECTION = schema(*COLUMNS_READ), schema(*COLUMNS_READ, POS)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(*COLUMNS.values()), max_size=40),
    compression=st.sampled_from(["zstd", "snappy", "gzip", "lz4", "brotli", "none"]),
    version=st.sampled_from(["1.0", "2.0"]),
    row_group_size=st.sampled_from([5, 1_000]),
    dictionaries=st.booleans(),
)
def test_rows_come_out_as_they_do_batch_by_batch(tmp_path, rows, compression, version, row_group_size, dictionaries):
    columns = {column: [row[n] for row in rows] for n, column in enumerate(COLUMNS)}
    location = write(
        tmp_path / "rows.parquet",
        columns,
        compression=compression,
        data_page_version=version,
        row_group_size=row_group_size,
        use_dictionary=dictionaries,
        data_page_size=100,
    )
    found = read([task(location)], TABLE, projection=PROJECTION).to_pylist()
    assert found == read([task(location)], TABLE, projection=PROJECTION, batch_size=3).to_pylist()
    assert found == [
        {**dict(zip((c.name for c in COLUMNS), row, strict=True)), "_pos": n} for n, row in enumerate(rows)
    ]


@pytest.fixture
def many(tmp_path):
    """100 files of 8 rows: ids 0..799."""
    ids = arrow_field(1, "id", pa.int64())
    return [
        write(tmp_path / f"{n}.parquet", {ids: list(range(8 * n, 8 * n + 8))}, compression="zstd") for n in range(100)
    ]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_of_many_files_come_in_order_and_know_their_file(many, threads):
    tasks = [task(location) for location in many]
    found = read(tasks, schema(ID), projection=schema(ID, FILE, POS), threads=threads)
    assert found["id"].to_pylist() == list(range(800))
    assert found["_file"].to_pylist() == [location for location in many for _ in range(8)]
    assert found["_pos"].to_pylist() == list(range(8)) * 100


def test_filters_deletes_and_limits_apply_file_by_file(many, tmp_path):
    deletes = position_deletes(tmp_path / "deletes.parquet", [(many[3], 2), (many[3], 7), (many[99], 0)])
    residual = leaf("lt", "id", 797)
    tasks = [
        task(location, residual=json.dumps(residual) if n in (50, 99) else None, deletes=[0])
        for n, location in enumerate(many)
    ]
    expected = [n for n in range(797) if n not in (26, 31, 792)]
    assert read(tasks, schema(ID), deletes=[deletes])["id"].to_pylist() == expected
    assert read(tasks, schema(ID), deletes=[deletes], limit=29)["id"].to_pylist() == expected[:29]


@pytest.mark.parametrize("broken", [0, 37, 99])
def test_rows_before_a_broken_file_come_and_the_error_names_it(many, broken):
    reader = pa.RecordBatchReader.from_stream(stream([task(location) for location in many], schema(ID)))
    Path(many[broken]).write_bytes(Path(many[broken]).read_bytes()[:-20])
    found = []
    with pytest.raises(pa.ArrowInvalid, match=f"/{broken}.parquet"):
        found.extend(number for batch in reader for number in batch["id"].to_pylist())
    assert found == list(range(8 * broken))
