"""Corrupt metadata, manifest lists and manifests: errors contain the file name, and no read returns wrong rows."""

import io
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from icefloe.exceptions import CorruptFileError, IcebergError, MissingFileError

SCHEMA = pa.schema([("id", pa.int64())])
FIRST, SECOND = [1, 2, 3], [4]
DELETED = 2
SYNC_BYTES = 16
COUNTS = ("added_files_count", "existing_files_count")


@pytest.fixture
def table(shared_catalog):
    made = shared_catalog.create_table("db.t", SCHEMA)
    made.append(pa.table({"id": FIRST}))
    made.append(pa.table({"id": SECOND}))
    return made


@pytest.fixture(params=["snap-*.avro", "*-m0.avro"], ids=["list", "manifest"])
def avro_file(request, table):
    """The path of the manifest list of the current snapshot, or of the manifest of the last append."""
    return newest(table, request.param)


def newest(table, pattern):
    return max((Path(table.location()) / "metadata").glob(pattern), key=lambda path: path.stat().st_mtime_ns)


def rows_of(table):
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def flipped(data, offset, mask):
    return data[:offset] + bytes([data[offset] ^ mask]) + data[offset + 1 :]


def framing_offsets(data):
    """Return the offsets of an Avro file's magic bytes and of its sync markers, in the header and after the only block."""
    sync = data[-SYNC_BYTES:]
    starts = [start for start in range(len(data)) if data.startswith(sync, start)]
    assert len(starts) == 2
    return [*range(4), *(offset for start in starts for offset in range(start, start + SYNC_BYTES))]


def stated_rows(table, data):
    """Return the live rows of a manifest list or manifest as decoded by fastavro, or all rows if fastavro raises an error.

    A flipped byte may turn a valid value into another valid value. Two values make files not live: the counts of a
    manifest list and the status of a manifest entry.
    """
    try:
        records = list(fastavro.reader(io.BytesIO(data)))
    except Exception:  # noqa: BLE001 - any error of the other reader
        return [*FIRST, *SECOND]
    if "manifest_path" in records[0]:
        paths = [entry["path"] for entry in table.inspect.manifests().to_pylist()]
        of_manifest = dict(
            zip(sorted(paths, key=lambda path: Path(path).stat().st_mtime_ns), (FIRST, SECOND), strict=True)
        )
        return sorted(
            row
            for record in records
            if any(record.get(count) != 0 for count in COUNTS)
            for row in of_manifest.get(record.get("manifest_path"), [])
        )
    return [*FIRST, *(SECOND if records[0].get("status") != DELETED else [])]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"format-version": 2}'], ids=repr)
def test_corrupt_metadata_is_an_error_with_the_file_name(shared_catalog, table, content):
    Path(table.metadata_location).write_bytes(content)
    with pytest.raises(CorruptFileError, match=Path(table.metadata_location).name):
        shared_catalog.load_table("db.t")


def test_truncated_avro_file_fails_scans_and_changes(shared_catalog, table, avro_file):
    whole = avro_file.read_bytes()
    avro_file.write_bytes(whole[: len(whole) // 2])
    for act in (lambda: table.scan().to_arrow(), lambda: table.delete("id = 1")):
        with pytest.raises(CorruptFileError, match=avro_file.name):
            act()
    avro_file.write_bytes(whole)
    assert shared_catalog.load_table("db.t").metadata_location == table.metadata_location
    assert rows_of(table) == [*FIRST, *SECOND]


def test_flipped_byte_of_avro_framing_is_an_error_with_the_file_name(table, avro_file):
    whole = avro_file.read_bytes()
    for offset in framing_offsets(whole):
        avro_file.write_bytes(flipped(whole, offset, 0xFF))
        with pytest.raises(CorruptFileError, match=avro_file.name):
            rows_of(table)


def test_flipped_byte_returns_the_stated_rows_or_is_an_error(table, avro_file):
    whole = avro_file.read_bytes()
    assert stated_rows(table, whole) == [*FIRST, *SECOND]
    errors = 0
    for offset in range(0, len(whole), 7):
        data = flipped(whole, offset, 0xFF)
        avro_file.write_bytes(data)
        try:
            rows = rows_of(table)
        except IcebergError:
            errors += 1
            continue
        avro_file.write_bytes(whole)
        assert rows == stated_rows(table, data), f"byte {offset}"
    assert errors > 0


def test_missing_manifest_is_an_error_with_the_file_name(table):
    path = newest(table, "*-m0.avro")
    path.unlink()
    with pytest.raises(MissingFileError, match=path.name):
        table.scan().to_arrow()
