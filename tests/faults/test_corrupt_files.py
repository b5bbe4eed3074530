"""Bad bytes are told, by file, and change nothing."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import CorruptFileError, IcebergError, MissingFileError

SCHEMA = pa.schema([("id", pa.int64())])


@pytest.fixture
def table(shared_catalog):
    made = shared_catalog.create_table("db.t", SCHEMA)
    made.append(pa.table({"id": [1, 2, 3]}))
    made.append(pa.table({"id": [4]}))
    return made


def newest(table, pattern):
    return max((Path(table.location()) / "metadata").glob(pattern), key=lambda path: path.stat().st_mtime_ns)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format-version": 2}'], ids=repr)
def test_metadata_that_is_no_metadata_is_told(shared_catalog, table, content):
    Path(table.metadata_location).write_bytes(content)
    with pytest.raises(CorruptFileError, match=Path(table.metadata_location).name):
        shared_catalog.load_table("db.t")


@pytest.mark.parametrize("pattern", ["snap-*.avro", "*-m0.avro"], ids=["list", "manifest"])
def test_truncated_avro_is_told_by_scan_and_by_change(shared_catalog, table, pattern):
    path = newest(table, pattern)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    for act in (lambda: table.scan().to_arrow(), lambda: table.delete("id = 1")):
        with pytest.raises(CorruptFileError, match=path.name):
            act()
    path.write_bytes(whole)
    assert shared_catalog.load_table("db.t").metadata_location == table.metadata_location
    assert table.scan().count() == 4


@pytest.mark.parametrize("pattern", ["snap-*.avro", "*-m0.avro"], ids=["list", "manifest"])
def test_flipped_byte_is_told_or_harmless(table, pattern):
    path = newest(table, pattern)
    whole = path.read_bytes()
    told = 0
    for offset in range(0, len(whole), 37):
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ 0xFF]) + whole[offset + 1 :])
        try:
            rows = table.scan().to_arrow().num_rows
        except IcebergError:
            told += 1
        else:
            assert rows in (1, 3, 4)
    path.write_bytes(whole)
    assert told > 0


def test_missing_manifest_is_told(table):
    path = newest(table, "*-m0.avro")
    path.unlink()
    with pytest.raises(MissingFileError, match=path.name):
        table.scan().to_arrow()
