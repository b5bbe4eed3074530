"""Arrays without values whose offsets are not defined, as Spark sends those within lists and maps that have no elements."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.core_write.write_cases import field, schema_of, write

NO_BYTES = pa.py_buffer(b"\xf5" * 64).slice(8, 0)
TEXTS = pa.Array.from_buffers(pa.string(), 0, [None, NO_BYTES, NO_BYTES])
ENTRIES = pa.StructArray.from_arrays(
    [TEXTS, pa.array([], pa.int32())],
    fields=[pa.field("key", pa.string(), nullable=False), pa.field("value", pa.int32())],
)
MAPS = pa.Array.from_buffers(pa.map_(pa.string(), pa.int32()), 0, [None, NO_BYTES], children=[ENTRIES])
LISTS = pa.Array.from_buffers(pa.list_(pa.string()), 0, [None, NO_BYTES], children=[TEXTS])
PAIRS = {"type": "map", "key-id": 5, "key": "string", "value-id": 6, "value-required": False, "value": "int"}
NAMES = {"type": "list", "element-id": 5, "element": "string", "element-required": False}


def lists_without(values, validity=None):
    """Two lists without elements, null where the bits of `validity` are 0."""
    offsets = pa.py_buffer(pa.array([0, 0, 0], pa.int32()).buffers()[1])
    present = None if validity is None else pa.py_buffer(bytes([validity]))
    return pa.Array.from_buffers(pa.list_(values.type), 2, [present, offsets], children=[values])


def list_of(element):
    return {"type": "list", "element-id": 4, "element": element, "element-required": False}


@pytest.mark.parametrize(
    ("values", "element"), [(MAPS, PAIRS), (LISTS, NAMES), (TEXTS, "string")], ids=["map", "list", "text"]
)
@pytest.mark.parametrize("validity", [None, 0b01, 0b00])
def test_lists_without_elements_are_written(tmp_path, values, element, validity):
    column = lists_without(values, validity)
    (written,) = write(tmp_path, pa.table({"x": column}), schema_of(field(1, "x", list_of(element))))
    expected = [[] if validity is None or validity >> row & 1 else None for row in range(2)]
    assert pq.ParquetFile(written["file_path"]).read()["x"].to_pylist() == expected


@pytest.mark.parametrize(
    ("values", "element"), [(MAPS, PAIRS), (LISTS, NAMES), (TEXTS, "string")], ids=["map", "list", "text"]
)
def test_lists_without_elements_below_null_structs_are_written(tmp_path, values, element):
    structs = pa.StructArray.from_arrays([lists_without(values)], ["l"], mask=pa.array([True, False]))
    inner = {"type": "struct", "fields": [field(2, "l", list_of(element))]}
    (written,) = write(tmp_path, pa.table({"x": structs}), schema_of(field(1, "x", inner)))
    assert pq.ParquetFile(written["file_path"]).read()["x"].to_pylist() == [None, {"l": []}]


@pytest.mark.parametrize(
    ("values", "type_"), [(MAPS, PAIRS), (LISTS, NAMES), (TEXTS, "string")], ids=["map", "list", "text"]
)
def test_batches_without_rows_are_written(tmp_path, values, type_):
    batches = [pa.record_batch([values], ["x"]), pa.record_batch([pa.nulls(1, values.type)], ["x"])]
    (written,) = write(tmp_path, pa.Table.from_batches(batches), schema_of(field(1, "x", type_)))
    assert pq.ParquetFile(written["file_path"]).read()["x"].to_pylist() == [None]
