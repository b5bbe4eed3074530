"""Corrupt data and delete files: reads raise one error with file, table, snapshot and reason, and return no partial result."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, MissingFileError, SchemaMismatchError

ROWS = 1000
IDS = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
TEXTS = pa.field("s", pa.string(), metadata={"PARQUET:field_id": "2"})
DELETES = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "2147483545"}),
    ]
)


@pytest.fixture
def table():
    """A table of two data files and a delete file for the first 10 rows of the first data file."""
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        schema = pa.schema([("id", pa.int64()), ("s", pa.string())])
        made = catalog.create_table("db.t", schema, properties={"write.delete.mode": "merge-on-read"})
        for start in (0, ROWS):
            made.append(rows(start))
        made.delete("id < 10")
        yield made


def rows(start: int = 0, count: int = ROWS) -> pa.Table:
    return pa.table({"id": pa.array(range(start, start + count), pa.int64()), "s": ["text"] * count})


def written(table, *, deletes: bool) -> Path:
    """Return the path of the delete file, or of the data file that the delete file applies to."""
    [found] = Path(table.location(), "data").rglob("*-deletes.parquet")
    return found if deletes else Path(pq.read_table(found)["file_path"][0].as_py())


def assert_refused(table, path: Path, error: type[Exception], reason: str, *, of_columns: bool = False) -> None:
    """Check that every way to read raises an error with the path of a file.

    With `of_columns`, reads that do not decode the damaged columns are omitted: counts and scans of other columns.
    """
    snapshot = table.current_snapshot().snapshot_id
    scan = table.scan()
    reads = [scan.to_arrow, scan.to_arrow_batch_reader().read_all, table.scan("id >= 5").to_arrow]
    if not of_columns:
        reads += [scan.count, table.scan("id >= 5", selected_fields=("s",)).to_arrow]
    for read in reads:
        with pytest.raises(error, match=reason) as caught:
            read()
        assert str(path) in str(caught.value)
        assert f"snapshot {snapshot} of db.t" in str(caught.value)
    for take in (scan.to_polars, lambda: pa.table(scan)):
        with pytest.raises(Exception, match=path.name) as caught:
            take()
        assert re.search(reason, str(caught.value))
        assert f"snapshot {snapshot} of db.t" in str(caught.value)


def overwritten(path: Path, columns: dict[pa.Field, list], **options) -> None:
    pq.write_table(pa.table(list(columns.values()), schema=pa.schema(list(columns))), path, **options)


@pytest.mark.parametrize("deletes", [False, True], ids=["data", "deletes"])
def test_missing_data_file_is_an_error(table, deletes):
    path = written(table, deletes=deletes)
    path.unlink()
    assert_refused(table, path, MissingFileError, "no such file")


@pytest.mark.parametrize("deletes", [False, True], ids=["data", "deletes"])
@pytest.mark.parametrize("size", [0, 3, 0.5, 0.99])
def test_truncated_data_file_is_an_error(table, deletes, size):
    path = written(table, deletes=deletes)
    data = path.read_bytes()
    path.write_bytes(data[: int(size * len(data)) if size < 1 else size])
    assert_refused(table, path, CorruptFileError, "corrupt")


@pytest.mark.parametrize("deletes", [False, True], ids=["data", "deletes"])
def test_data_file_with_a_lost_middle_is_an_error(table, deletes):
    path = written(table, deletes=deletes)
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(len(data) // 2) + data[len(data) // 2 + 4 :])
    assert_refused(table, path, CorruptFileError, "corrupt", of_columns=not deletes)


@pytest.mark.parametrize("count", [0, ROWS - 1, ROWS + 1])
def test_wrong_record_count_is_an_error(table, count):
    path = written(table, deletes=False)
    overwritten(path, {IDS: list(range(count)), TEXTS: ["text"] * count})
    assert_refused(table, path, CorruptFileError, f"expected {ROWS} rows by the table's metadata, got {count}")


def test_wrong_record_count_of_deletes_is_an_error(table):
    path, data = written(table, deletes=True), written(table, deletes=False)
    pq.write_table(pa.table({"file_path": [str(data)] * 5, "pos": range(5)}, schema=DELETES), path)
    assert_refused(table, path, CorruptFileError, "expected 10 rows by the table's metadata, got 5")


def test_column_of_another_type_is_an_error(table):
    path = written(table, deletes=False)
    texts = [str(n) for n in range(ROWS)]
    overwritten(path, {IDS.with_type(pa.string()): texts, TEXTS.with_type(pa.int64()): list(range(ROWS))})
    assert_refused(table, path, SchemaMismatchError, "expected (long|string), got", of_columns=True)


def test_missing_required_column_is_an_error():
    from icefloe.schema import Schema
    from icefloe.types import LongType, NestedField, StringType

    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        fields = (NestedField(1, "id", LongType(), required=True), NestedField(2, "s", StringType()))
        table = catalog.create_table("db.t", Schema(*fields))
        table.append(rows().cast(table.schema().as_arrow()))
        [path] = Path(table.location(), "data").rglob("*.parquet")
        overwritten(path, {TEXTS: ["text"] * ROWS})
        with pytest.raises(CorruptFileError, match=f"{path}.*required column id"):
            table.scan().to_arrow()


@pytest.mark.parametrize("position", [-1, ROWS, 2**62])
def test_position_delete_beyond_the_last_row_is_an_error(table, position):
    path, data = written(table, deletes=True), written(table, deletes=False)
    positions = sorted([*range(9), position])
    pq.write_table(pa.table({"file_path": [str(data)] * 10, "pos": positions}, schema=DELETES), path)
    assert_refused(table, path, CorruptFileError, f"(row|position) {position} ")


def test_position_deletes_of_other_files_delete_nothing(table):
    pq.write_table(
        pa.table({"file_path": ["elsewhere"] * 10, "pos": range(10)}, schema=DELETES), written(table, deletes=True)
    )
    assert table.scan().count() == table.scan().to_arrow().num_rows == 2 * ROWS


class NoKeys(pe.KmsClient):
    """A key management client that does not encrypt keys."""

    def __init__(self, _):
        pe.KmsClient.__init__(self)

    def wrap_key(self, key, _):
        return key

    def unwrap_key(self, key, _):
        return key


@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_encrypted_data_file_is_unsupported(table, plaintext_footer):
    path = written(table, deletes=False)
    configuration = pe.EncryptionConfiguration(
        footer_key="one",
        column_keys={"two": ["id"]},
        plaintext_footer=plaintext_footer,
        internal_key_material=True,
        data_key_length_bits=128,
    )
    properties = pe.CryptoFactory(NoKeys).file_encryption_properties(pe.KmsConnectionConfig(), configuration)
    overwritten(path, {IDS: list(range(ROWS)), TEXTS: ["text"] * ROWS}, encryption_properties=properties)
    assert_refused(table, path, FeatureUnsupportedError, "encrypted", of_columns=plaintext_footer)
    if plaintext_footer:
        # The other column is not encrypted and remains readable.
        assert table.scan(selected_fields=("s",)).to_arrow().num_rows == 2 * ROWS - 10


def test_encrypted_manifest_is_unsupported(table):
    path = Path(table.current_snapshot().manifest_list)
    path.write_bytes(b"AGS1" + path.read_bytes())
    with pytest.raises(FeatureUnsupportedError, match=f"{path.name}.*encrypted Avro is not supported"):
        table.scan().to_arrow()


def test_unknown_codec_is_an_error(table):
    """The codec in the footer is replaced by the number of LZO, which is not supported."""
    path = written(table, deletes=False)
    columns = {IDS: list(range(ROWS)), TEXTS: ["text"] * ROWS}
    overwritten(path, columns, compression="snappy", use_dictionary=False, write_statistics=False)
    footer = bytearray(path.read_bytes())
    before, after = b"\x15\x02\x16", b"\x15\x06\x16"
    start = len(footer) - int.from_bytes(footer[-8:-4], "little")
    assert footer.count(before, start) == 2
    path.write_bytes(bytes(footer[:start]) + bytes(footer[start:]).replace(before, after))
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "LZO"
    assert_refused(table, path, (FeatureUnsupportedError, CorruptFileError), "LZO", of_columns=True)


@pytest.mark.parametrize("format_name", ["csv", "PUFFIN"])
def test_unknown_file_format_is_unsupported(table, format_name):
    from icefloe import _core

    plan = table.scan().plan()
    column = pa.array([format_name] * plan.files.num_rows)
    files = plan.files.set_column(plan.files.schema.get_field_index("file_format"), "file_format", column)
    with pytest.raises(FeatureUnsupportedError, match=format_name):
        list(_core.read(plan.io.core, plan.context, files, plan.deletes, projection=plan.projection))
