"""ORC data and delete files, read as Parquet's are, and scans that mix formats."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, MissingFileError, SchemaMismatchError
from pyarrow import orc

from tests.unit.core_scan.avro_tables import avro_field, avro_task, write_avro
from tests.unit.scan_tables import (
    FILE,
    ID,
    NAME,
    POS,
    arrow_field,
    context,
    field,
    leaf,
    read,
    schema,
    stream,
    task,
    write,
)

pytestmark = pytest.mark.recent_pyarrow


def orc_field(field_id: int | None, name: str, kind: pa.DataType, **attributes: str) -> pa.Field:
    """A field as writers of Iceberg tables have it; without an id if `None`."""
    ids = {} if field_id is None else {"iceberg.id": str(field_id)}
    return pa.field(name, kind, metadata={**ids, **{f"iceberg.{key}": value for key, value in attributes.items()}})


def write_orc(path: Path, columns: dict[pa.Field, list[object]], **options: object) -> str:
    arrays = [pa.array(values, f.type) for f, values in columns.items()]
    orc.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(list(columns))), str(path), **options)
    return str(path)


def orc_task(location: str, rows: int, **overrides: object) -> dict[str, object]:
    return task(location, **{"file_format": "ORC", "record_count": rows, **overrides})


def orc_deletes(location: str, content: int, rows: int, equality_ids: list[int] | None = None) -> dict[str, object]:
    return {
        "content": content,
        "file_path": location,
        "file_format": "ORC",
        "spec_id": 0,
        "partition": "[]",
        "record_count": rows,
        "equality_ids": equality_ids,
    }


def numbers(path: Path, count: int = 20_000, **options: object) -> str:
    columns = {
        orc_field(1, "id", pa.int64()): list(range(count)),
        orc_field(2, "name", pa.string()): [None if i % 7 == 0 else f"n{i}" for i in range(count)],
    }
    return write_orc(path, columns, **options)


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("string_views", [False, True])
def test_rows_of_all_stripes_come_out_in_file_order(tmp_path, compression, string_views):
    location = numbers(tmp_path / "a.orc", compression=compression, stripe_size=1_024, batch_size=1_000)
    assert orc.ORCFile(location).nstripes > 1
    found = stream([orc_task(location, 20_000)], schema(ID, NAME), string_views=string_views, batch_size=640)
    batches = list(found)
    assert max(batch.num_rows for batch in batches) <= 640
    table = pa.Table.from_batches(batches)
    assert table["id"].to_pylist() == list(range(20_000))
    assert table["name"][:3].to_pylist() == [None, "n1", "n2"]
    assert table.schema.field("name").type == (pa.string_view() if string_views else pa.string())


def test_columns_are_found_by_id_renamed_reordered_added_and_promoted(tmp_path):
    columns = {
        orc_field(9, "gone", pa.list_(orc_field(10, "item", pa.string()))): [["a"], []],
        orc_field(3, "x", pa.int32()): [1, -2],
        orc_field(4, "y", pa.float32()): [0.5, None],
        orc_field(5, "d", pa.decimal128(4, 2)): [Decimal("1.25"), None],
        orc_field(6, "tiny", pa.int8()): [1, None],
    }
    location = write_orc(tmp_path / "a.orc", columns)
    added = {**field(7, "added", "string"), "initial-default": "old"}
    current = schema(
        field(5, "price", "decimal(20, 2)"),
        added,
        field(4, "ratio", "double"),
        field(8, "new", "int"),
        field(3, "total", "long"),
        field(6, "tiny", "int"),
    )
    assert read([orc_task(location, 2)], current).to_pylist() == [
        {"price": Decimal("1.25"), "added": "old", "ratio": 0.5, "new": None, "total": 1, "tiny": 1},
        {"price": None, "added": "old", "ratio": None, "new": None, "total": -2, "tiny": None},
    ]


def test_attributes_tell_the_types_that_orc_lacks(tmp_path):
    columns = {
        orc_field(1, "u", pa.binary(), **{"binary-type": "UUID"}): [bytes(range(16)), None],
        orc_field(2, "f", pa.binary(), **{"binary-type": "FIXED", "length": "3"}): [b"abc", None],
        orc_field(3, "t", pa.int64(), **{"long-type": "TIME"}): [3_600_000_001, None],
        orc_field(4, "local", pa.timestamp("ns")): [-1_000, None],
        orc_field(5, "at", pa.timestamp("ns", "UTC")): [10**18, None],
    }
    location = write_orc(tmp_path / "a.orc", columns)
    current = schema(
        field(1, "u", "uuid"),
        field(2, "f", "fixed[3]"),
        field(3, "t", "time"),
        field(4, "local", "timestamp"),
        field(5, "at", "timestamptz"),
    )
    found = read([orc_task(location, 2)], current)
    assert found.slice(0, 1).drop(["local"]).to_pylist() == [
        {"u": bytes(range(16)), "f": b"abc", "t": time(1, 0, 0, 1), "at": datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)}
    ]
    assert found["at"].type == pa.timestamp("us", "UTC")
    assert found.slice(1).to_pylist() == [dict.fromkeys(("u", "f", "t", "local", "at"))]


def test_nested_columns_are_projected_and_promoted(tmp_path):
    element = pa.struct([orc_field(22, "p", pa.int32()), orc_field(23, "q", pa.string())])
    columns = {
        orc_field(1, "s", pa.struct([orc_field(11, "x", pa.int32()), orc_field(12, "y", pa.string())])): [
            {"x": 1, "y": "a"},
            None,
            {"x": None, "y": "c"},
        ],
        orc_field(2, "l", pa.list_(orc_field(21, "item", element))): [[{"p": 1, "q": "b"}, None], None, []],
        orc_field(
            3,
            "m",
            pa.map_(
                pa.field("key", pa.string(), nullable=False, metadata={"iceberg.id": "31"}),
                orc_field(32, "value", pa.int32()),
            ),
        ): [[("k", 5), ("j", None)], None, []],
    }
    location = write_orc(tmp_path / "a.orc", columns)
    elements = {"type": "struct", "fields": [field(24, "new", "int"), field(22, "p", "long")]}
    a_list = {"type": "list", "element-id": 21, "element": elements, "element-required": False}
    a_map = {"type": "map", "key-id": 31, "key": "string", "value-id": 32, "value": "long", "value-required": False}
    a_struct = {"type": "struct", "fields": [field(12, "renamed", "string")]}
    current = schema(field(3, "m", a_map), field(2, "l", a_list), field(1, "s", a_struct))
    for batch_size in (1, 100):
        found = read([orc_task(location, 3)], current, batch_size=batch_size)
        assert found["m"].to_pylist() == [[("k", 5), ("j", None)], None, []]
        assert found["l"].to_pylist() == [[{"new": None, "p": 1}, None], None, []]
        assert found["s"].to_pylist() == [{"renamed": "a"}, None, {"renamed": "c"}]


def test_names_with_dots(tmp_path):
    columns = {
        orc_field(1, "s.x", pa.int32()): [1],
        orc_field(2, "s", pa.struct([orc_field(3, "x", pa.int32())])): [{"x": 2}],
    }
    location = write_orc(tmp_path / "a.orc", columns)
    assert read([orc_task(location, 1)], schema(field(1, "dotted", "int"))).to_pylist() == [{"dotted": 1}]


def test_files_without_ids_go_by_the_mapping_and_else_by_name(tmp_path):
    columns = {orc_field(None, "label", pa.string()): ["a"], orc_field(None, "id", pa.int32()): [1]}
    location = write_orc(tmp_path / "a.orc", columns)
    mapping = [{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["name", "label"]}]
    mapped = context(schema(ID, NAME), **{"name-mapping": mapping})
    found = read([orc_task(location, 1)], schema(ID, NAME), scan_context=mapped)
    assert found.to_pylist() == [{"id": 1, "name": "a"}]
    assert read([orc_task(location, 1)], schema(ID, NAME)).to_pylist() == [{"id": 1, "name": None}]


def test_filters_and_positions_and_constants(tmp_path):
    location = numbers(tmp_path / "a.orc", stripe_size=1_024, batch_size=1_000)
    residual = json.dumps(leaf("gt", "id", 19_990))
    found = read([orc_task(location, 20_000, residual=residual)], schema(ID, NAME), projection=schema(NAME, POS, FILE))
    assert found["_pos"].to_pylist() == list(range(19_991, 20_000))
    assert set(found["_file"].to_pylist()) == {location}
    counted = read([orc_task(location, 20_000)], schema(ID), projection=schema(POS), batch_size=3_000)
    assert counted["_pos"].to_pylist() == list(range(20_000))
    assert read([orc_task(location, 20_000)], schema(ID), limit=5)["id"].to_pylist() == [0, 1, 2, 3, 4]
    size = Path(location).stat().st_size
    parts = [orc_task(location, 20_000, start=start, length=size // 2 + 1) for start in (0, size // 2 + 1)]
    assert read(parts, schema(ID))["id"].to_pylist() == list(range(20_000))


def test_one_scan_reads_and_deletes_in_every_format(tmp_path):
    orc_file = numbers(tmp_path / "a.orc", 100)
    avro = write_avro(tmp_path / "b.avro", [avro_field(1, "id", "long")], [{"id": i} for i in range(100)])
    parquet = write(tmp_path / "c.parquet", {arrow_field(1, "id", pa.int64()): list(range(100))})
    rows = [(path, pos) for path in (orc_file, avro, parquet) for pos in (0, 50, 99)]
    positions = {
        orc_field(2147483546, "file_path", pa.string()): [path for path, _ in rows],
        orc_field(2147483545, "pos", pa.int64()): [pos for _, pos in rows],
    }
    positions = orc_deletes(write_orc(tmp_path / "d.orc", positions), 1, len(rows))
    keys = write_orc(tmp_path / "e.orc", {orc_field(1, "id", pa.int32()): [7, None]})
    tasks = [
        orc_task(orc_file, 100, deletes=[0, 1]),
        avro_task(avro, 100, deletes=[0, 1]),
        task(parquet, deletes=[0, 1]),
    ]
    deletes = [positions, orc_deletes(keys, 2, 2, [1])]
    found = read(tasks, schema(ID), projection=schema(ID, POS), deletes=deletes, threads=3)
    assert found["id"].to_pylist() == [i for i in range(100) if i not in (0, 7, 50, 99)] * 3
    assert found["_pos"].to_pylist() == found["id"].to_pylist()


def test_row_count_that_metadata_does_not_know_is_refused(tmp_path):
    location = numbers(tmp_path / "a.orc", 20)
    with pytest.raises(CorruptFileError, match=r"a\.orc.*expected 21 rows by the table's metadata, got 20"):
        list(stream([orc_task(location, 21)], schema(ID)))


@pytest.mark.parametrize("length", [0, 3, 200, -1])
def test_file_cut_off_is_corrupt(tmp_path, length):
    location = numbers(tmp_path / "a.orc")
    Path(location).write_bytes(Path(location).read_bytes()[:length])
    with pytest.raises(CorruptFileError, match=r"a\.orc"):
        list(stream([orc_task(location, 20_000)], schema(ID, NAME)))


@pytest.mark.parametrize("name", [b"outer", b"inner"])
def test_names_that_are_no_text_are_corrupt(tmp_path, name):
    inner = pa.list_(pa.field("item", pa.struct([orc_field(3, "inner", pa.int32())]), metadata={"iceberg.id": "2"}))
    location = write_orc(tmp_path / "a.orc", {orc_field(1, "outer", inner): [None]}, compression="uncompressed")
    whole = Path(location).read_bytes()
    Path(location).write_bytes(whole.replace(name, b"\xff" * len(name)))
    with pytest.raises(CorruptFileError, match=r"a\.orc.*utf-8"):
        list(stream([orc_task(location, 1)], schema(ID)))


@pytest.mark.parametrize("compression", ["uncompressed", "zlib"])
def test_damaged_bytes_are_corrupt(tmp_path, compression):
    location = numbers(tmp_path / "a.orc", compression=compression)
    whole = bytearray(Path(location).read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 100] = b"\xff" * 100
    Path(location).write_bytes(whole)
    with pytest.raises(CorruptFileError, match=r"a\.orc"):
        list(stream([orc_task(location, 20_000)], schema(NAME)))


def test_unreadable_file_is_an_error_with_its_reason(tmp_path):
    text = write_orc(tmp_path / "t.orc", {orc_field(1, "id", pa.string()): ["5"]})
    with pytest.raises(SchemaMismatchError, match="expected long"):
        list(stream([orc_task(text, 1)], schema(ID)))
    with pytest.raises(MissingFileError):
        list(stream([orc_task(str(tmp_path / "none.orc"), 1)], schema(ID)))
    far = Path(__file__).parents[2] / "golden" / "formats" / "far.orc"
    with pytest.raises(FeatureUnsupportedError, match=r"far\.orc.*(nanosecond|pyarrow)"):
        list(stream([orc_task(str(far), 1)], schema(field(2, "at", "timestamptz"))))
    assert read([orc_task(str(far), 1)], schema(field(1, "id", "int"))).to_pylist() == [{"id": 1}]


def test_consumers_that_hold_the_interpreter_do_not_wait_for_ever(tmp_path):
    polars = pytest.importorskip("polars")
    location = numbers(tmp_path / "a.orc", stripe_size=1_024, batch_size=1_000)
    assert polars.DataFrame(stream([orc_task(location, 20_000)], schema(ID, NAME))).shape == (20_000, 2)


@pytest.mark.parametrize("year", [1, 1676, 2263, 9999])
def test_orc_timestamps_beyond_nanoseconds_are_refused_and_other_columns_are_read(tmp_path, year):
    columns = {
        orc_field(1, "id", pa.int64()): [1, 2],
        orc_field(2, "t", pa.timestamp("us")): [datetime(year, 1, 1)] * 2,
    }
    location = write_orc(tmp_path / "a.orc", columns)
    current = schema(ID, field(2, "t", "timestamp"))
    message = r"a\.orc.*timestamps outside the years 1677 to 2262.*rewrite the file as Parquet or Avro"
    with pytest.raises(FeatureUnsupportedError, match=message):
        list(stream([orc_task(location, 2)], current))
    residual = json.dumps(leaf("gt", "id", 1))
    tasks = [orc_task(location, 2, residual=residual)]
    assert read(tasks, current, projection=schema(ID))["id"].to_pylist() == [2]
