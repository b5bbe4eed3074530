"""Avro and ORC files in S3: in one request where they are small, from end to end where they are not."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import CorruptFileError, MissingFileError
from pyarrow import orc

from tests.unit.core_scan.avro_tables import avro_field, avro_task, write_avro
from tests.unit.scan_tables import DELETES, FILES, ID, arrow_field, context, field, schema, write

DATA = field(2, "data", "binary")


def rows_of(io: _core.FileIo, task: dict[str, object], *columns: dict[str, object]) -> pa.Table:
    files = pa.RecordBatch.from_pylist([task], schema=FILES)
    deletes = pa.RecordBatch.from_pylist([], schema=DELETES)
    wanted = schema(*columns)
    stream = _core.read(io, context(schema(ID, DATA)), files, deletes, projection=json.dumps(wanted))
    return pa.Table.from_batches(list(stream), schema=stream.schema)


def uploaded(io: _core.FileIo, bucket: str, path: Path) -> str:
    location = f"s3://{bucket}/{path.name}"
    io.write(location, path.read_bytes(), overwrite=False)
    return location


def avro(path: Path, count: int, size: int) -> Path:
    fields = [avro_field(1, "id", "long"), avro_field(2, "data", "bytes")]
    rows = [{"id": i, "data": bytes([i % 251]) * size} for i in range(count)]
    return Path(write_avro(path, fields, rows, codec="null"))


def orc_file(path: Path, count: int, size: int) -> Path:
    columns = [
        pa.field("id", pa.int64(), metadata={"iceberg.id": "1"}),
        pa.field("data", pa.binary(), metadata={"iceberg.id": "2"}),
    ]
    values = [list(range(count)), [bytes([i % 251]) * size for i in range(count)]]
    table = pa.table([pa.array(v, f.type) for v, f in zip(values, columns, strict=True)], schema=pa.schema(columns))
    orc.write_table(table, str(path), compression="uncompressed", stripe_size=1 << 20, dictionary_key_size_threshold=0)
    return path


def parquet(path: Path, count: int, size: int) -> Path:
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(count)),
        arrow_field(2, "data", pa.binary()): [bytes([i % 251]) * size for i in range(count)],
    }
    return Path(write(path, columns, row_group_size=50, compression="none", use_dictionary=False))


@pytest.mark.parametrize(("make", "name"), [(avro, "a.avro"), (orc_file, "a.orc")])
@pytest.mark.parametrize(("count", "size"), [(1_000, 10), (200, 100_000)])
def test_files_are_read_with_few_requests(io, far_io, line, bucket, tmp_path, make, name, count, size):
    path = make(tmp_path / name, count, size)
    location = uploaded(io, bucket, path)
    task = avro_task(location, count, file_format=path.suffix[1:].upper(), length=path.stat().st_size)
    found = rows_of(far_io, task, ID, DATA)
    assert found["id"].to_pylist() == list(range(count))
    assert found["data"].to_pylist() == [bytes([i % 251]) * size for i in range(count)]
    assert len(line.requests) <= 3 + 2 * path.stat().st_size / (1 << 20)
    assert rows_of(far_io, task, ID)["id"].to_pylist() == list(range(count))


def test_long_avro_file_is_counted_while_it_is_read(io, bucket, tmp_path):
    path = avro(tmp_path / "a.avro", 200, 100_000)
    location = uploaded(io, bucket, path)
    length = path.stat().st_size
    for count in (199, 201):
        with pytest.raises(CorruptFileError, match=f"expected {count} rows by the table's metadata, got "):
            rows_of(io, avro_task(location, count, length=length), ID)


@pytest.mark.parametrize("factor", [0, 0.1, 3])
@pytest.mark.parametrize(("make", "name"), [(avro, "a.avro"), (orc_file, "a.orc"), (parquet, "a.parquet")])
@pytest.mark.parametrize(("count", "size"), [(1_000, 10), (200, 100_000)])
def test_scan_reads_all_rows_of_a_remote_file_whose_stated_size_is_wrong(
    io, bucket, tmp_path, make, name, count, size, factor
):
    path = make(tmp_path / name, count, size)
    stated = int(path.stat().st_size * factor)
    file_format = path.suffix[1:].upper()
    location = uploaded(io, bucket, path)
    task = avro_task(location, count, file_format=file_format, file_size_in_bytes=stated, length=stated)
    assert rows_of(io, task, ID, DATA)["id"].to_pylist() == list(range(count))


@pytest.mark.parametrize("file_format", ["AVRO", "ORC"])
def test_missing_files_and_wrong_formats_are_different_errors(io, bucket, file_format):
    with pytest.raises(MissingFileError):
        rows_of(io, avro_task(f"s3://{bucket}/none", 1, file_format=file_format, length=9), ID)
    io.write(f"s3://{bucket}/text", b"no such file at all", overwrite=False)
    with pytest.raises(CorruptFileError, match="text"):
        rows_of(io, avro_task(f"s3://{bucket}/text", 1, file_format=file_format, length=19), ID)


@pytest.mark.parametrize(("make", "name"), [(avro, "a"), (orc_file, "b"), (parquet, "c")])
def test_existing_files_are_described_with_few_requests(io, far_io, line, bucket, tmp_path, make, name):
    path = make(tmp_path / name, 1_000, 10)
    location = uploaded(io, bucket, path)
    described, without_ids = _core.describe_data_files(far_io, [location], context=context(schema(ID, DATA)), spec_id=0)
    (row,) = described.to_pylist()
    formats = {"a": "AVRO", "b": "ORC", "c": "PARQUET"}
    assert (row["file_format"], row["record_count"], row["file_size_in_bytes"]) == (
        formats[name],
        1_000,
        path.stat().st_size,
    )
    assert without_ids == 0
    # The decoder of ORC files reads their end by itself.
    assert len(line.requests) == {"a": 1, "b": 2, "c": 1}[name]
