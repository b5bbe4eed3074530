"""A table whose every file is on S3."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import StorageError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField, StringType

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "kind", StringType()),
    NestedField(3, "note", StringType()),
)
SPEC = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))
KINDS = ["a b", "100%", "c#1", "d/e", None]


def rows(start: int, stop: int) -> pa.Table:
    ids = range(start, stop)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "kind": pa.array([KINDS[i % len(KINDS)] for i in ids], pa.string()),
            "note": pa.array([f"note {i * 7919 % 1000}" for i in ids], pa.string()),
        },
        schema=pa.schema([pa.field("id", pa.int64(), nullable=False), ("kind", pa.string()), ("note", pa.string())]),
    )


def make_catalog(s3, bucket, directory, **others):
    properties = {**s3.properties(), **others}
    made = load_catalog(
        "lake", type="sql", uri=f"sqlite:///{directory}/c.db", warehouse=f"s3://{bucket}/warehouse", **properties
    )
    made.create_namespace_if_not_exists("db")
    return made


@pytest.fixture
def catalog(s3, bucket, tmp_path):
    return make_catalog(s3, bucket, tmp_path)


def ids(scan):
    return sorted(scan.to_arrow()["id"].to_pylist())


def test_table_lives_on_s3(s3, catalog, bucket):
    table = catalog.create_table("db.t", SCHEMA, partition_spec=SPEC)
    assert table.location().startswith(f"s3://{bucket}/warehouse/")
    table.append(rows(0, 1_000))
    first = table.current_snapshot().snapshot_id
    table.append(rows(1_000, 1_100))
    assert ids(table.scan()) == list(range(1_100))
    assert ids(table.scan(row_filter="kind = '100%' and id < 50")) == [i for i in range(50) if i % 5 == 1]
    table.delete("id >= 900")
    assert ids(table.scan()) == list(range(900))
    assert ids(table.scan(snapshot_id=first)) == list(range(1_000))
    table.overwrite(rows(5, 10))
    assert ids(catalog.load_table("db.t").scan()) == [5, 6, 7, 8, 9]
    assert table.scan().count() == 5
    assert sorted(table.scan().to_arrow()["kind"].to_pylist(), key=str) == sorted(KINDS, key=str)


def test_rows_come_back_whole_from_files_of_many_requests(catalog):
    properties = {"write.parquet.row-group-size-bytes": "400000", "write.parquet.page-size-bytes": "16000"}
    table = catalog.create_table("db.large", SCHEMA, properties=properties)
    table.append(rows(0, 300_000))
    scanned = table.scan(selected_fields=("id", "note")).to_arrow().sort_by("id")
    assert scanned.equals(rows(0, 300_000).select(["id", "note"]).cast(scanned.schema))
    assert ids(table.scan(row_filter="note = 'note 7'")) == [i for i in range(300_000) if i * 7919 % 1000 == 7]


def test_scan_requests_little_more_than_it_reads(s3, line, bucket, tmp_path):
    catalog = make_catalog(s3, bucket, tmp_path)
    catalog.create_table("db.t", SCHEMA).append(rows(0, 5_000))
    far = make_catalog(s3, bucket, tmp_path, **{"s3.endpoint": line.endpoint}).load_table("db.t")
    del line.requests[:]
    assert len(ids(far.scan())) == 5_000
    # The manifest list, the manifest, the data file in one piece.
    assert [request.method for request in line.requests] == ["GET"] * 3


def test_large_file_goes_up_in_parts(s3, line, bucket, tmp_path):
    catalog = make_catalog(
        s3, bucket, tmp_path, **{"s3.endpoint": line.endpoint, "s3.multipart.part-size-bytes": str(5 << 20)}
    )
    table = catalog.create_table("db.t", SCHEMA, properties={"write.parquet.compression-codec": "uncompressed"})
    table.append(random_rows())
    parts = [request for request in line.seen("PUT", "data/") if "partNumber=" in request.path]
    assert len(parts) > 3
    assert len(line.seen("POST", "uploadId=")) == 1
    assert table.scan().count() == 400_000
    assert len(ids(table.scan())) == 400_000


def random_rows() -> pa.Table:
    import numpy as np

    noise = np.frombuffer(np.random.default_rng(1).bytes(400_000 * 40), "S40")
    texts = pa.array([text.hex() for text in noise], pa.string())
    return rows(0, 400_000).set_column(2, "note", texts)


def test_upload_that_fails_leaves_nothing_behind(s3, line, bucket, tmp_path):
    catalog = make_catalog(
        s3, bucket, tmp_path, **{"s3.endpoint": line.endpoint, "s3.multipart.part-size-bytes": str(5 << 20)}
    )
    table = catalog.create_table("db.t", SCHEMA, properties={"write.parquet.compression-codec": "uncompressed"})
    line.fault = lambda request: 503 if "partNumber=3" in request.path else None
    with pytest.raises(StorageError, match=r"data/.*503"):
        table.append(random_rows())
    assert line.seen("DELETE", "uploadId=")[-1].status == 204
    assert table.refresh().current_snapshot() is None
    assert "/data/" not in " ".join(table.io.core.list(table.location())["location"].to_pylist())


def test_completion_whose_reply_is_lost_has_happened(s3, line, bucket, tmp_path):
    catalog = make_catalog(
        s3, bucket, tmp_path, **{"s3.endpoint": line.endpoint, "s3.multipart.part-size-bytes": str(5 << 20)}
    )
    table = catalog.create_table("db.t", SCHEMA, properties={"write.parquet.compression-codec": "uncompressed"})
    line.fault = lambda request: (
        "mute"
        if "uploadId=" in request.path and request.method == "POST" and len(line.seen("POST", "uploadId=")) == 1
        else None
    )
    table.append(random_rows())
    assert table.scan().count() == 400_000


def test_every_commit_survives_lost_replies(s3, line, bucket, tmp_path):
    catalog = make_catalog(s3, bucket, tmp_path, **{"s3.endpoint": line.endpoint})
    table = catalog.create_table("db.t", SCHEMA, partition_spec=SPEC)
    line.fault = lambda request: "mute" if request.method == "PUT" and len(line.seen("PUT")) % 2 == 0 else None
    for number in range(5):
        table.append(rows(number * 10, number * 10 + 10))
    line.fault = None
    assert ids(catalog.load_table("db.t").scan()) == list(range(50))


def test_plan_travels_with_what_it_takes_to_read_it(catalog):
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(0, 10))
    tasks = pickle.loads(pickle.dumps(list(table.scan().plan_files())))
    assert [task.record_count for task in tasks] == [10]
    assert "secret-of-user1" not in repr(tasks) + repr(table) + repr(table.io) + repr(catalog)


def test_two_writers_of_one_table_lose_nothing(s3, catalog, bucket, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    catalog.create_table("db.t", SCHEMA)

    def append(number: int) -> None:
        made = make_catalog(s3, bucket, tmp_path)
        made.load_table("db.t").append(rows(number * 10, number * 10 + 10))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(8)))
    assert ids(catalog.load_table("db.t").scan()) == list(range(80))
