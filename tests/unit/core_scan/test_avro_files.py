"""Avro data and delete files, read as Parquet's are."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, MissingFileError, SchemaMismatchError

from tests.unit.core_scan.avro_tables import (
    LOCAL_MICROS,
    MICROS,
    avro_deletes,
    avro_field,
    avro_task,
    optional,
    write_avro,
)
from tests.unit.scan_tables import (
    FILE,
    ID,
    NAME,
    POS,
    context,
    field,
    leaf,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)

KEYS = [avro_field(1, "id", "long"), avro_field(2, "name", optional("string"))]


def numbers(path: Path, count: int = 1_000, **options: object) -> str:
    rows = [{"id": i, "name": None if i % 7 == 0 else f"n{i}"} for i in range(count)]
    return write_avro(path, KEYS, rows, **options)


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2"])
@pytest.mark.parametrize("string_views", [False, True])
def test_rows_come_out_in_file_order(tmp_path, codec, string_views):
    location = numbers(tmp_path / "a.avro", codec=codec, sync_interval=500)
    found = read([avro_task(location, 1_000)], schema(ID, NAME), string_views=string_views, batch_size=64)
    assert found["id"].to_pylist() == list(range(1_000))
    assert found["name"][:9].to_pylist() == [None, "n1", "n2", "n3", "n4", "n5", "n6", None, "n8"]
    assert found.schema.field("name").type == (pa.string_view() if string_views else pa.string())


def test_columns_are_found_by_id_renamed_reordered_added_and_promoted(tmp_path):
    fields = [
        avro_field(9, "gone", {"type": "array", "items": "string", "element-id": 10}),
        avro_field(3, "x", "int"),
        avro_field(4, "y", optional("float", null_first=False)),
        avro_field(5, "d", optional({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2})),
    ]
    rows = [
        {"gone": ["a", "b"], "x": 1, "y": 0.5, "d": Decimal("1.25")},
        {"gone": [], "x": -2, "y": None, "d": None},
    ]
    location = write_avro(tmp_path / "a.avro", fields, rows)
    added = {**field(7, "added", "string"), "initial-default": "old"}
    current = schema(
        field(5, "price", "decimal(20, 2)"),
        added,
        field(4, "ratio", "double"),
        field(8, "new", "int"),
        field(3, "total", "long"),
    )
    assert read([avro_task(location, 2)], current).to_pylist() == [
        {"price": Decimal("1.25"), "added": "old", "ratio": 0.5, "new": None, "total": 1},
        {"price": None, "added": "old", "ratio": None, "new": None, "total": -2},
    ]


def test_every_type_is_read(tmp_path):
    fixed = {"type": "fixed", "name": "fixed_3", "size": 3}
    uuid = {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}
    small = {"type": "fixed", "name": "decimal_9_2", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}
    written = {
        "boolean": ("boolean", True, True),
        "date": ({"type": "int", "logicalType": "date"}, -1, date(1969, 12, 31)),
        "time": ({"type": "long", "logicalType": "time-micros"}, 3_600_000_001, time(1, 0, 0, 1)),
        "timestamp": (LOCAL_MICROS, -1, datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        "timestamptz": (MICROS, 10**15, datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)),
        "string": ("string", "é", "é"),
        "uuid": (uuid, bytes(range(16)), bytes(range(16))),
        "fixed[3]": (fixed, b"abc", b"abc"),
        "binary": ("bytes", b"\xff\x00", b"\xff\x00"),
        "decimal(9, 2)": (small, (-12_345).to_bytes(4, "big", signed=True), Decimal("-123.45")),
        "float": ("float", 0.5, 0.5),
    }
    fields, values, types, expected = [], {}, [], {}
    for number, (kind, (avro_type, value, meant)) in enumerate(written.items(), 1):
        # The writer below would convert a logical type itself, so it is shown the plain one.
        fields.append(avro_field(number, f"c{number}", avro_type))
        values[f"c{number}"] = value
        types.append(field(number, f"c{number}", kind))
        expected[f"c{number}"] = meant
    location = write_avro(tmp_path / "a.avro", fields, [values])
    assert read([avro_task(location, 1)], schema(*types)).to_pylist() == [expected]


def test_types_of_other_writers_are_read(tmp_path):
    fields = [
        avro_field(1, "kind", {"type": "enum", "name": "kind", "symbols": ["red", "green"]}),
        avro_field(2, "at", {"type": "long", "logicalType": "timestamp-millis"}),
        avro_field(3, "local", {"type": "long", "logicalType": "local-timestamp-micros"}),
        avro_field(4, "of_day", {"type": "int", "logicalType": "time-millis"}),
        avro_field(5, "nothing", "null"),
    ]
    rows = [{"kind": "green", "at": 5, "local": 7, "of_day": 9, "nothing": None}]
    location = write_avro(tmp_path / "a.avro", fields, rows)
    current = schema(
        field(1, "kind", "string"),
        field(2, "at", "timestamptz"),
        field(3, "local", "timestamp"),
        field(4, "of_day", "time"),
        field(5, "nothing", "int"),
    )
    found = read([avro_task(location, 1)], current)
    assert found["kind"].to_pylist() == ["green"]
    assert found["at"].cast(pa.int64()).to_pylist() == [5_000]
    assert found["local"].cast(pa.int64()).to_pylist() == [7]
    assert found["of_day"].cast(pa.int64()).to_pylist() == [9_000]
    assert found["nothing"].to_pylist() == [None]


NESTED = [
    avro_field(
        1,
        "s",
        optional(
            {
                "type": "record",
                "name": "r1",
                "fields": [avro_field(11, "x", optional("int")), avro_field(12, "y", "string")],
            }
        ),
    ),
    avro_field(
        2,
        "l",
        optional(
            {
                "type": "array",
                "element-id": 21,
                "items": optional(
                    {
                        "type": "record",
                        "name": "r21",
                        "fields": [avro_field(22, "p", "int"), avro_field(23, "q", "string")],
                    }
                ),
            }
        ),
    ),
    avro_field(3, "m", optional({"type": "map", "values": optional("int"), "key-id": 31, "value-id": 32})),
    avro_field(
        4,
        "n",
        optional(
            {
                "type": "array",
                "logicalType": "map",
                "items": {
                    "type": "record",
                    "name": "k41_v42",
                    "fields": [avro_field(41, "key", "int"), avro_field(42, "value", optional("long"))],
                },
            }
        ),
    ),
]
NESTED_ROWS = [
    {
        "s": {"x": 1, "y": "a"},
        "l": [{"p": 1, "q": "b"}, None],
        "m": {"k": 5, "j": None},
        "n": [{"key": 3, "value": None}, {"key": 1, "value": 2}],
    },
    {"s": None, "l": None, "m": None, "n": None},
    {"s": {"x": None, "y": "c"}, "l": [], "m": {}, "n": []},
]


def struct(*fields: dict[str, object]) -> dict[str, object]:
    return {"type": "struct", "fields": list(fields)}


def a_list(element_id: int, element: object) -> dict[str, object]:
    return {"type": "list", "element-id": element_id, "element": element, "element-required": False}


def a_map(key_id: int, key: object, value_id: int, value: object) -> dict[str, object]:
    ids = {"key-id": key_id, "value-id": value_id, "value-required": False}
    return {"type": "map", **ids, "key": key, "value": value}


def test_nested_columns_are_projected_and_promoted(tmp_path):
    location = write_avro(tmp_path / "a.avro", NESTED, NESTED_ROWS)
    current = schema(
        field(4, "n", a_map(41, "long", 42, "long")),
        field(2, "l", a_list(21, struct(field(24, "new", "int"), field(22, "p", "long")))),
        field(3, "m", a_map(31, "string", 32, "long")),
        field(1, "s", struct(field(12, "renamed", "string"))),
    )
    found = read([avro_task(location, 3)], current)
    assert found["n"].to_pylist() == [[(3, None), (1, 2)], None, []]
    assert found["l"].to_pylist() == [[{"new": None, "p": 1}, None], None, []]
    assert found["m"].to_pylist() == [[("k", 5), ("j", None)], None, []]
    assert found["s"].to_pylist() == [{"renamed": "a"}, None, {"renamed": "c"}]


def test_lists_and_maps_without_ids_of_their_parts_have_their_values(tmp_path):
    fields = [
        avro_field(1, "l", {"type": "array", "items": optional({"type": "array", "items": "int"})}),
        avro_field(2, "m", {"type": "map", "values": optional("long")}),
    ]
    rows = [{"l": [[1, 2], None], "m": {"k": 5, "j": None}}, {"l": [], "m": {}}]
    location = write_avro(tmp_path / "a.avro", fields, rows)
    current = schema(field(1, "l", a_list(3, a_list(4, "int"))), field(2, "m", a_map(5, "string", 6, "long")))
    found = read([avro_task(location, 2)], current)
    assert found["l"].to_pylist() == [row["l"] for row in rows]
    assert found["m"].to_pylist() == [[*row["m"].items()] for row in rows]


def test_files_without_ids_go_by_the_mapping_and_else_by_name(tmp_path):
    fields = [avro_field(None, "label", "string"), avro_field(None, "id", "int")]
    location = write_avro(tmp_path / "a.avro", fields, [{"label": "a", "id": 1}])
    mapping = [{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["name", "label"]}]
    mapped = context(schema(ID, NAME), **{"name-mapping": mapping})
    found = read([avro_task(location, 1)], schema(ID, NAME), scan_context=mapped)
    assert found.to_pylist() == [{"id": 1, "name": "a"}]
    assert read([avro_task(location, 1)], schema(ID, NAME)).to_pylist() == [{"id": 1, "name": None}]


def test_filters_and_positions_and_constants(tmp_path):
    location = numbers(tmp_path / "a.avro", sync_interval=500)
    residual = json.dumps(leaf("gt", "id", 990))
    current = schema(ID, NAME)
    found = read([avro_task(location, 1_000, residual=residual)], current, projection=schema(NAME, POS, FILE))
    assert found["_pos"].to_pylist() == list(range(991, 1_000))
    assert found["name"].to_pylist() == [None if i % 7 == 0 else f"n{i}" for i in range(991, 1_000)]
    assert set(found["_file"].to_pylist()) == {location}
    counted = read([avro_task(location, 1_000)], current, projection=schema(POS), batch_size=300)
    assert counted["_pos"].to_pylist() == list(range(1_000))
    assert read([avro_task(location, 1_000)], current, limit=5)["id"].to_pylist() == [0, 1, 2, 3, 4]


def test_parts_of_a_file_have_each_row_once(tmp_path):
    location = numbers(tmp_path / "a.avro", sync_interval=300)
    size = Path(location).stat().st_size
    for cuts in ([0, 500, 501, 2_000, size], [0, 1, size], [0, size - 1, size]):
        tasks = [avro_task(location, 1_000, start=start, length=end - start) for start, end in itertools.pairwise(cuts)]
        found = read(tasks, schema(ID, NAME), projection=schema(ID, POS))
        assert found["id"].to_pylist() == list(range(1_000))
        assert found["_pos"].to_pylist() == list(range(1_000))


POSITIONS = [avro_field(2147483546, "file_path", "string"), avro_field(2147483545, "pos", "long")]


def test_position_deletes_in_avro_apply_to_any_format(tmp_path):
    avro = numbers(tmp_path / "a.avro", 100, sync_interval=100)
    columns = {pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}): list(range(100))}
    parquet = write(tmp_path / "b.parquet", columns)
    rows = [{"file_path": path, "pos": pos} for path in (avro, parquet) for pos in (0, 50, 51, 99)]
    deletes = write_avro(tmp_path / "d.avro", POSITIONS, rows)
    more = position_deletes(tmp_path / "d.parquet", [(avro, 7)])
    tasks = [avro_task(avro, 100, deletes=[0, 1]), task(parquet, deletes=[0, 1])]
    found = read(tasks, schema(ID), deletes=[avro_deletes(deletes, 1, 8), more], projection=schema(ID, POS))
    left = [i for i in range(100) if i not in (0, 50, 51, 99)]
    assert found["id"].to_pylist() == [i for i in left if i != 7] + left
    assert found["_pos"].to_pylist() == found["id"].to_pylist()


def test_equality_deletes_in_avro(tmp_path):
    location = numbers(tmp_path / "a.avro", 20)
    by_name = [{"name": None}, {"name": "n3"}]
    by_name = write_avro(tmp_path / "d.avro", [avro_field(2, "name", optional("string"))], by_name)
    by_id = write_avro(tmp_path / "e.avro", [avro_field(1, "id", "int")], [{"id": 5}])
    deletes = [avro_deletes(by_name, 2, 2, [2]), avro_deletes(by_id, 2, 1, [1])]
    found = read([avro_task(location, 20, deletes=[0, 1])], schema(ID, NAME), projection=schema(ID), deletes=deletes)
    assert found["id"].to_pylist() == [i for i in range(20) if i not in (0, 3, 5, 7, 14)]
    residual = json.dumps(leaf("lt", "id", 6))
    tasks = [avro_task(location, 20, deletes=[0, 1], residual=residual)]
    assert read(tasks, schema(ID, NAME), deletes=deletes)["id"].to_pylist() == [1, 2, 4]


def test_row_count_that_metadata_does_not_know_is_refused(tmp_path):
    location = numbers(tmp_path / "a.avro", 20)
    for count in (19, 21):
        with pytest.raises(CorruptFileError, match=f"expected {count} rows by the table's metadata, got 20") as caught:
            list(stream([avro_task(location, count)], schema(ID, NAME)))
        assert location in str(caught.value)


@pytest.mark.parametrize("length", [3, 30, 200, -20, -1])
def test_file_cut_off_is_corrupt(tmp_path, length):
    location = numbers(tmp_path / "a.avro", sync_interval=500)
    whole = Path(location).read_bytes()
    Path(location).write_bytes(whole[:length])
    with pytest.raises(CorruptFileError, match=r"a\.avro"):
        list(stream([avro_task(location, 1_000)], schema(ID, NAME)))


@pytest.mark.parametrize("head", [b"PAR1", b"Obj\x01" + b"\x02\x06key\x80\x80\x80\x80\x80\x80\x02"])
def test_file_that_is_no_avro_is_not_read_as_a_whole(tmp_path, head):
    path = tmp_path / "a.avro"
    with path.open("wb") as out:
        out.write(head)
        out.truncate(1 << 40)
    with pytest.raises(CorruptFileError, match=r"a\.avro.*Avro header"):
        list(stream([avro_task(str(path), 1)], schema(ID)))


def test_damaged_bytes_are_corrupt_and_say_where(tmp_path):
    location = numbers(tmp_path / "a.avro", codec="null")
    whole = bytearray(Path(location).read_bytes())
    at = whole.index(b"n500")
    whole[at - 1] = 0xFF
    Path(location).write_bytes(whole)
    with pytest.raises(CorruptFileError, match=r"a\.avro.*byte"):
        list(stream([avro_task(location, 1_000)], schema(ID, NAME)))


def test_row_without_bytes_may_be_claimed_only_as_often_as_it_is_there(tmp_path):
    huge = write_avro(tmp_path / "b.avro", [avro_field(1, "id", "null")], [{"id": None}], codec="null")
    whole = Path(huge).read_bytes()
    # One record of no bytes becomes 2**42 of them.
    Path(huge).write_bytes(whole[:-18] + b"\x80\x80\x80\x80\x80\x80\x02" + whole[-17:])
    for count in (1, -1):
        with pytest.raises(CorruptFileError):
            list(stream([avro_task(huge, count)], schema(ID)))


def test_unreadable_file_is_an_error_with_its_reason(tmp_path):
    union = write_avro(tmp_path / "u.avro", [avro_field(1, "id", ["null", "long", "string"])], [{"id": 5}])
    with pytest.raises(SchemaMismatchError, match="id"):
        list(stream([avro_task(union, 1)], schema(field(1, "id", struct(field(2, "x", "int"))))))
    with pytest.raises(FeatureUnsupportedError, match="union"):
        list(stream([avro_task(union, 1)], schema(ID)))
    text = write_avro(tmp_path / "t.avro", [avro_field(1, "id", "string")], [{"id": "5"}])
    with pytest.raises(SchemaMismatchError, match="expected long"):
        list(stream([avro_task(text, 1)], schema(ID)))
    with pytest.raises(MissingFileError):
        list(stream([avro_task(str(tmp_path / "none.avro"), 1)], schema(ID)))
    with pytest.raises(CorruptFileError, match="required column id"):
        list(stream([avro_task(union, 1)], schema({**field(5, "id", "long"), "required": True})))


@pytest.mark.parametrize("field_type", ["enum", "null struct"])
def test_batches_are_bounded_by_decoded_bytes(tmp_path, field_type):
    """A byte of the file may stand for a long symbol, or for the nulls of many columns."""
    if field_type == "enum":
        symbol, count = "s" * 40_000, 2_000
        kind, wanted, value = {"type": "enum", "name": "e", "symbols": [symbol]}, "string", symbol
    else:
        count, ids = 20_000, range(10, 410)
        inner = [avro_field(one, f"n{one}", optional("long")) for one in ids]
        kind = optional({"type": "record", "name": "i", "fields": inner})
        wanted = {"type": "struct", "fields": [field(one, f"n{one}", "long") for one in ids]}
        value = None
    location = write_avro(tmp_path / "a.avro", [avro_field(1, "x", kind)], [{"x": value}] * count)
    batches = pa.RecordBatchReader.from_stream(
        stream([avro_task(location, count)], schema(field(1, "x", wanted)), batch_size=131_072)
    )
    rows = 0
    for batch in batches:
        assert batch.nbytes < 20 << 20
        assert set(batch["x"].to_pylist()) == {value} if value else batch["x"].null_count == batch.num_rows
        rows += batch.num_rows
    assert rows == count
