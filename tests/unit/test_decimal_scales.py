"""Decimals with a negative scale or a scale above the precision, which Avro and ORC files and metadata may have."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.conversions import from_bytes, from_json_value, to_bytes, to_json_value
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, ValidationError
from icefloe.schema import Schema
from icefloe.transforms import BucketTransform, TruncateTransform
from icefloe.types import DecimalType, LongType, NestedField
from pyarrow import orc

from tests.unit.core_scan.avro_tables import avro_task
from tests.unit.core_scan.test_orc_files import orc_task
from tests.unit.scan_tables import ID, arrow_field, field, leaf, read, schema, stream, task, write

CASES = [(5, 7), (10, -2), (3, 38), (38, -3)]
UNSCALED = [123, -45, 0, 7]


def values(scale: int, count: int = 4) -> list[Decimal | None]:
    return [None, *[Decimal(unscaled).scaleb(-scale) for unscaled in UNSCALED[: count - 1]]]


def array(precision: int, scale: int, found: list[Decimal | None]) -> pa.Array:
    """Return an Arrow array of decimals; pyarrow.array() refuses a scale above the precision."""
    wide = pa.array([None if value is None else value.scaleb(scale) for value in found], pa.decimal128(38, 0))
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(found), wide.buffers())


@pytest.mark.parametrize(("precision", "scale"), CASES)
def test_types_accept_the_scales_that_pyiceberg_accepts(precision, scale):
    from pyiceberg.types import DecimalType as Peer

    assert str(DecimalType(precision, scale)) == str(Peer(precision, scale))
    assert repr(DecimalType(precision, scale)) == repr(Peer(precision, scale))
    column = NestedField(1, "d", DecimalType(precision, scale))
    assert Schema.model_validate_json(Schema(column).model_dump_json()) == Schema(column)
    assert Schema(column).as_arrow().field("d").type == pa.decimal128(precision, scale)


def test_types_refuse_a_precision_beyond_38():
    for precision in (0, 39):
        with pytest.raises(ValidationError, match="precision must be between 1 and 38"):
            DecimalType(precision, 0)


@pytest.mark.parametrize(("precision", "scale"), CASES)
@pytest.mark.parametrize("unscaled", UNSCALED)
def test_single_values_round_trip_through_bytes_and_json(precision, scale, unscaled):
    from pyiceberg.conversions import to_bytes as peer_bytes
    from pyiceberg.types import DecimalType as Peer

    kind, value = DecimalType(precision, scale), Decimal(unscaled).scaleb(-scale)
    assert from_bytes(kind, to_bytes(kind, value)) == value
    if scale >= 0:
        assert to_bytes(kind, value) == peer_bytes(Peer(precision, scale), value)
    text = to_json_value(kind, value)
    assert from_json_value(kind, text) == value
    if scale < 0:
        assert text == f"{unscaled}E+{-scale}"


@pytest.mark.parametrize(("precision", "scale"), CASES)
def test_transforms_use_the_unscaled_value(precision, scale):
    kind = DecimalType(precision, scale)
    bucketed = BucketTransform(16).transform(kind)
    truncated = TruncateTransform(10).transform(kind)
    for unscaled in UNSCALED:
        value = Decimal(unscaled).scaleb(-scale)
        assert bucketed(value) == BucketTransform(16).transform(DecimalType(38, 0))(Decimal(unscaled))
        assert truncated(value) == Decimal(unscaled // 10 * 10).scaleb(-scale)


def orc_file(path: Path, precision: int, scale: int) -> str:
    fields = [
        pa.field("id", pa.int64(), metadata={"iceberg.id": "1"}),
        pa.field("d", pa.decimal128(precision, scale), metadata={"iceberg.id": "2"}),
    ]
    columns = [pa.array(range(4), pa.int64()), array(precision, scale, values(scale))]
    orc.write_table(pa.Table.from_arrays(columns, schema=pa.schema(fields)), str(path))
    return str(path)


def avro_file(path: Path, precision: int, scale: int, *, fixed: bool) -> str:
    """Write an Avro file and replace the scale in its header, since fastavro refuses the scale."""
    said = {"logicalType": "decimal", "precision": 38, "scale": 11}
    kind = {"type": "fixed", "size": 16, "name": "decimal", **said} if fixed else {"type": "bytes", **said}
    fields = [
        {"name": "id", "type": "long", "field-id": 1},
        {"name": "d", "type": ["null", kind], "field-id": 2},
    ]
    parsed = fastavro.parse_schema({"type": "record", "name": "table", "fields": fields})
    rows = [
        {"id": i, "d": None if value is None else value.scaleb(scale - 11)} for i, value in enumerate(values(scale))
    ]
    with path.open("wb") as out:
        fastavro.writer(out, parsed, rows)
    whole = path.read_bytes()
    before = b'"precision": 38, "scale": 11'
    after = f'"precision": {precision}, "scale": {scale}'.encode().ljust(len(before))
    assert whole.count(before) == 1
    path.write_bytes(whole.replace(before, after))
    return str(path)


@pytest.mark.recent_pyarrow
@pytest.mark.parametrize(("precision", "scale"), [case for case in CASES if case[1] >= 0])
def test_orc_files_with_a_scale_above_the_precision_are_read(tmp_path, precision, scale):
    current = schema(ID, field(2, "d", f"decimal({precision}, {scale})"))
    check_rows([orc_task(orc_file(tmp_path / "a.orc", precision, scale), 4)], current, precision, scale)


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed", "bytes"])
@pytest.mark.parametrize(("precision", "scale"), CASES)
def test_avro_files_with_these_scales_are_read(tmp_path, precision, scale, fixed):
    current = schema(ID, field(2, "d", f"decimal({precision}, {scale})"))
    check_rows([avro_task(avro_file(tmp_path / "a.avro", precision, scale, fixed=fixed), 4)], current, precision, scale)


def check_rows(tasks, current, precision: int, scale: int) -> None:
    found = read(tasks, current)
    assert found["d"].type == pa.decimal128(precision, scale)
    assert found["d"].to_pylist() == values(scale)
    kind = DecimalType(precision, scale)
    for op, expected in {"lt": [2], "eq": [1], "gt-eq": [1]}.items():
        value = to_json_value(kind, Decimal(0 if op == "lt" else 123).scaleb(-scale))
        residual = json.dumps(leaf(op, "d", value))
        assert read([{**one, "residual": residual} for one in tasks], current)["id"].to_pylist() == expected


def test_parquet_files_with_more_digits_than_the_table_are_read_if_their_values_fit(tmp_path):
    current = schema(ID, field(2, "d", "decimal(5, 7)"))
    columns = {
        arrow_field(1, "id", pa.int64()): [0, 1, 2],
        arrow_field(2, "d", pa.decimal128(9, 7)): [None, Decimal("0.0000123"), Decimal("-0.0099999")],
    }
    location = write(tmp_path / "a.parquet", columns)
    assert read([task(location)], current)["d"].to_pylist() == list(columns.values())[1]
    wide = write(tmp_path / "b.parquet", {arrow_field(2, "d", pa.decimal128(9, 7)): [Decimal("0.0100000")]})
    with pytest.raises(CorruptFileError, match=r"b\.parquet.*expected at most 5 digits, got 0\.0100000"):
        list(stream([task(wide)], current))


@pytest.mark.parametrize(("precision", "scale"), CASES)
def test_append_refuses_these_scales_before_files_are_written(precision, scale):
    columns = Schema(NestedField(1, "id", LongType()), NestedField(2, "d", DecimalType(precision, scale)))
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", columns)
        rows = pa.table({"id": range(4), "d": array(precision, scale, values(scale))})
        with pytest.raises(FeatureUnsupportedError, match=f"column d of type decimal\\({precision}, {scale}\\)"):
            table.append(rows)
        assert not list(Path(table.location()).rglob("*.parquet"))
        assert table.scan().to_arrow().schema.field("d").type == pa.decimal128(precision, scale)


@pytest.mark.parametrize(("precision", "scale"), CASES[:2])
def test_scan_prunes_decimals_of_these_scales_by_bounds_and_partitions(tmp_path, precision, scale):
    columns = Schema(NestedField(1, "id", LongType()), NestedField(2, "d", DecimalType(precision, scale)))
    kind = DecimalType(precision, scale)
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", columns)
        with table.update_spec() as update:
            update.add_identity("d")
            update.add_field("d", BucketTransform(4), "b")
            update.add_field("d", TruncateTransform(10), "t")
        spec = table.spec()
        for place, unscaled in enumerate((7, 123)):
            value = Decimal(unscaled).scaleb(-scale)
            path = Path(table.location(), "data", f"{place}.avro")
            path.parent.mkdir(parents=True, exist_ok=True)
            avro_file(path, precision, scale, fixed=True)
            tuple_of = [
                to_json_value(kind, value),
                BucketTransform(4).transform(kind)(value),
                to_json_value(kind, TruncateTransform(10).transform(kind)(value)),
            ]
            row = {
                "content": 0,
                "spec_id": spec.spec_id,
                "partition": json.dumps(tuple_of),
                "file_path": str(path),
                "file_format": "AVRO",
                "record_count": 4,
                "file_size_in_bytes": path.stat().st_size,
                "lower_bounds": [(2, to_bytes(kind, value))],
                "upper_bounds": [(2, to_bytes(kind, value))],
            }
            like = {name: pa.array([row[name]]) for name in list(row)[:7]}
            like |= {name: like[name].cast(pa.int32()) for name in ("content", "spec_id")}
            bounds = pa.map_(pa.int32(), pa.binary())
            like |= {name: pa.array([row[name]], bounds) for name in ("lower_bounds", "upper_bounds")}
            table.new_append().append(pa.RecordBatch.from_pydict(like)).commit()
        text = to_json_value(kind, Decimal(123).scaleb(-scale))
        assert [task.file_path[-6:] for task in table.scan(f"d = {text}").plan_files()] == ["1.avro"]
        assert len(list(table.scan(f"d < {text}").plan_files())) == 1
        assert table.inspect.partitions().num_rows == 2
