"""Tables that icefloe writes, read by others; tables that others write, read by icefloe. All agree on the rows."""

import datetime as dt
import warnings

import duckdb
import duckdb_extensions
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import StaticTable
from icefloe.transforms import BucketTransform, YearTransform
from icefloe.types import DateType, DecimalType, DoubleType, LongType, NestedField, StringType

pytestmark = pytest.mark.interop

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day", DateType()),
    NestedField(3, "price", DecimalType(12, 2)),
    NestedField(4, "weight", DoubleType()),
    NestedField(5, "note", StringType()),
)
SPEC = PartitionSpec(
    PartitionField(2, 1000, YearTransform(), "day_year"), PartitionField(1, 1001, BucketTransform(4), "id_bucket")
)


def rows(ids, note):
    ids = list(ids)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "day": pa.array(
                [None if i % 7 == 0 else dt.date(1993, 1, 1) + dt.timedelta(days=i) for i in ids], pa.date32()
            ),
            "price": pa.array([i / 4 for i in ids], pa.float64()).cast(pa.decimal128(12, 2)),
            "weight": pa.array([None if i % 5 == 0 else i / 3 for i in ids], pa.float64()),
            "note": pa.array([note] * len(ids), pa.string()),
        }
    )


def sorted_rows(table):
    return pa.table(table).select(["id", "note", "weight"]).sort_by("id").to_pylist()


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def changed_table(request, tmp_path):
    """A partitioned table after appends, a merge and a delete."""
    catalog = load_catalog("cat", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/w")
    catalog.create_namespace("db")
    modes = {"write.delete.mode": request.param, "write.merge.mode": request.param}
    table = catalog.create_table("db.t", SCHEMA, partition_spec=SPEC, properties=modes)
    table.append(rows(range(500), "first"))
    table.append(rows(range(500, 700), "second"))
    table.merge(rows(range(650, 750), "merged"), on=["id"]).when_matched_update().when_not_matched_insert().execute()
    table.delete("id >= 40 and id < 60")
    return table


@pytest.fixture
def duckdb_with_iceberg():
    with duckdb.connect() as connection:
        for name in ("avro", "iceberg"):
            duckdb_extensions.import_extension(name, con=connection)
            connection.load_extension(name)
        yield connection


def test_pyiceberg_reads_the_same_rows(changed_table):
    from pyiceberg.table import StaticTable as PeerTable

    peer = PeerTable.from_metadata(changed_table.metadata_location)
    assert sorted_rows(peer.scan().to_arrow()) == sorted_rows(changed_table.scan().to_arrow())
    assert peer.current_snapshot().summary["total-records"] == changed_table.current_snapshot().summary["total-records"]


def test_pyiceberg_filters_to_the_same_rows(changed_table):
    from pyiceberg.table import StaticTable as PeerTable

    peer = PeerTable.from_metadata(changed_table.metadata_location)
    for text in (
        "id < 100",
        "day >= '1994-01-01' and day < '1994-06-01'",
        "note = 'merged'",
        "weight is null",
        "day is null",
    ):
        expected = sorted_rows(peer.scan(row_filter=text).to_arrow())
        assert sorted_rows(changed_table.scan(text).to_arrow()) == expected, text
        assert changed_table.scan(text).count() == len(expected), text


def test_duckdb_reads_the_same_rows(changed_table, duckdb_with_iceberg):
    query = f"select id, note, weight from iceberg_scan('{changed_table.metadata_location}')"
    table = duckdb_with_iceberg.execute(query).to_arrow_table()
    assert sorted_rows(table) == sorted_rows(changed_table.scan().to_arrow())


def test_pyiceberg_core_reads_the_same_rows(changed_table):
    datafusion = pytest.importorskip("datafusion")
    core = pytest.importorskip("pyiceberg_core.datafusion")
    provider = core.IcebergDataFusionTable(
        identifier=["db", "t"], metadata_location=changed_table.metadata_location, file_io_properties={}
    )
    context = datafusion.SessionContext()
    context.register_table("t", provider)
    table = context.sql("select id, note, weight from t").to_arrow_table()
    assert sorted_rows(table) == sorted_rows(changed_table.scan().to_arrow())


def test_table_of_pyiceberg_is_read_and_changed(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog as PeerCatalog

    uri, warehouse = f"sqlite:///{tmp_path}/c.db", str(tmp_path / "w")
    peer_catalog = PeerCatalog("cat", uri=uri, warehouse=f"file://{warehouse}")
    peer_catalog.create_namespace("db")
    data = rows(range(300), "peer")
    peer = peer_catalog.create_table("db.t", schema=data.schema)
    with peer.update_spec() as update:
        update.add_field("id", _peer_bucket(), "id_bucket")
    peer.append(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.delete("id < 10")
    table = load_catalog("cat", type="sql", uri=uri, warehouse=warehouse).load_table("db.t")
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(data.slice(10))
    assert table.scan("id = 77").to_arrow().num_rows == 1
    table.append(rows(range(300, 310), "ours"))
    table.delete("id >= 100 and id < 200")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.refresh().append(rows(range(310, 320), "peer again"))
    ours, theirs = table.refresh().scan().to_arrow(), peer.refresh().scan().to_arrow()
    assert ours.num_rows == 210
    assert sorted_rows(ours) == sorted_rows(theirs)


def _peer_bucket():
    from pyiceberg.transforms import BucketTransform as PeerBucket

    return PeerBucket(4)


def test_hadoop_table_is_read_by_directory(tmp_path, duckdb_with_iceberg):
    catalog = load_catalog("cat", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(range(20), "x"))
    assert StaticTable.from_metadata(table.location()).scan().count() == 20
    counted = duckdb_with_iceberg.execute(f"select count(*) from iceberg_scan('{table.location()}')")
    assert counted.fetchone() == (20,)
