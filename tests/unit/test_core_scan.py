"""Reading scan tasks: projection by field id, promotion, filters, deletes, splits, streams."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import (
    CorruptFileError,
    FeatureUnsupportedError,
    MissingFileError,
    SchemaMismatchError,
    ValidationError,
)

from tests.unit.scan_tables import (
    FILE,
    POS,
    SPEC_ID,
    arrow_field,
    context,
    delete_file,
    field,
    position_deletes,
    read,
    schema,
    stream,
    task,
    write,
)

ID = field(1, "id", "long")
NAME = field(2, "name", "string")


@pytest.fixture
def numbers(tmp_path):
    """1,000 rows in 10 row groups: id 0..999, name n<id>, every seventh name null."""
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(1000)),
        arrow_field(2, "name", pa.string()): [None if i % 7 == 0 else f"n{i}" for i in range(1000)],
    }
    return write(tmp_path / "numbers.parquet", columns, row_group_size=100)


def leaf(kind: str, term: str, value: object) -> dict[str, object]:
    return {"type": kind, "term": term, "value": value}


# Columns


def test_columns_are_found_by_id_whatever_their_name_and_order(numbers):
    wanted = schema(field(2, "label", "string"), field(1, "key", "long"))
    table = read([task(numbers)], wanted)
    assert table.column_names == ["label", "key"]
    assert table["key"].to_pylist() == list(range(1000))
    assert table["label"][1].as_py() == "n1"


def test_an_added_column_is_null_and_a_dropped_one_is_not_read(numbers):
    table = read([task(numbers)], schema(ID, field(9, "extra", "decimal(9, 2)")))
    assert table.schema.field("extra").type == pa.decimal128(9, 2)
    assert table["extra"].null_count == 1000


def test_an_absent_required_column_is_a_corrupt_file(numbers):
    with pytest.raises(CorruptFileError, match=r"numbers\.parquet.*required column extra"):
        list(stream([task(numbers)], schema(field(9, "extra", "long", required=True))))


def test_promoted_types_are_widened(tmp_path):
    columns = {
        arrow_field(1, "i", pa.int32()): [1, None, -(2**31)],
        arrow_field(2, "f", pa.float32()): [1.5, None, float("inf")],
        arrow_field(3, "d", pa.decimal128(5, 2)): [Decimal("1.25"), None, Decimal("-999.99")],
    }
    wanted = schema(field(1, "i", "long"), field(2, "f", "double"), field(3, "d", "decimal(20, 2)"))
    table = read([task(write(tmp_path / "a.parquet", columns))], wanted)
    assert table.schema.types == [pa.int64(), pa.float64(), pa.decimal128(20, 2)]
    assert table.to_pylist()[2] == {"i": -(2**31), "f": float("inf"), "d": Decimal("-999.99")}


def test_a_type_that_cannot_become_the_tables_names_file_and_column(numbers):
    with pytest.raises(SchemaMismatchError, match=r"numbers\.parquet.*column name"):
        list(stream([task(numbers)], schema(field(2, "name", "int"))))


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_timestamps_of_any_unit_are_micros(tmp_path, unit):
    values = [dt.datetime(1969, 12, 31, 23, 59, 59, 999000), None]
    path = write(tmp_path / "a.parquet", {arrow_field(1, "t", pa.timestamp(unit)): values}, version="2.6")
    table = read([task(path)], schema(field(1, "t", "timestamp")))
    assert table.schema.field("t").type == pa.timestamp("us")
    assert table["t"].to_pylist() == values


def test_int96_is_read_beyond_the_range_of_nanoseconds(tmp_path):
    value = dt.datetime(2300, 1, 1, 12, 30)
    column = {arrow_field(1, "t", pa.timestamp("us")): [value]}
    path = write(tmp_path / "a.parquet", column, use_deprecated_int96_timestamps=True)
    table = read([task(path)], schema(field(1, "t", "timestamptz")))
    assert table.schema.field("t").type == pa.timestamp("us", tz="UTC")
    if value.year < 2262:  # pyarrow itself writes the date wrong beyond it
        assert table["t"].to_pylist() == [value.replace(tzinfo=dt.timezone.utc)]


def test_every_primitive_type_comes_back(tmp_path):
    rows = {
        "boolean": (pa.bool_(), [True, None]),
        "int": (pa.int32(), [1, None]),
        "long": (pa.int64(), [1, None]),
        "float": (pa.float32(), [0.5, None]),
        "double": (pa.float64(), [0.5, None]),
        "decimal(38, 10)": (pa.decimal128(38, 10), [Decimal("1.5000000000"), None]),
        "date": (pa.date32(), [dt.date(1969, 1, 1), None]),
        "time": (pa.time64("us"), [dt.time(1, 2, 3), None]),
        "timestamp": (pa.timestamp("us"), [dt.datetime(2020, 1, 1), None]),
        "timestamptz": (pa.timestamp("us", tz="UTC"), [dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc), None]),
        "string": (pa.string(), ["é☃😀", None]),
        "uuid": (pa.binary(16), [b"0123456789abcdef", None]),
        "fixed[3]": (pa.binary(3), [b"abc", None]),
        "binary": (pa.binary(), [b"\xff\x00", None]),
    }
    columns = {arrow_field(i, f"c{i}", kind): values for i, (kind, values) in enumerate(rows.values(), 1)}
    wanted = schema(*(field(i, f"c{i}", name) for i, name in enumerate(rows, 1)))
    table = read([task(write(tmp_path / "a.parquet", columns))], wanted)
    for i, (kind, values) in enumerate(rows.values(), 1):
        assert table.schema.field(f"c{i}").type == kind
        assert table[f"c{i}"].to_pylist() == values


NESTED = pa.struct([arrow_field(11, "x", pa.int32()), arrow_field(12, "y", pa.string())])
ELEMENT = pa.struct([arrow_field(41, "x", pa.int32()), arrow_field(42, "y", pa.string())])
LIST = pa.list_(arrow_field(21, "element", ELEMENT))
MAP = pa.map_(
    arrow_field(31, "key", pa.string(), nullable=False),
    arrow_field(32, "value", pa.struct([arrow_field(33, "v", pa.int32()), arrow_field(34, "w", pa.int32())])),
)


@pytest.fixture
def nested(tmp_path):
    columns = {
        arrow_field(1, "s", NESTED): [{"x": 1, "y": "a"}, None, {"x": None, "y": "c"}],
        arrow_field(2, "l", LIST): [[{"x": 1, "y": "p"}, None], [], None],
        arrow_field(3, "m", MAP): [[("k", {"v": 1, "w": 2})], None, []],
    }
    return write(tmp_path / "nested.parquet", columns)


def test_nested_fields_are_renamed_promoted_added_and_dropped(nested):
    struct = {"type": "struct", "fields": [field(12, "why", "string"), field(19, "new", "int"), field(11, "x", "long")]}
    element = {"type": "struct", "fields": [field(41, "ex", "long")]}
    entry = {"type": "struct", "fields": [field(34, "double-u", "long")]}
    wanted = schema(
        field(
            3,
            "m",
            {"type": "map", "key-id": 31, "key": "string", "value-id": 32, "value": entry, "value-required": False},
        ),
        field(1, "s", struct),
        field(2, "l", {"type": "list", "element-id": 21, "element": element, "element-required": False}),
    )
    rows = read([task(nested)], wanted).to_pylist()
    assert rows[0] == {
        "m": [("k", {"double-u": 2})],
        "s": {"why": "a", "new": None, "x": 1},
        "l": [{"ex": 1}, None],
    }
    assert rows[1] == {"m": None, "s": None, "l": []}
    assert rows[2] == {"m": [], "s": {"why": "c", "new": None, "x": None}, "l": None}


def test_a_struct_of_which_only_new_fields_are_wanted_keeps_its_nulls(nested):
    wanted = schema(field(1, "s", {"type": "struct", "fields": [field(19, "new", "int")]}))
    assert read([task(nested)], wanted)["s"].to_pylist() == [{"new": None}, None, {"new": None}]


def test_without_ids_columns_are_taken_by_position(tmp_path):
    path = write(tmp_path / "a.parquet", {pa.field("a", pa.int32()): [1], pa.field("b", pa.string()): ["x"]})
    assert read([task(path)], schema(field(2, "second", "string"))).to_pylist() == [{"second": "x"}]


def test_without_ids_a_name_mapping_decides(tmp_path):
    path = write(tmp_path / "a.parquet", {pa.field("b", pa.string()): ["x"], pa.field("a", pa.int32()): [1]})
    current = schema(field(1, "id", "long"), field(2, "name", "string"), field(3, "c", "int"))
    mapping = [{"field-id": 1, "names": ["id", "a"]}, {"field-id": 2, "names": ["b"]}]
    table = read([task(path)], current, scan_context=context(current, **{"name-mapping": mapping}))
    assert table.to_pylist() == [{"id": 1, "name": "x", "c": None}]


def test_an_identity_partition_fills_a_column_that_the_file_lacks(numbers):
    current = schema(ID, field(7, "day", "date"), field(8, "n", "int"))
    spec = {
        "spec-id": 3,
        "fields": [
            {"source-id": 7, "field-id": 1000, "name": "day", "transform": "identity"},
            {"source-id": 8, "field-id": 1001, "name": "n_bucket", "transform": "bucket[4]"},
        ],
    }
    tasks = [task(numbers, spec_id=3, partition='["2020-02-29", 1]', residual=json.dumps(leaf("lt", "id", 2)))]
    table = read(tasks, current, scan_context=context(current, specs=[spec]))
    assert table.to_pylist()[0] == {"id": 0, "day": dt.date(2020, 2, 29), "n": None}


def test_metadata_columns_survive_pruning_and_filters(numbers):
    residual = json.dumps(leaf("gt-eq", "id", 895))
    table = read([task(numbers, residual=residual)], schema(ID, NAME), projection=schema(POS, FILE, SPEC_ID, ID))
    assert table["_pos"].to_pylist() == table["id"].to_pylist() == list(range(895, 1000))
    assert set(table["_file"].to_pylist()) == {numbers}
    assert set(table["_spec_id"].to_pylist()) == {0}


def test_metadata_columns_alone_locate_the_rows_that_are_left(numbers, tmp_path):
    deletes = [position_deletes(tmp_path / "d.parquet", [(numbers, 7)])]
    residual = json.dumps(leaf("lt", "id", 10))
    table = read(
        [task(numbers, residual=residual, deletes=[0])], schema(ID), deletes=deletes, projection=schema(FILE, POS)
    )
    assert table.to_pylist() == [{"_file": numbers, "_pos": i} for i in range(10) if i != 7]


@pytest.mark.parametrize("column", [(2147483644, "_deleted", "boolean"), (2147483642, "_partition", "string")])
def test_other_metadata_columns_are_refused_by_name(numbers, column):
    with pytest.raises(FeatureUnsupportedError, match=column[1]):
        stream([task(numbers)], schema(ID), projection=schema(ID, field(*column)))


# Filters


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (leaf("lt", "id", 3), [0, 1, 2]),
        (leaf("eq", "name", "n500"), [500]),
        ({"type": "in", "term": "id", "values": [5, 950, 5000]}, [5, 950]),
        ({"type": "and", "left": leaf("gt", "id", 990), "right": {"type": "is-null", "term": "name"}}, [994]),
        ({"type": "not", "child": leaf("lt", "id", 998)}, [998, 999]),
        (leaf("starts-with", "name", "n99"), [99, 990, 991, 992, 993, 995, 996, 997, 998, 999]),
        (leaf("gt", "id", 5000), []),
    ],
    ids=lambda value: None if isinstance(value, list) else value["type"],
)
def test_the_residual_filters_rows(numbers, predicate, expected):
    table = read([task(numbers, residual=json.dumps(predicate))], schema(ID, NAME), projection=schema(ID))
    assert table["id"].to_pylist() == expected


def test_a_filter_on_a_struct_field_sees_null_parents_as_null(nested):
    current = schema(field(1, "s", {"type": "struct", "fields": [field(11, "x", "long"), field(12, "y", "string")]}))
    tasks = [task(nested, residual=json.dumps({"type": "is-null", "term": "s.x"}))]
    assert read(tasks, current).to_pylist() == [{"s": None}, {"s": {"x": None, "y": "c"}}]


def test_not_equal_keeps_nulls(numbers):
    residual = json.dumps({"type": "and", "left": leaf("not-eq", "name", "n1"), "right": leaf("lt", "id", 3)})
    assert read([task(numbers, residual=residual)], schema(ID, NAME))["id"].to_pylist() == [0, 2]


# Deletes


def test_deleted_positions_are_physical_rows_under_a_filter(numbers, tmp_path):
    deletes = [
        position_deletes(tmp_path / "d1.parquet", [("/another/file", 1), (numbers, 0), (numbers, 150), (numbers, 999)]),
        position_deletes(tmp_path / "d2.parquet", [(numbers, 151), (numbers, 150)]),
    ]
    residual = json.dumps(leaf("gt-eq", "id", 100))
    table = read([task(numbers, residual=residual, deletes=[0, 1])], schema(ID), deletes=deletes)
    assert table["id"].to_pylist() == [i for i in range(100, 999) if i not in (150, 151)]


@pytest.mark.parametrize("share", [0.01, 0.3, 0.95])
def test_any_density_of_deleted_positions_leaves_the_others(numbers, tmp_path, share):
    gone = sorted(random.Random(7).sample(range(1000), int(1000 * share)))
    deletes = [position_deletes(tmp_path / "d.parquet", [(numbers, position) for position in gone])]
    table = read([task(numbers, deletes=[0])], schema(ID), deletes=deletes, projection=schema(POS, ID))
    assert table["id"].to_pylist() == table["_pos"].to_pylist() == sorted(set(range(1000)) - set(gone))


def test_equality_deletes_use_keys_that_are_not_projected_and_null_equals_null(numbers, tmp_path):
    keys = write(tmp_path / "e.parquet", {arrow_field(2, "name", pa.string()): ["n1", None, "nothing"]})
    table = read(
        [task(numbers, deletes=[0])], schema(ID, NAME), deletes=[delete_file(keys, 2, 3, [2])], projection=schema(ID)
    )
    assert table["id"].to_pylist() == [i for i in range(1000) if i != 1 and i % 7 != 0]


def test_equality_deletes_of_different_fields_and_files_all_apply(numbers, tmp_path):
    first = write(tmp_path / "e1.parquet", {arrow_field(1, "id", pa.int32()): [2, 3]})
    second = write(tmp_path / "e2.parquet", {arrow_field(1, "id", pa.int64()): [4]})
    third = write(
        tmp_path / "e3.parquet",
        {arrow_field(2, "name", pa.string()): ["n5", "n6"], arrow_field(1, "id", pa.int64()): [5, 60]},
    )
    deletes = [
        delete_file(first, 2, 2, [1]),
        delete_file(second, 2, 1, [1]),
        delete_file(third, 2, 2, [2, 1]),
        position_deletes(tmp_path / "d.parquet", [(numbers, 8)]),
    ]
    residual = json.dumps(leaf("lt", "id", 10))
    table = read([task(numbers, deletes=[0, 1, 2, 3], residual=residual)], schema(ID, NAME), deletes=deletes)
    assert table["id"].to_pylist() == [0, 1, 6, 7, 9]


def test_an_equality_delete_of_a_dropped_column_still_applies(numbers, tmp_path):
    keys = write(tmp_path / "e.parquet", {arrow_field(2, "name", pa.string()): ["n1"]})
    current = schema(ID, schema_id=1)
    scan_context = json.dumps(
        {"schema": current, "schemas": [schema(ID, NAME), current], "partition-specs": [{"spec-id": 0, "fields": []}]}
    )
    table = read(
        [task(numbers, deletes=[0])], current, deletes=[delete_file(keys, 2, 1, [2])], scan_context=scan_context
    )
    assert table.num_rows == 999


def test_a_delete_that_the_deletes_do_not_have_is_refused(numbers):
    with pytest.raises(ValidationError, match="delete 3"):
        stream([task(numbers, deletes=[3])], schema(ID))


# Order, splits, limits


def test_splits_at_any_byte_read_each_row_once(numbers):
    size = task(numbers)["file_size_in_bytes"]
    for parts in (1, 2, 3, 7, 50):
        cuts = [size * part // parts for part in range(parts + 1)]
        tasks = [task(numbers, start=a, length=b - a) for a, b in itertools.pairwise(cuts)]
        assert read(tasks, schema(ID))["id"].to_pylist() == list(range(1000))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_files_and_rows_keep_their_order_on_any_number_of_threads(tmp_path, threads):
    paths = []
    for number in range(40):
        rows = list(range(number * 100, number * 100 + (number * 13) % 100))
        paths.append(write(tmp_path / f"{number}.parquet", {arrow_field(1, "id", pa.int64()): rows}, row_group_size=17))
    table = read([task(path) for path in paths], schema(ID), threads=threads, batch_size=10)
    assert table["id"].to_pylist() == sorted(table["id"].to_pylist())
    assert table.num_rows == sum((number * 13) % 100 for number in range(40))
    assert max(chunk.num_rows for chunk in table.to_batches()) <= 10


def test_a_row_group_larger_than_a_unit_is_read_whole(tmp_path):
    rows = 700_001
    column = {arrow_field(1, "id", pa.int64()): pa.array(range(rows))}
    path = write(tmp_path / "big.parquet", column, row_group_size=rows)
    gone = [0, 262_143, 262_144, 400_000, rows - 1]
    deletes = [position_deletes(tmp_path / "d.parquet", [(path, position) for position in gone])]
    table = read([task(path, deletes=[0])], schema(ID), deletes=deletes, projection=schema(ID, POS))
    assert table["id"].equals(table["_pos"])
    assert table["id"].to_pylist() == sorted(set(range(rows)) - set(gone))


@pytest.mark.parametrize("limit", [0, 1, 99, 100, 101, 5000])
def test_a_limit_takes_the_first_rows(numbers, limit):
    residual = json.dumps(leaf("gt-eq", "id", 50))
    table = read([task(numbers, residual=residual)] * 2, schema(ID), limit=limit)
    assert table["id"].to_pylist() == ([*range(50, 1000)] * 2)[:limit]


def test_no_columns_still_count_rows(numbers):
    table = stream([task(numbers, residual=json.dumps(leaf("lt", "id", 7)))], schema(ID), projection=schema())
    assert sum(batch.num_rows for batch in table) == 7


def test_no_tasks_give_no_rows_of_the_right_schema():
    assert read([], schema(ID, NAME)).schema == pa.schema([("id", pa.int64()), ("name", pa.string())])


def test_views_are_given_where_they_are_asked_for(numbers):
    table = read([task(numbers)], schema(NAME), string_views=True)
    assert table.schema.field("name").type == pa.string_view()
    assert table["name"].cast(pa.string()).equals(read([task(numbers)], schema(NAME))["name"])


# Streams


def test_a_stream_is_read_anew_by_every_consumer(numbers):
    scan = stream([task(numbers)], schema(ID))
    assert scan.schema == pa.schema([("id", pa.int64())])
    assert pa.table(scan) == pa.table(scan)
    assert pa.schema(scan) == scan.schema
    assert sum(batch.num_rows for batch in scan) == 1000


def test_a_dropped_iterator_leaves_others_alone(numbers):
    scan = stream([task(numbers)] * 50, schema(ID), batch_size=10)
    first = iter(scan)
    assert next(first).num_rows == 10
    del first
    assert sum(batch.num_rows for batch in scan) == 50_000


# Failures


def test_a_missing_file_is_named(tmp_path, numbers):
    gone = str(tmp_path / "gone.parquet")
    batches = iter(stream([task(numbers), task(gone, record_count=5)], schema(ID)))
    with pytest.raises(MissingFileError, match=r"gone\.parquet"):
        list(batches)
    assert list(batches) == []


@pytest.mark.parametrize("keep", [0, 3, 8, 100, -9, -1])
def test_a_cut_off_file_is_corrupt_and_named(numbers, keep, tmp_path):
    path = tmp_path / "cut.parquet"
    path.write_bytes(Path(numbers).read_bytes()[:keep])
    with pytest.raises(CorruptFileError, match=r"cut\.parquet"):
        list(stream([task(numbers) | {"file_path": str(path)}], schema(ID)))


def test_damaged_bytes_never_do_worse_than_an_error(numbers, tmp_path):
    good = Path(numbers).read_bytes()
    rng = random.Random(1)
    for round_number in range(60):
        damaged = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
        path = tmp_path / f"{round_number}.parquet"
        path.write_bytes(damaged)
        outcome = str(path)
        try:
            for batch in stream([task(numbers) | {"file_path": str(path)}], schema(ID, NAME)):
                batch.validate()
        except (CorruptFileError, SchemaMismatchError, FeatureUnsupportedError) as error:
            outcome = str(error)
        assert path.name in outcome


def test_another_row_count_than_the_tables_is_corrupt(numbers):
    with pytest.raises(CorruptFileError, match=r"1000 rows.*says 999"):
        list(stream([task(numbers, record_count=999)], schema(ID)))


@pytest.mark.parametrize("file_format", ["AVRO", "ORC"])
def test_other_formats_are_refused_by_name(numbers, file_format):
    with pytest.raises(FeatureUnsupportedError, match=file_format):
        stream([task(numbers, file_format=file_format)], schema(ID))


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"threads": 0}], ids=str)
def test_zero_is_no_size(numbers, options):
    with pytest.raises(ValidationError, match=next(iter(options))):
        stream([task(numbers)], schema(ID), **options)


def test_pruning_reads_no_page_of_a_row_group_that_cannot_match(tmp_path):
    columns = {arrow_field(1, "id", pa.int64()): list(range(200)), arrow_field(2, "name", pa.string()): ["x"] * 200}
    path = write(tmp_path / "a.parquet", columns, row_group_size=100, compression="snappy")
    first = pq.ParquetFile(path).metadata.row_group(0)
    start = min(first.column(i).dictionary_page_offset or first.column(i).data_page_offset for i in range(2))
    with Path(path).open("r+b") as damaged:
        damaged.seek(start)
        damaged.write(
            b"\xff" * first.total_compressed_size if hasattr(first, "total_compressed_size") else b"\xff" * 64
        )
    residual = json.dumps(leaf("gt-eq", "id", 100))
    assert read([task(path, residual=residual)], schema(ID))["id"].to_pylist() == list(range(100, 200))
    with pytest.raises(CorruptFileError):
        list(stream([task(path)], schema(ID)))
