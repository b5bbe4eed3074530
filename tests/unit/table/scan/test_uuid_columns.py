"""Columns of type uuid: Arrow's extension type in and out, `uuid.UUID` objects in Python."""

from __future__ import annotations

import uuid

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import FeatureUnsupportedError
from icefloe.io.pyarrow import pyarrow_to_schema, schema_to_pyarrow
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform
from icefloe.types import ListType, LongType, MapType, NestedField, StructType, UUIDType

IDS = [uuid.UUID(int=(0x0190 << 112) + (1 << 63) + n) for n in range(3)]
SCHEMA = Schema(
    NestedField(1, "u", UUIDType()),
    NestedField(2, "n", LongType()),
    NestedField(3, "l", ListType(4, UUIDType(), element_required=False)),
    NestedField(5, "s", StructType(NestedField(6, "x", UUIDType()))),
    NestedField(7, "m", MapType(8, UUIDType(), 9, UUIDType(), value_required=False)),
)
FLAT = Schema(NestedField(1, "u", UUIDType()), NestedField(2, "n", LongType()))
PAIRS = pa.schema([("u", pa.uuid()), ("n", pa.int64())])


def uuids(ids):
    """Return an array of uuids, built from bytes for the oldest pyarrow."""
    stored = pa.array([None if one is None else one.bytes for one in ids], pa.binary(16))
    return pa.ExtensionArray.from_storage(pa.uuid(), stored)


@pytest.fixture
def catalog():
    with load_catalog("scratch", type="memory") as made:
        made.create_namespace("db")
        yield made


def nested_rows() -> pa.Table:
    ids = uuids([*IDS, None])
    element = pa.list_(pa.field("element", pa.uuid()))
    return pa.table(
        {
            "u": ids,
            "n": pa.array(range(4), pa.int64()),
            "l": pa.ListArray.from_arrays(pa.array([0, 1, 1, 2, 4], pa.int32()), ids, type=element),
            "s": pa.StructArray.from_arrays([ids], ["x"]),
            "m": pa.MapArray.from_arrays(pa.array([0, 1, 2, 3, 3], pa.int32()), ids.slice(0, 3), ids.slice(0, 3)),
        }
    )


@pytest.fixture
def nested(catalog):
    table = catalog.create_table("db.nested", SCHEMA)
    table.append(nested_rows())
    return table


def pairs(ids, start: int = 0) -> pa.Table:
    return pa.table({"u": uuids(ids), "n": range(start, start + len(ids))}, schema=PAIRS)


def flat(catalog, **properties: str):
    table = catalog.create_table("db.flat", FLAT, properties=properties)
    table.append(pairs(IDS))
    return table


def test_scan_returns_the_extension_type_at_every_depth(nested):
    found = nested.scan().to_arrow()
    assert found.schema == schema_to_pyarrow(SCHEMA, include_field_ids=False)
    assert found.schema.field("u").type == pa.uuid()
    assert found.schema.field("l").type.value_type == pa.uuid()
    assert found.to_pylist() == nested_rows().to_pylist()
    assert found["u"].to_pylist() == [*IDS, None]
    assert pa.table(nested.scan()).schema.field("u").type == pa.uuid()
    assert next(iter(nested.scan().plan_files())).read().read_all()["u"].to_pylist() == [*IDS, None]


def test_scan_of_no_rows_returns_the_extension_type(catalog, nested):
    empty = catalog.create_table("db.empty", SCHEMA)
    for found in (empty.scan().to_arrow(), nested.scan("n > 100").to_arrow()):
        assert found.schema == schema_to_pyarrow(SCHEMA, include_field_ids=False)
        assert found.num_rows == 0


def test_rows_of_a_scan_can_be_appended_again(nested):
    nested.append(nested.scan().to_arrow())
    assert nested.scan().to_arrow().to_pylist() == nested_rows().to_pylist() * 2


def test_schemas_survive_the_round_trip_through_arrow():
    assert pyarrow_to_schema(schema_to_pyarrow(SCHEMA)).as_struct() == SCHEMA.as_struct()
    assert SCHEMA.as_arrow().field("u").type == pa.uuid()
    plain = pyarrow_to_schema(pa.schema([("u", pa.uuid()), ("f", pa.binary(16))]))
    assert [str(field.field_type) for field in plain.fields] == ["uuid", "fixed[16]"]


def test_create_table_takes_the_extension_type(catalog):
    table = catalog.create_table("db.made", PAIRS)
    assert str(table.schema().find_field("u").field_type) == "uuid"


@pytest.mark.parametrize(
    "column",
    [
        uuids(IDS),
        pa.array([one.bytes for one in IDS], pa.binary(16)),
        pa.array([one.bytes for one in IDS], pa.binary()),
        pa.array([str(one) for one in IDS], pa.string()),
    ],
    ids=lambda column: str(column.type),
)
def test_append_accepts_extension_storage_and_text(catalog, column):
    table = catalog.create_table("db.t", FLAT)
    table.append(pa.table({"u": column, "n": pa.array(range(3), pa.int64())}))
    assert table.scan().to_arrow()["u"].to_pylist() == IDS


def test_to_pandas_returns_uuid_objects_at_every_depth(nested):
    frame = nested.scan().to_pandas()
    rows = nested_rows().to_pylist()
    assert list(frame.columns) == ["u", "n", "l", "s", "m"]
    assert frame["u"].tolist() == [*IDS, None]
    for name in ("l", "s", "m"):
        assert frame[name].tolist() == [row[name] for row in rows]


def check_bytes(frame: pl.DataFrame) -> None:
    assert frame.schema["u"] == pl.Binary
    assert frame["u"].to_list() == [*(one.bytes for one in IDS), None]
    assert frame["l"].to_list()[0] == [IDS[0].bytes]


def test_to_polars_returns_uuids_as_bytes(nested):
    columns = ("u", "n", "l", "s")  # Polars before 1.36 reads no maps.
    check_bytes(nested.scan(selected_fields=columns).to_polars())
    check_bytes(nested.incremental_changelog_scan(selected_fields=columns).to_polars())


@pytest.mark.recent_pyarrow
def test_polars_reads_uuids_of_a_stream_as_bytes(nested):
    check_bytes(pl.DataFrame(nested.scan()))


def test_duckdb_reads_uuids_at_every_depth(nested):
    scan = nested.scan()
    by_stream = duckdb.sql("SELECT u, l, s FROM scan ORDER BY n")
    connection = scan.to_duckdb("t")
    for rows in (by_stream, connection.sql("SELECT u, l, s FROM t ORDER BY n")):
        assert [str(kind) for kind in rows.types] == ["UUID", "UUID[]", "STRUCT(x UUID)"]
        assert rows.fetchall()[0] == (IDS[0], [IDS[0]], {"x": IDS[0]})
    assert duckdb.sql(f"SELECT n FROM scan WHERE u = '{IDS[1]}'").fetchall() == [(1,)]


def test_data_files_have_the_uuid_annotation(catalog):
    [path] = flat(catalog).inspect.files()["file_path"].to_pylist()
    column = pq.ParquetFile(path).schema.column(0)
    assert (column.physical_type, column.length, column.logical_type.type) == ("FIXED_LEN_BYTE_ARRAY", 16, "UUID")


@pytest.mark.parametrize("file_format", ["AVRO", pytest.param("ORC", marks=pytest.mark.recent_pyarrow)])
def test_other_formats_return_the_extension_type(tmp_path, file_format):
    from tests.unit.core_scan.avro_tables import avro_field, avro_task, write_avro
    from tests.unit.core_scan.test_orc_files import orc_field, orc_task, write_orc
    from tests.unit.scan_tables import field, read, schema

    stored = [one.bytes for one in IDS]
    if file_format == "AVRO":
        kind = {"type": "fixed", "size": 16, "name": "uuid_fixed"}
        path = write_avro(tmp_path / "a.avro", [avro_field(1, "u", kind)], [{"u": value} for value in stored])
        one = avro_task(path, 3)
    else:
        one = orc_task(write_orc(tmp_path / "a.orc", {orc_field(1, "u", pa.binary()): stored}), 3)
    found = read([one], schema(field(1, "u", "uuid")), extension_types=True)
    assert found["u"].type == pa.uuid()
    assert found["u"].to_pylist() == IDS


def test_filters_select_rows_by_uuid(nested):
    for row_filter, expected in {
        f"u = '{IDS[1]}'": [1],
        f"u in ('{IDS[0]}', '{IDS[2]}')": [0, 2],
        f"u > '{IDS[0]}'": [1, 2],
        f"s.x = '{IDS[2]}'": [2],
        "u is null": [3],
    }.items():
        assert nested.scan(row_filter).to_arrow()["n"].to_pylist() == expected


def test_bounds_of_a_uuid_column_prune_files(catalog):
    table = catalog.create_table("db.t", FLAT)
    for start in (0, 1000):
        ids = [uuid.UUID(int=(0x0190 << 112) + ((start + n) << 80) + (1 << 63)) for n in range(10)]
        table.append(pairs(ids, start))
    middle = uuid.UUID(int=(0x0190 << 112) + (500 << 80))
    for row_filter, starts in {
        f"u = '{uuid.UUID(int=(0x0190 << 112) + (5 << 80) + (1 << 63))}'": [0],
        f"u > '{middle}'": [1000],
        f"u < '{middle}'": [0],
        f"u = '{uuid.UUID(int=0)}'": [],
    }.items():
        tasks = list(table.scan(row_filter).plan_files())
        assert len(tasks) == len(starts)
        assert len({n // 1000 for n in table.scan(row_filter).to_arrow()["n"].to_pylist()}) == len(starts)


def test_bounds_in_the_order_of_signed_halves_hide_no_rows(catalog):
    """The Java reference compares two signed halves, which swaps the bounds of these values."""
    table = catalog.create_table("db.t", FLAT)
    ids = sorted(uuid.uuid5(uuid.NAMESPACE_URL, str(n)) for n in range(200))
    table.append(pairs(ids))
    entry = table.inspect.files().to_pylist()[0]
    stored = sorted(ids, key=lambda one: one.int ^ (1 << 127 | 1 << 63))
    from tests.unit.table.scan.test_stated_sizes import data_file_schema

    row = {
        "content": 0,
        "spec_id": 0,
        "partition": "[]",
        "file_path": entry["file_path"],
        "file_format": "PARQUET",
        "record_count": 200,
        "file_size_in_bytes": entry["file_size_in_bytes"],
        "lower_bounds": [(1, stored[0].bytes)],
        "upper_bounds": [(1, stored[-1].bytes)],
    }
    foreign = catalog.create_table("db.foreign", FLAT)
    foreign.new_append().append(pa.RecordBatch.from_pylist([row], schema=data_file_schema(table))).commit()
    for one in ids[::17]:
        assert foreign.scan(f"u = '{one}'").to_arrow()["u"].to_pylist() == [one]
        assert foreign.scan(f"u < '{one}'").count() == ids.index(one)
        assert foreign.scan(f"u >= '{one}'").count() == 200 - ids.index(one)


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_rows_are_deleted_and_overwritten_by_uuid(catalog, mode):
    table = flat(catalog, **{"write.delete.mode": mode})
    table.delete(f"u = '{IDS[1]}'")
    assert table.scan().to_arrow()["u"].to_pylist() == [IDS[0], IDS[2]]
    table.overwrite(pairs([IDS[1]], 7), overwrite_filter=f"u = '{IDS[0]}'")
    assert sorted(table.scan().to_arrow()["u"].to_pylist()) == IDS[1:]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_upsert_and_merge_join_on_uuid(catalog, mode):
    new = uuid.UUID(int=5)
    table = flat(catalog, **{"write.merge.mode": mode})
    result = table.upsert(pairs([IDS[0], new], 10), join_cols=["u"])
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    merge = table.merge(pairs([IDS[1], uuid.UUID(int=6)], 20), ["u"])
    merge.when_matched_update({"n": "source.n"}).when_not_matched_insert().execute()
    found = table.scan().to_arrow()
    assert found.schema.field("u").type == pa.uuid()
    assert dict(zip(found["u"].to_pylist(), found["n"].to_pylist(), strict=True)) == {
        IDS[0]: 10,
        new: 11,
        IDS[1]: 20,
        uuid.UUID(int=6): 21,
        IDS[2]: 2,
    }


def test_partitions_by_uuid_prune_and_return_uuids(catalog):
    table = catalog.create_table("db.t", FLAT)
    with table.update_spec() as update:
        update.add_identity("u")
        update.add_field("u", BucketTransform(4), "b")
    table.append(pairs(IDS))
    found = table.scan(f"u = '{IDS[1]}'", selected_fields=("u", "_partition"))
    assert len(list(found.plan_files())) == 1
    [row] = found.to_arrow().to_pylist()
    bucket = BucketTransform(4).transform(UUIDType())(IDS[1])
    assert row == {"u": IDS[1], "_partition": {"u": IDS[1], "b": bucket}}
    table.dynamic_partition_overwrite(pairs([IDS[1]], 9))
    assert sorted(table.scan().to_arrow()["n"].to_pylist()) == [0, 2, 9]


def test_change_scans_return_the_extension_type(catalog):
    table = flat(catalog)
    table.append(pairs([uuid.UUID(int=9)], 9))
    for scan in (table.incremental_append_scan(), table.incremental_changelog_scan()):
        found = scan.to_arrow()
        assert found.schema.field("u").type == pa.uuid()
        assert sorted(found["u"].to_pylist()) == sorted([*IDS, uuid.UUID(int=9)])


def test_equality_deletes_remove_rows_by_uuid(tmp_path):
    from tests.unit.scan_tables import arrow_field, delete_file, field, read, schema, task, write

    storage = arrow_field(1, "u", pa.binary(16))
    location = write(tmp_path / "a.parquet", {storage: [*(one.bytes for one in IDS), None]})
    keys = write(tmp_path / "d.parquet", {storage: [IDS[1].bytes, None]})
    current = schema(field(1, "u", "uuid"))
    found = read([task(location, deletes=[0])], current, deletes=[delete_file(keys, 2, 2, [1])], extension_types=True)
    assert found["u"].type == pa.uuid()
    assert found["u"].to_pylist() == [IDS[0], IDS[2]]


def test_to_polars_names_the_columns_that_polars_cannot_read(nested, monkeypatch):
    def panic(stream):
        raise pl.exceptions.PanicException(f"not supported: {stream.schema}")

    monkeypatch.setattr(pl, "DataFrame", panic)
    with pytest.raises(
        FeatureUnsupportedError, match=r"to_polars: Polars .* cannot read the columns n \(int64\); upgrade"
    ):
        nested.scan(selected_fields=("n",)).to_polars()
