"""Tables that PyIceberg writes, read here with its own answer: types, partitions, evolution, its deletes and overwrites."""

from __future__ import annotations

import datetime as dt
import uuid
import warnings
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.table import StaticTable
from pyiceberg import transforms
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from tests.exact_rows import exact

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "yes", BooleanType()),
    NestedField(3, "i", IntegerType()),
    NestedField(4, "f", FloatType()),
    NestedField(5, "d", DoubleType()),
    NestedField(6, "price", DecimalType(9, 2)),
    NestedField(7, "large", DecimalType(38, 5)),
    NestedField(8, "day", DateType()),
    NestedField(9, "clock", TimeType()),
    NestedField(10, "moment", TimestampType()),
    NestedField(11, "instant", TimestamptzType()),
    NestedField(12, "s", StringType()),
    NestedField(13, "u", UUIDType()),
    NestedField(14, "three", FixedType(3)),
    NestedField(15, "b", BinaryType()),
    NestedField(16, "point", StructType(NestedField(17, "x", IntegerType()), NestedField(18, "y", StringType()))),
    NestedField(19, "list", ListType(20, IntegerType(), element_required=False)),
    NestedField(21, "map", MapType(22, StringType(), 23, IntegerType(), value_required=False)),
    NestedField(24, "structs", ListType(25, StructType(NestedField(26, "a", LongType())), element_required=False)),
)
FLOATS = [float("nan"), float("-inf"), -0.0, 0.0, 1.5]


def row(n: int) -> dict:
    moment = dt.datetime(1969, 12, 31, 22) + dt.timedelta(minutes=37 * n, microseconds=n)
    values = {
        "yes": n % 2 == 0,
        "i": n * 7 - 50,
        "f": FLOATS[n % 5],
        "d": FLOATS[n % 4] if n % 3 else n / 7,
        "price": Decimal(n * 125 - 5000).scaleb(-2),
        "large": Decimal(n * 10**20).scaleb(-5),
        "day": dt.date(1969, 12, 20) + dt.timedelta(days=n),
        "clock": (dt.datetime.min + dt.timedelta(minutes=n, microseconds=1)).time(),
        "moment": moment,
        "instant": moment.replace(tzinfo=dt.timezone.utc),
        "s": f"text é😀 {n}",
        "u": uuid.UUID(int=n * 2**100).bytes,
        "three": bytes([n, 0, 255]),
        "b": bytes(range(n % 5)),
        "point": {"x": n, "y": None if n % 2 else f"y{n}"},
        "list": [] if n % 2 else [n, None],
        "map": [("k", n), ("n", None)],
        "structs": [{"a": n}, None],
    }
    kept = {name: None if (n + place) % 9 == 0 else value for place, (name, value) in enumerate(values.items())}
    return {"id": n, **kept}


def rows(schema: Schema, numbers) -> pa.Table:
    return pa.Table.from_pylist([row(n) for n in numbers], schema=schema.as_arrow())


@pytest.fixture
def create(tmp_path):
    catalog = SqlCatalog("cat", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/w")
    catalog.create_namespace("db")
    yield lambda schema=SCHEMA, **options: catalog.create_table("db.t", schema, **options)
    catalog.engine.dispose()


def agree(peer, *filters: str) -> None:
    """Compare all rows, the rows of every snapshot, and the rows of filters."""
    ours = StaticTable.from_metadata(peer.metadata_location)
    assert exact(ours.scan().to_arrow()) == exact(peer.scan().to_arrow())
    assert ours.scan().count() == peer.scan().count()
    for snapshot in peer.metadata.snapshots:
        expected = peer.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
        found = ours.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
        assert found.column_names == expected.column_names
        assert exact(found) == exact(expected)
    if "f" in ours.schema().column_names:
        # PyIceberg prunes files that hold NaN.
        every = peer.scan().to_arrow()
        assert exact(ours.scan("f is nan").to_arrow()) == exact(every.filter(pc.is_nan(every["f"])))
    for text in filters:
        expected = exact(peer.scan(text).to_arrow())
        assert exact(ours.scan(text).to_arrow()) == expected, text
        assert ours.scan(text).count() == len(expected), text


FILTERS = (
    "id >= 20",
    "yes = true",
    "i in (-50, 13, 6)",
    "d < 1.0",
    "price >= -10.50 and price < 0.00",
    "day < '1970-01-01'",
    "moment > '1969-12-31T23:59:59'",
    "instant <= '1970-01-01T00:00:00+00:00'",
    "s = 'text é😀 5'",
    "s is null or id = 3",
    "point.x = 4",
    "large is null",
)


@pytest.mark.parametrize("version", ["1", "2"])
def test_every_type(create, version):
    peer = create(properties={"format-version": version})
    peer.append(rows(peer.schema(), range(30)))
    agree(peer, *FILTERS)


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "uncompressed", "brotli"])
def test_every_codec(create, codec):
    peer = create(properties={"write.parquet.compression-codec": codec})
    peer.append(rows(peer.schema(), range(5)))
    agree(peer, "id > 2")


SPECS = {
    "identity": [("i", transforms.IdentityTransform()), ("s", transforms.IdentityTransform())],
    "identity of times": [("day", transforms.IdentityTransform()), ("moment", transforms.IdentityTransform())],
    "bucket": [
        ("id", transforms.BucketTransform(3)),
        ("s", transforms.BucketTransform(2)),
        ("price", transforms.BucketTransform(2)),
    ],
    "truncate": [("i", transforms.TruncateTransform(10)), ("s", transforms.TruncateTransform(7))],
    "calendar": [
        ("day", transforms.MonthTransform()),
        ("moment", transforms.DayTransform()),
        ("instant", transforms.YearTransform()),
    ],
    "hours": [("instant", transforms.HourTransform())],
    "void": [("i", transforms.VoidTransform()), ("yes", transforms.IdentityTransform())],
}


@pytest.mark.parametrize("name", SPECS)
def test_every_transform(create, name):
    fields = [
        PartitionField(SCHEMA.find_field(source).field_id, 1000 + place, transform, f"part_{place}")
        for place, (source, transform) in enumerate(SPECS[name])
    ]
    peer = create(partition_spec=PartitionSpec(*fields))
    peer.append(rows(peer.schema(), range(30)))
    peer.delete("id in (3, 4, 28)")
    agree(peer, *FILTERS)


def test_every_step_of_evolution(create):
    peer = create(properties={"format-version": "2"})
    peer.append(rows(peer.schema(), range(8)))
    with peer.update_schema() as update:
        update.add_column("new", IntegerType())
        update.add_column(("point", "z"), DoubleType())
        update.delete_column("yes")
        update.rename_column("s", "text")
        update.update_column("i", LongType())
        update.update_column("f", DoubleType())
        update.update_column("price", DecimalType(20, 2))
        update.move_first("s")
        update.make_column_optional("id")
    agree(peer, "new is null", "text = 'text é😀 5'", "i = -50", "price < -40.00")
    with peer.update_schema() as update:
        update.add_column("yes", StringType())
        update.delete_column(("point", "x"))
        update.rename_column("point.y", "x")
    with peer.update_spec() as update:
        update.add_field("i", transforms.BucketTransform(4), "i_bucket")
    more = peer.scan().to_arrow().set_column(0, "text", pa.array([f"more {n}" for n in range(8)]))
    peer.append(more.set_column(more.column_names.index("yes"), "yes", pa.array(["yes"] * 8)))
    with peer.update_spec() as update:
        update.remove_field("i_bucket")
        update.add_identity("yes")
    peer.append(more)
    peer.delete("text = 'more 3'")
    agree(peer, "yes = 'yes'", "yes is null", "i < 0", "point.x = 'y4'", "text like 'more%'")


def test_its_deletes_overwrites_and_upserts(create):
    narrow = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "s", StringType()),
        NestedField(3, "n", IntegerType()),
        identifier_field_ids=[1],
    )
    spec = PartitionSpec(PartitionField(2, 1000, transforms.IdentityTransform(), "s"))
    peer = create(narrow, partition_spec=spec)

    def some(numbers, text, n=None):
        found = [{"id": each, "s": text, "n": each % 5 if n is None else n} for each in numbers]
        return pa.Table.from_pylist(found, schema=narrow.as_arrow())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.append(some(range(10), "a"))
        peer.append(some(range(10, 20), "b"))
        peer.append(some(range(20, 25), None))
        peer.delete("n = 3")
        peer.dynamic_partition_overwrite(some(range(30, 33), "b"))
        peer.overwrite(some(range(40, 42), "c"), overwrite_filter="id < 4")
        peer.upsert(some(range(5, 50, 15), "a", n=100))
        with peer.manage_snapshots() as manage:
            manage.create_tag(peer.current_snapshot().snapshot_id, "tagged").create_branch(
                peer.metadata.snapshots[0].snapshot_id, "side"
            )
        peer.append(some(range(60, 62), "d"), branch="side")
        peer.delete("s is null")
    agree(peer, "s = 'a'", "n >= 4", "s is null", "id in (5, 20, 41)")
    ours = StaticTable.from_metadata(peer.metadata_location)
    for ref in ("tagged", "side"):
        expected = peer.scan(snapshot_id=peer.snapshot_by_name(ref).snapshot_id).to_arrow()
        assert exact(ours.scan().use_ref(ref).to_arrow()) == exact(expected)


def bare(kind: pa.DataType) -> pa.DataType:
    """An Arrow type whose fields carry no ids."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(each.name, bare(each.type)) for each in kind])
    if pa.types.is_map(kind):
        return pa.map_(bare(kind.key_type), bare(kind.item_type))
    return pa.list_(bare(kind.value_type)) if pa.types.is_list(kind) or pa.types.is_large_list(kind) else kind


def test_files_added_without_ids(create, tmp_path):
    """PyIceberg adds plain files under a name mapping."""
    import pyarrow.parquet as pq

    plain = Schema(*(field for field in SCHEMA.fields if field.name not in {"u", "three", "structs"}))
    peer = create(plain)
    data = rows(peer.schema(), range(12))
    without_ids = pa.schema([pa.field(each.name, bare(each.type), each.nullable) for each in data.schema])
    path = str(tmp_path / "plain.parquet")
    pq.write_table(pa.Table.from_pylist(data.to_pylist(), schema=without_ids), path)
    peer.add_files([path])
    agree(peer, "id >= 4", "s is null", "point.x = 4")
    with peer.update_schema() as update:
        update.rename_column("s", "text")
    agree(peer, "text is null", "text = 'text é😀 5'")


def test_sorted_tables_and_metadata_in_gzip(create):
    order = SortOrder(SortField(3, transforms.IdentityTransform()))
    peer = create(
        sort_order=order, properties={"write.metadata.compression-codec": "gzip", "write.parquet.row-group-limit": "4"}
    )
    peer.append(rows(peer.schema(), range(30)))
    agree(peer, *FILTERS)
