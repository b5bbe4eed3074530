"""Data files as other readers see them."""

import json
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError

from tests.unit.core_write.write_cases import (
    EVERY_TYPE,
    every_type_table,
    field,
    field_ids,
    leaves,
    read,
    schema_of,
    write,
)


@pytest.mark.recent_pyarrow
def test_every_type_reads_back_equal_with_an_id_on_every_node(tmp_path):
    table = every_type_table()
    (written,) = write(tmp_path, table, EVERY_TYPE)
    parquet = pq.ParquetFile(written["file_path"])
    ids = field_ids(parquet)
    assert {ids[column["name"]] for column in EVERY_TYPE["fields"]} == {c["id"] for c in EVERY_TYPE["fields"]}
    nested = {"list.element": 18, "map.key": 20, "map.value": 21, "point.x": 23, "point.tag": 24}
    assert {path: ids[path] for path in nested} == nested
    back = parquet.read()
    for name in table.column_names:
        expected = table[name].to_pylist()
        if name == "uid":
            expected = [None if one is None else uuid.UUID(bytes=one) for one in expected]
        assert back[name].to_pylist() == expected, name
    assert parquet.schema.column(0).path == "flag"
    assert "table {" in str(parquet.schema)
    assert json.loads(parquet.metadata.metadata[b"iceberg.schema"])["fields"][1]["id"] == 2


def test_file_facts_match_the_file(tmp_path):
    (written,) = write(tmp_path, every_type_table(), EVERY_TYPE)
    path = Path(written["file_path"])
    assert path.parent == tmp_path / "data"
    assert path.name == "00003-11-op-00001.parquet"
    assert written["file_size_in_bytes"] == path.stat().st_size
    assert written["record_count"] == 50
    assert (written["content"], written["file_format"], written["partition"]) == (0, "PARQUET", "[]")
    assert written["split_offsets"] == [4]
    assert written["sort_order_id"] == 0


def test_failure_half_way_removes_the_files_already_written(tmp_path):
    def batches():
        for _ in range(20):
            yield pa.record_batch({"x": pa.array(range(50_000), pa.int64())})
        raise RuntimeError("the source broke")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches())
    with pytest.raises(ValidationError, match="the source broke"):
        write(tmp_path, reader, schema_of(field(1, "x", "long")), write__target_file_size_bytes="50000")
    assert leaves(tmp_path) == []


@pytest.mark.parametrize("codec", ["zstd", "gzip", "snappy", "lz4_raw", "brotli", "uncompressed"])
def test_compression_codec_is_the_tables(tmp_path, codec):
    table = pa.table({"x": pa.array(range(1000), pa.int64())})
    properties = {"write__parquet__compression_codec": codec}
    (written,) = write(tmp_path, table, schema_of(field(1, "x", "long")), **properties)
    column = pq.ParquetFile(written["file_path"]).metadata.row_group(0).column(0)
    assert column.compression == {"lz4_raw": "LZ4"}.get(codec, codec.upper())
    assert read([written])["x"].equals(table["x"])


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"write__parquet__compression_codec": "rar"}, ValidationError),
        ({"write__target_file_size_bytes": "big"}, ValidationError),
        ({"write__metadata__metrics__default": "some"}, ValidationError),
        ({"write__format__default": "lance"}, FeatureUnsupportedError),
        ({"write__object_storage__path": "x"}, ValidationError),
    ],
)
def test_properties_that_make_no_sense_are_refused(tmp_path, properties, error):
    with pytest.raises(error):
        write(tmp_path, pa.table({"x": [1]}), schema_of(field(1, "x", "long")), **properties)
    assert leaves(tmp_path) == []
