"""Deletes that are applied after decoding: beside limits, positions, filters, row groups that hold no key."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time

import pyarrow as pa
import pytest
from icefloe.exceptions import IcebergError

from tests.unit.scan_tables import (
    FILE,
    ID,
    NAME,
    POS,
    arrow_field,
    delete_file,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)


def keys_of(path, ids):
    return delete_file(write(path, {arrow_field(1, "id", pa.int64()): ids}), 2, len(ids), [1])


@pytest.fixture
def keys(tmp_path):
    """Keys 0 to 9 and 450 to 459, of two of the ten row groups, and one of none."""
    return keys_of(tmp_path / "keys.parquet", [*range(10), *range(450, 460), 5000])


# How long to wait, in seconds, for a thread that a busy machine may run late.
PATIENCE = 100
GONE = {*range(10), *range(450, 460)}
LEFT = [i for i in range(1000) if i not in GONE]


@pytest.mark.parametrize("limit", [1, 85, 95, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_limit_counts_the_rows_that_are_left(numbers, keys, limit, threads):
    table = read([task(numbers, deletes=[0])], schema(ID), deletes=[keys], limit=limit, threads=threads)
    assert table["id"].to_pylist() == LEFT[:limit]


@pytest.mark.parametrize("batch_size", [1, 7, 64, 100, 65536])
def test_positions_are_those_of_the_file_at_any_batch_size(numbers, keys, tmp_path, batch_size):
    scattered = position_deletes(tmp_path / "p.parquet", [(numbers, position) for position in range(0, 1000, 3)])
    table = read(
        [task(numbers, deletes=[0, 1])],
        schema(ID),
        deletes=[keys, scattered],
        projection=schema(POS, FILE),
        batch_size=batch_size,
    )
    assert table["_pos"].to_pylist() == [i for i in LEFT if i % 3 != 0]
    assert set(table["_file"].to_pylist()) == {numbers}


@pytest.mark.parametrize("runs", [1, 3, 100])
def test_keys_positions_and_a_filter_apply_together(numbers, keys, tmp_path, runs):
    gone = {position for position in range(1000) if position // runs % 2 == 0}
    positions = position_deletes(tmp_path / "p.parquet", [(numbers, position) for position in sorted(gone)])
    residual = json.dumps(leaf("lt", "id", 700))
    table = read(
        [task(numbers, deletes=[0, 1], residual=residual)],
        schema(ID, NAME),
        deletes=[keys, positions],
        projection=schema(NAME, POS),
    )
    expected = [i for i in LEFT if i < 700 and i not in gone]
    assert table["_pos"].to_pylist() == expected
    assert table["name"].to_pylist() == [None if i % 7 == 0 else f"n{i}" for i in expected]


def test_strings_come_as_asked_whether_their_row_group_has_keys_or_not(numbers, keys):
    for views, kind in ((False, pa.string()), (True, pa.string_view())):
        table = read(
            [task(numbers, deletes=[0])], schema(ID, NAME), deletes=[keys], projection=schema(NAME), string_views=views
        )
        assert table.schema.field("name").type == kind
        assert table["name"].to_pylist() == [None if i % 7 == 0 else f"n{i}" for i in LEFT]


def test_each_task_has_the_deletes_that_its_list_names(numbers, tmp_path):
    deletes = [keys_of(tmp_path / f"k{n}.parquet", [n, 7]) for n in range(3)]
    lists = [[0, 1, 2], [1], [2, 0], []]
    table = read([task(numbers, deletes=each) for each in lists], schema(ID), deletes=deletes)
    expected = [i for each in lists for i in range(1000) if i not in {*each, *([7] if each else [])}]
    assert table["id"].to_pylist() == expected


def test_partition_of_the_keys_changes_nothing(numbers, tmp_path):
    deletes = [keys_of(tmp_path / f"k{n}.parquet", [n]) | {"partition": f"[{n}]", "spec_id": n} for n in range(3)]
    table = read([task(numbers, deletes=[0, 2])], schema(ID), deletes=deletes)
    assert table["id"].to_pylist() == [i for i in range(1000) if i not in (0, 2)]


def test_key_inside_a_struct_is_null_where_the_struct_is(nested, tmp_path):
    inner = pa.struct([arrow_field(11, "x", pa.int32())])
    current = schema(field(1, "s", {"type": "struct", "fields": [field(11, "x", "long"), field(12, "y", "string")]}))
    for values, left in (([{"x": 1}], [None, {"y": "c"}]), ([{"x": None}], [{"y": "a"}]), ([None], [{"y": "a"}])):
        key = write(tmp_path / "e.parquet", {arrow_field(1, "s", inner): values})
        wanted = schema(field(1, "s", {"type": "struct", "fields": [field(12, "y", "string")]}))
        table = read([task(nested, deletes=[0])], current, deletes=[delete_file(key, 2, 1, [11])], projection=wanted)
        assert table["s"].to_pylist() == left


def test_keys_of_a_column_that_the_file_lacks_find_null(numbers, tmp_path):
    kind = field(3, "kind", "string")
    for values, count in (([None], 0), (["a"], 1000)):
        key = write(tmp_path / "e.parquet", {arrow_field(3, "kind", pa.string()): values})
        table = read([task(numbers, deletes=[0])], schema(ID, kind), deletes=[delete_file(key, 2, 1, [3])])
        assert table.num_rows == count


def test_nan_is_a_key_and_the_zeros_are_two(tmp_path):
    data = write(tmp_path / "d.parquet", {arrow_field(1, "x", pa.float64()): [float("nan"), 0.0, -0.0, 1.5, None]})
    key = write(tmp_path / "e.parquet", {arrow_field(1, "x", pa.float64()): [float("nan"), -0.0]})
    current = schema(field(1, "x", "double"))
    table = read([task(data, deletes=[0])], current, deletes=[delete_file(key, 2, 2, [1])])
    assert [str(value) for value in table["x"].to_pylist()] == ["0.0", "1.5", "None"]


def test_keys_of_a_large_file_and_of_many_small_ones_are_all_found(numbers, tmp_path):
    large = delete_file(
        write(
            tmp_path / "large.parquet", {arrow_field(1, "id", pa.int64()): range(500, 200_500)}, row_group_size=30_000
        ),
        2,
        200_000,
        [1],
    )
    small = [keys_of(tmp_path / f"{key}.parquet", [key]) for key in range(0, 500, 25)]
    tasks = [task(numbers, deletes=[0]), task(numbers, deletes=list(range(1, 21))), task(numbers, deletes=[3])]
    found = read(tasks, schema(ID), deletes=[large, *small], threads=3)["id"].to_pylist()
    assert found[:500] == list(range(500))
    assert found[500:1480] == [i for i in range(1000) if i >= 500 or i % 25 != 0]
    assert found[1480:] == [i for i in range(1000) if i != 50]


@pytest.mark.timeout(240)
def test_files_of_a_key_set_are_opened_at_once(numbers, tmp_path):
    pipes = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    for pipe in pipes:
        os.mkfifo(pipe)
    deletes = [delete_file(str(pipe), 2, 1, [1]) for pipe in pipes]
    scan = stream([task(numbers, deletes=[0, 1])], schema(ID), deletes=deletes, threads=2)

    def wait_for_writers() -> None:
        with contextlib.suppress(IcebergError):
            list(scan)

    reader = threading.Thread(target=wait_for_writers)
    reader.start()
    try:
        # The first file has no writer, so opening it waits. A pipe without a reader cannot be opened without waiting.
        os.close(opened(pipes[1]))
    finally:
        os.close(opened(pipes[0]))
        reader.join(PATIENCE)
    assert not reader.is_alive()


def opened(pipe) -> int:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.01)
    raise TimeoutError(pipe)
