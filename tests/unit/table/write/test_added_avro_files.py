"""Existing Avro files become data files of a table by their headers."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import fastavro
import pytest
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform
from icefloe.types import DecimalType, LongType, NestedField, StringType, StructType, TimestamptzType

from tests.unit.table.write.existing_files import MAPPING, SCHEMA, ids, partitioned, partitions, rows

LONG = {"name": "id", "type": "long"}


def write(location, *fields, records, **options) -> str:
    location.parent.mkdir(parents=True, exist_ok=True)
    with location.open("wb") as out:
        fastavro.writer(out, {"type": "record", "name": "row", "fields": list(fields)}, records, **options)
    return str(location)


def optional(name, kind):
    return {"name": name, "type": ["null", kind]}


@pytest.fixture
def empty(catalog):
    return catalog.create_table("db.t", SCHEMA)


def test_avro_files_are_added_whatever_their_names(empty, tmp_path):
    paths = [
        write(
            tmp_path / name,
            LONG,
            optional("name", "string"),
            records=[{"id": n, "name": f"n{n}"}, {"id": n + 10, "name": None}],
        )
        for n, name in enumerate(("a.avro", "b", "c.orc"))
    ]
    empty.add_files(paths)
    assert ids(empty) == [0, 1, 2, 10, 11, 12]
    assert ids(empty, "name is null") == [10, 11, 12]
    (file, *_) = empty.inspect.files().to_pylist()
    assert (file["file_format"], file["record_count"]) == ("AVRO", 2)
    metrics = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
    assert [file[name] for name in (*metrics, "split_offsets")] == [None] * 7
    assert [field.names for field in empty.name_mapping()] == [("id",), ("at",), ("name",), ("value",)]


def test_rows_of_many_blocks_are_counted(empty, tmp_path):
    records = [{"id": n} for n in range(5000)]
    empty.add_files([write(tmp_path / "a.avro", LONG, records=records, sync_interval=200)])
    (file,) = empty.inspect.files().to_pylist()
    assert file["record_count"] == 5000
    assert ids(empty) == list(range(5000))


def test_avro_files_of_the_table_are_added_by_their_field_ids(catalog, empty):
    source = catalog.create_table("db.source", SCHEMA, properties={"write.format.default": "avro"})
    source.append(rows([1, 2]).cast(SCHEMA.as_arrow()))
    empty.add_files([task.file.file_path for task in source.scan().plan_files()])
    assert ids(empty) == [1, 2]
    assert MAPPING not in empty.properties


def test_logical_types_are_read(catalog, tmp_path):
    schema = Schema(NestedField(1, "amount", DecimalType(9, 2)), NestedField(2, "at", TimestamptzType()))
    table = catalog.create_table("db.l", schema)
    moment = dt.datetime(2020, 5, 6, 7, 8, 9, 123000, tzinfo=dt.timezone.utc)
    amount = {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}}
    at = {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}
    table.add_files([write(tmp_path / "a.avro", amount, at, records=[{"amount": Decimal("1.25"), "at": moment}])])
    assert table.scan().to_arrow().to_pylist() == [{"amount": Decimal("1.25"), "at": moment}]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ({"name": "extra", "type": "string"}, "x", "column extra"),
        ({"name": "name", "type": "long"}, 5, "column name"),
        (optional("id", "long"), None, "column id: .*nulls; replace them in the file"),
    ],
)
def test_columns_that_do_not_fit_are_refused(empty, tmp_path, field, value, message):
    others = [LONG] if field["name"] != "id" else [optional("name", "string")]
    record = {"id": 1, "name": "n"} | {field["name"]: value}
    bad = write(tmp_path / "bad.avro", *others, field, records=[record])
    with pytest.raises(SchemaMismatchError, match=message) as caught:
        empty.add_files([bad])
    assert bad in str(caught.value)
    assert empty.refresh().snapshots() == []


def test_required_columns_are_read_for_nulls(empty, tmp_path):
    empty.add_files([write(tmp_path / "a.avro", optional("id", "long"), records=[{"id": 1}, {"id": 2}])])
    assert ids(empty) == [1, 2]


def test_damaged_columns_in_doubt_are_corrupt(empty, tmp_path):
    path = tmp_path / "a.avro"
    write(path, optional("id", "long"), records=[{"id": 1}], codec="null")
    # The last row is before the marker of the block: branch 1 of the union, then the number.
    damaged = bytearray(path.read_bytes())
    assert damaged[-18:-16] == b"\x02\x02"
    damaged[-18] = 0x0E
    path.write_bytes(damaged)
    with pytest.raises(CorruptFileError, match=r"a\.avro.*union"):
        empty.add_files([str(path)])


@pytest.mark.parametrize("nested", [False, True])
def test_unions_of_several_types_are_refused(catalog, tmp_path, nested):
    inner = StructType(NestedField(3, "name", StringType()))
    columns = [NestedField(2, "st", inner)] if nested else [NestedField(2, "name", StringType())]
    table = catalog.create_table("db.u", Schema(NestedField(1, "id", LongType()), *columns))
    union = {"name": "name", "type": ["null", "string", "long"]}
    field = {"name": "st", "type": {"type": "record", "name": "st", "fields": [union]}} if nested else union
    record = {"id": 1, "st": {"name": 5}} if nested else {"id": 1, "name": 5}
    path = write(tmp_path / "a.avro", LONG, field, records=[record])
    with pytest.raises(FeatureUnsupportedError, match=r"the type of column (st\.)?name"):
        table.add_files([path])


def test_partitions_come_from_directories(catalog, tmp_path):
    table = partitioned(catalog, (3, IdentityTransform()))
    path = write(tmp_path / "name=x" / "a.avro", LONG, records=[{"id": 1}])
    table.add_files([path])
    assert partitions(table) == [("x",)]
    assert ids(table, "name = 'x'") == [1]
    alone = write(tmp_path / "b.avro", LONG, optional("name", "string"), records=[{"id": 2, "name": "x"}])
    with pytest.raises(ValidationError, match="the file does not count the column's nulls, and its location has no"):
        table.add_files([alone])


def test_files_of_the_table_are_refused(empty, tmp_path):
    path = write(tmp_path / "a.avro", LONG, records=[{"id": 1}])
    empty.add_files([path])
    with pytest.raises(ValidationError, match="part of the table already"):
        empty.add_files([path])


@pytest.mark.parametrize("cut", [5, 60])
def test_cut_files_are_corrupt(empty, tmp_path, cut):
    path = tmp_path / "a.avro"
    write(path, LONG, records=[{"id": n} for n in range(100)])
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(CorruptFileError, match=r"a\.avro"):
        empty.add_files([str(path)])
