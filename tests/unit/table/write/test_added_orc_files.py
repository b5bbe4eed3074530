"""Existing ORC files become data files of a table by their footers."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.orc
import pytest
from icefloe import _core
from icefloe.exceptions import CorruptFileError, SchemaMismatchError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.write.add_files import add_existing_files
from icefloe.transforms import DayTransform, IdentityTransform
from icefloe.types import (
    BooleanType,
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
)

from tests.unit.table.write.existing_files import MAPPING, SCHEMA, ids, partitioned, partitions, rows

pytestmark = pytest.mark.recent_pyarrow

DAY = dt.datetime(2020, 5, 6, 7, 8, 9, 123456)


def write(location, data: pa.Table, **options) -> str:
    location.parent.mkdir(parents=True, exist_ok=True)
    pa.orc.write_table(data, location, **options)
    return str(location)


def table_of(catalog, *columns, spec=None):
    fields = [NestedField(n, name, kind, required=need) for n, (name, kind, need) in enumerate(columns, 1)]
    return catalog.create_table("db.t", Schema(*fields), partition_spec=spec or PartitionSpec())


@pytest.fixture
def empty(catalog):
    return catalog.create_table("db.t", SCHEMA)


def test_orc_files_are_added_whatever_their_names(empty, tmp_path):
    paths = [write(tmp_path / name, rows([n, n + 10])) for n, name in enumerate(("a.orc", "b", "c.parquet"))]
    empty.add_files(paths)
    assert ids(empty) == [0, 1, 2, 10, 11, 12]
    assert ids(empty, "name = 'name 11'") == [11]
    assert {task.file.file_format for task in empty.scan().plan_files()} == {"ORC"}
    assert [field.names for field in empty.name_mapping()] == [("id",), ("at",), ("name",), ("value",)]


def test_orc_files_of_the_table_are_added_by_their_field_ids(catalog, empty, tmp_path):
    source = catalog.create_table("db.source", SCHEMA, properties={"write.format.default": "orc"})
    source.append(rows([1, 2]).cast(SCHEMA.as_arrow()))
    empty.add_files([task.file.file_path for task in source.scan().plan_files()])
    assert ids(empty) == [1, 2]
    assert MAPPING not in empty.properties


def test_metrics_come_from_the_footer(catalog, tmp_path):
    inner = StructType(NestedField(8, "x", LongType()))
    table = table_of(
        catalog,
        ("id", LongType(), False),
        ("name", StringType(), False),
        ("amount", DecimalType(9, 2), False),
        ("mixed", BooleanType(), False),
        ("yes", BooleanType(), False),
        ("value", DoubleType(), False),
        ("st", inner, False),
    )
    data = {
        "id": [1, 2, 3],
        "name": ["a", None, "c" * 40],
        "amount": pa.array([Decimal("-1.25"), Decimal("2.50"), None], pa.decimal128(9, 2)),
        "mixed": [True, False, None],
        "yes": [True, True, None],
        "value": [0.5, float("nan"), None],
        "st": pa.array([{"x": 5}, None, {"x": None}], pa.struct([("x", pa.int64())])),
    }
    table.add_files([write(tmp_path / "a.orc", pa.table(data))])
    (file,) = table.inspect.files().to_pylist()
    assert (file["record_count"], file["file_size_in_bytes"]) == (3, (tmp_path / "a.orc").stat().st_size)
    assert dict(file["value_counts"]) == dict.fromkeys(range(1, 9), 3)
    assert dict(file["null_value_counts"]) == {1: 0, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 2}
    lower, upper = dict(file["lower_bounds"]), dict(file["upper_bounds"])
    assert (lower[1], upper[1]) == ((1).to_bytes(8, "little"), (3).to_bytes(8, "little"))
    assert (lower[2], upper[2]) == (b"a", b"c" * 15 + b"d")
    assert (lower[3], upper[3]) == (b"\x83", b"\x00\xfa")
    assert (lower[4], upper[4], lower[5], upper[5]) == (b"\x00", b"\x01", b"\x01", b"\x01")
    assert 6 not in lower
    assert file["split_offsets"] == [3]
    # The Java reference counts no null of a field below a null struct, and misses the row.
    assert table.scan("st.x is null").count() == 2


def test_every_stripe_may_be_a_split(empty, tmp_path):
    data = rows(list(range(200_000)))
    empty.add_files([write(tmp_path / "a.orc", data, stripe_size=64 << 10, compression="uncompressed")])
    (file,) = empty.inspect.files().to_pylist()
    assert len(file["split_offsets"]) == pa.orc.ORCFile(tmp_path / "a.orc").nstripes > 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (rows([1], extra=["x"]), "column extra"),
        (rows([1], name=pa.array([5], pa.int64())), "column name"),
        (rows([1]).drop_columns(["id"]), "required column id"),
        (rows([1, 2], id=pa.array([None, 2], pa.int64())), "1 nulls"),
        (
            rows([1], at=pa.array([DAY], pa.timestamp("us", "UTC"))),
            "timestamps with a zone; make the field timestamptz",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused(empty, tmp_path, data, message):
    good, bad = write(tmp_path / "good.orc", rows([1])), write(tmp_path / "bad.orc", data)
    with pytest.raises(SchemaMismatchError, match=message) as caught:
        empty.add_files([good, bad])
    assert bad in str(caught.value)
    assert empty.refresh().snapshots() == []


def test_timestamps_have_a_zone_as_in_the_file(catalog, tmp_path):
    table = table_of(catalog, ("at", TimestamptzType(), False))
    local = write(tmp_path / "local.orc", pa.table({"at": pa.array([DAY], pa.timestamp("us"))}))
    with pytest.raises(SchemaMismatchError, match="timestamps without a zone; make the field timestamp, or rewrite"):
        table.add_files([local])
    table.add_files([write(tmp_path / "a.orc", pa.table({"at": pa.array([DAY], pa.timestamp("us", "UTC"))}))])
    (row,) = table.scan("at = '2020-05-06T07:08:09.123456+00:00'").to_arrow().to_pylist()
    assert row["at"] == DAY.replace(tzinfo=dt.timezone.utc)


def test_values_outside_the_type_of_the_table_are_refused(catalog, tmp_path):
    table = table_of(catalog, ("amount", DecimalType(5, 2), False), ("noon", TimeType(), False))
    fits = pa.table({"amount": pa.array([Decimal("999.99")], pa.decimal128(9, 2))})
    table.add_files([write(tmp_path / "a.orc", fits)])
    wide = pa.table({"amount": pa.array([Decimal("1000.00")], pa.decimal128(9, 2))})
    with pytest.raises(SchemaMismatchError, match="values of more than 5 digits"):
        table.add_files([write(tmp_path / "b.orc", wide)])
    assert table.scan().to_arrow().column("amount").to_pylist() == [Decimal("999.99")]


def test_nulls_in_nested_required_fields_are_refused(catalog, tmp_path):
    inner = StructType(NestedField(2, "x", LongType(), required=True))
    table = table_of(catalog, ("st", inner, False))
    kind = pa.struct([("x", pa.int64())])
    table.add_files([write(tmp_path / "a.orc", pa.table({"st": pa.array([{"x": 1}, None], kind)}))])
    with pytest.raises(SchemaMismatchError, match=r"st\.x: .*nulls"):
        table.add_files([write(tmp_path / "b.orc", pa.table({"st": pa.array([{"x": 1}, {"x": None}], kind)}))])


def test_partitions_come_from_statistics_and_directories(catalog, tmp_path):
    table = partitioned(catalog, (3, IdentityTransform()))
    table.add_files(
        [
            write(tmp_path / "a.orc", rows([1, 2], name=["x", "x"])),
            write(tmp_path / "name=y" / "b.orc", rows([3]).drop_columns(["name"])),
            write(tmp_path / "c.orc", rows([4], name=pa.array([None], pa.string()))),
        ]
    )
    assert partitions(table) == [("x",), ("y",), (None,)]
    assert ids(table, "name = 'y'") == [3]
    with pytest.raises(ValidationError, match="its values range from u to v"):
        table.add_files([write(tmp_path / "d.orc", rows([5, 6], name=["u", "v"]))])


def test_partitions_of_local_timestamps_come_from_directories(catalog, tmp_path):
    spec = PartitionSpec(PartitionField(1, 1000, DayTransform(), "day"))
    table = table_of(catalog, ("at", TimestampType(), False), spec=spec)
    data = pa.table({"at": pa.array([DAY], pa.timestamp("us"))})
    with pytest.raises(ValidationError, match="bounds of the column depend on a time zone, and its location has no"):
        table.add_files([write(tmp_path / "a.orc", data)])
    table.add_files([write(tmp_path / "day=2020-05-06" / "a.orc", data)])
    assert table.scan("at = '2020-05-06T07:08:09.123456'").count() == 1


def test_files_of_the_table_are_refused(empty, tmp_path):
    path = write(tmp_path / "a.orc", rows([1]))
    empty.add_files([path])
    with pytest.raises(ValidationError, match="part of the table already"):
        empty.add_files([path])


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_cut_files_are_corrupt(empty, tmp_path, kept):
    whole = tmp_path / "a.orc"
    write(whole, rows(list(range(1000))))
    bytes_of_file = whole.read_bytes()
    whole.write_bytes(bytes_of_file[: int(len(bytes_of_file) * kept)])
    with pytest.raises(CorruptFileError, match=r"a\.orc"):
        empty.add_files([str(whole)])
    assert empty.refresh().snapshots() == []


def test_files_of_another_format_than_the_stated_one_are_refused(empty, tmp_path):
    path = write(tmp_path / "a.orc", rows([1]))
    with (
        pytest.raises(ValidationError, match=r"a\.orc: .*expected a Parquet file, got an ORC file"),
        empty.target(MAIN_BRANCH, None) as target,
    ):
        add_existing_files(target, [path], check_duplicates=True, file_format="parquet")


def test_file_schema_has_the_columns_of_the_file(empty, tmp_path):
    path = write(tmp_path / "a.orc", rows([1]))
    found = _core.file_schema(empty.io.core, path)
    assert found.names == ["id", "at", "name", "value"]
    assert found.field("name").type == pa.string()
