"""False counts and sizes in files: operations return the right rows or one error, and allocate no memory for the stated numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import FeatureUnsupportedError
from icefloe.types import FixedType

from tests.faults.thrift import Struct, encode, parse

if sys.platform != "linux":
    pytest.skip("address space is limited as on Linux", allow_module_level=True)

ROWS = 1000
MOST_INT, MOST = 2**31 - 1, 2**63 - 1
MANY = 2**62
# Runs every operation on each table named on standard input, in a child of its own that may take 1 GiB of address space
# beyond what the parent has: a larger allocation ends the child.
READER = """
import json, os, pathlib, re, resource, sys
import pyarrow.dataset
from icefloe.exceptions import IcebergError
from icefloe.table import StaticTable

def read(location):
    table = StaticTable.from_metadata(location)
    size = re.search(r"VmSize:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]
    resource.setrlimit(resource.RLIMIT_AS, (int(size) * 1024 + (1 << 30),) * 2)
    operations = {
        "rows": lambda: table.scan().to_arrow().num_rows,
        "count": lambda: table.scan().count(),
        "filter": lambda: table.scan("id >= 500").to_arrow().num_rows,
        "text": lambda: table.scan(selected_fields=("s",)).to_arrow().num_rows,
        "position": lambda: table.scan(selected_fields=("_pos",)).to_arrow().num_rows,
        "limit": lambda: table.scan(limit=1).to_arrow().num_rows,
        "tasks": lambda: len(list(table.scan().plan_files())),
        "inspect": lambda: table.inspect.files().num_rows,
    }
    found = {}
    for name, operation in operations.items():
        try:
            found[name] = operation()
        except IcebergError as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        print(json.dumps(read(line.rstrip("\\n"))), flush=True)
        os._exit(0)
    print(json.dumps({"status": os.waitpid(child, 0)[1]}), flush=True)
"""
WHOLE = {"rows": ROWS, "count": ROWS, "filter": ROWS // 2, "text": ROWS, "position": ROWS, "limit": 1}


@pytest.fixture
def make_table(tmp_path):
    def make(properties: dict[str, str] | None = None):
        catalog = load_catalog("scratch", type="hadoop", warehouse=str(tmp_path))
        catalog.create_namespace("db")
        rows = pa.table({"id": pa.array(range(ROWS), pa.int64()), "s": [f"text {n % 7}" for n in range(ROWS)]})
        table = catalog.create_table("db.t", rows.schema, properties=properties or {})
        table.append(rows)
        return table

    return make


@pytest.fixture(scope="module")
def reader():
    command = [sys.executable, "-c", READER]
    environment = {**os.environ, "RUST_BACKTRACE": "0"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def outcomes(reader):
    """Return the result or the error of each operation on a table, run in a separate process."""

    def run(table) -> dict[str, Any]:
        reader.stdin.write(f"{table.metadata_location}\n")
        reader.stdin.flush()
        found = json.loads(reader.stdout.readline())
        assert found.keys() != {"status"}, f"the reader ended with status {found['status']}"
        assert json.loads(reader.stdout.readline()) == {"status": 0}
        return found

    return run


def rewrite_manifest(table, **values: Any) -> None:
    """Replace values of the data file entry in the table's only manifest."""
    [manifest] = Path(table.location(), "metadata").glob("*-m0.avro")
    with manifest.open("rb") as file:
        reader = fastavro.reader(file)
        entries, schema = list(reader), reader.writer_schema
        metadata = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
    for entry in entries:
        entry["data_file"].update(values)
    with manifest.open("wb") as file:
        fastavro.writer(file, schema, entries, metadata=metadata)


def rewrite_footer(table, change: Callable[[bytes, Struct], bytes | None]) -> None:
    """Change the footer of the table's only data file, and the bytes before the footer."""
    [path] = Path(table.location(), "data").rglob("*.parquet")
    data = path.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    footer, _ = parse(data[-8 - size : -8])
    body = change(data[: -8 - size], footer) or data[: -8 - size]
    encoded = encode(footer)
    path.write_bytes(body + encoded + len(encoded).to_bytes(4, "little") + b"PAR1")


def chunks(footer: Struct) -> list[Struct]:
    """Return the metadata of the column chunks of the first row group."""
    return [column[3] for column in footer[4][0][1].values]


@pytest.mark.parametrize("offsets", [None, [MOST, 4], [4, 2**40, 2**50]], ids=["none", "descending", "beyond"])
@pytest.mark.parametrize("size", [MOST, MANY, 0, -1])
def test_stated_file_size_sizes_no_plan(make_table, outcomes, size, offsets):
    table = make_table()
    rewrite_manifest(table, file_size_in_bytes=size, split_offsets=offsets)
    found = outcomes(table)
    assert found.pop("tasks") == found.pop("inspect") == 1
    assert found == WHOLE


def test_stated_record_count_is_checked_and_sums_exactly(make_table, outcomes):
    table = make_table()
    table.append(pa.table({"id": [1], "s": ["x"]}))
    manifests = sorted(Path(table.location(), "metadata").glob("*-m0.avro"))
    assert len(manifests) == 2
    for manifest in manifests:
        hidden = [other.rename(other.with_suffix(".hidden")) for other in manifests if other != manifest]
        rewrite_manifest(table, record_count=MANY)
        for other in hidden:
            other.rename(other.with_suffix(".avro"))
    found = outcomes(table)
    assert found["count"] == 2 * MANY
    for name in ("rows", "filter", "text", "position", "limit"):
        assert f"expected {MANY} rows by the table's metadata" in found[name]


def test_negative_record_count_is_unknown(make_table, outcomes):
    table = make_table()
    rewrite_manifest(table, record_count=-5)
    found = outcomes(table)
    assert found.pop("tasks") == found.pop("inspect") == 1
    assert found == WHOLE


def test_nulls_of_an_absurd_fixed_are_refused_before_they_take_memory(make_table, outcomes):
    table = make_table()
    with table.update_schema() as update:
        update.add_column("wide", FixedType(MOST_INT))
    found = outcomes(table)
    for name in ("rows", "filter", "limit"):
        assert "nulls of type fixed_size_binary[2147483647]" in found[name], found[name]
    for name in ("count", "text", "position"):
        assert found[name] == ROWS
    with pytest.raises(FeatureUnsupportedError, match=r"nulls of type fixed_size_binary\[2147483647\]"):
        table.append(pa.table({"id": [1], "s": ["x"]}))


def test_stated_column_sizes_and_value_counts_size_nothing(make_table, outcomes):
    table = make_table()
    counts = [{"key": 1, "value": MOST}, {"key": 2, "value": MOST}]
    rewrite_manifest(table, column_sizes=counts, value_counts=counts, null_value_counts=None)
    found = outcomes(table)
    assert found.pop("tasks") == found.pop("inspect") == 1
    assert found == WHOLE


@pytest.mark.parametrize("agree", [False, True], ids=["record count differs", "record count agrees"])
def test_rows_that_a_footer_states_are_checked(make_table, outcomes, agree):
    table = make_table()

    def change(_, footer):
        footer[3] = footer[4][0][3] = MANY
        for chunk in chunks(footer):
            chunk[5] = MANY

    rewrite_footer(table, change)
    if agree:
        rewrite_manifest(table, record_count=MANY)
    found = outcomes(table)
    for name in ("rows", "filter", "text", "position"):
        assert f"its footer states {MANY} rows, more than" in found[name]


def test_rows_of_a_footer_that_pages_do_not_hold_are_an_error(make_table):
    table, rows = make_table(), 2**34

    def change(_, footer):
        footer[3] = footer[4][0][3] = rows
        for chunk in chunks(footer):
            chunk[5] = rows

    rewrite_footer(table, change)
    rewrite_manifest(table, record_count=rows)
    # Positions are counted without a look at the pages: 2**34 of them would be a real result.
    script = READER.replace('        "position": lambda', '        # "position": lambda')
    done = subprocess.run(
        [sys.executable, "-c", script], input=table.metadata_location, capture_output=True, text=True, check=False
    )
    found, status = map(json.loads, done.stdout.splitlines())
    assert status == {"status": 0}, done.stderr[-1000:]
    for name in ("rows", "filter", "text"):
        assert found[name].startswith("CorruptFileError"), found[name]


CHUNK_NUMBERS = {"values": 5, "uncompressed size": 6, "compressed size": 7, "page offset": 9}


@pytest.mark.parametrize("value", [MANY, 2**40, -1], ids=["62 bits", "40 bits", "negative"])
@pytest.mark.parametrize("number", CHUNK_NUMBERS.values(), ids=CHUNK_NUMBERS.keys())
def test_numbers_of_a_column_chunk_size_nothing(make_table, outcomes, number, value):
    table = make_table()

    def change(_, footer):
        for chunk in chunks(footer):
            chunk[number] = value

    rewrite_footer(table, change)
    found = outcomes(table)
    for name, expected in WHOLE.items():
        assert found[name] == expected or str(found[name]).startswith("CorruptFileError"), (name, found[name])


def test_repeated_row_groups_of_a_footer_are_an_error(make_table, outcomes):
    table = make_table()

    def change(_, footer):
        footer[4].values *= 5000

    rewrite_footer(table, change)
    assert "its row groups hold 5000000 rows, the total of its footer is 1000" in outcomes(table)["rows"]


@pytest.mark.parametrize("fields", [(14, 15), (4, 5), (6, 7)], ids=["bloom filter", "offset index", "column index"])
def test_places_of_indexes_beyond_the_file_size_nothing(make_table, outcomes, fields):
    table = make_table()
    place, length = fields

    def change(_, footer):
        for column in footer[4][0][1].values:
            holder = column[3] if place == 14 else column
            holder.fields[place], holder.fields[length] = (6, 4), (5, MOST_INT)
            holder.fields = dict(sorted(holder.fields.items()))

    rewrite_footer(table, change)
    found = outcomes(table)
    for name, expected in WHOLE.items():
        assert found[name] == expected or str(found[name]).startswith("CorruptFileError"), (name, found[name])


@pytest.mark.parametrize("number", ["uncompressed size", "compressed size", "values"])
@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "brotli", "lz4", "uncompressed"])
def test_numbers_of_a_page_header_size_nothing(make_table, outcomes, codec, number):
    table = make_table({"write.parquet.compression-codec": codec})

    def change(body, footer):
        # The first page of the last column is a dictionary page of strings. Changing its header shifts the pages, so
        # indexes are invalid.
        chunk = chunks(footer)[-1]
        start = chunk[11]
        header, used = parse(body[start:])
        if number == "values":
            header[7][1] = MOST_INT
        else:
            header[2 if number == "uncompressed size" else 3] = MOST_INT
        encoded = encode(header)
        for place in (6, 7, 9):
            chunk[place] += len(encoded) - used
        for column in footer[4][0][1].values:
            for index in (4, 5, 6, 7):
                column.fields.pop(index, None)
        return body[:start] + encoded + body[start + used :]

    rewrite_footer(table, change)
    found = outcomes(table)
    assert found["count"] == ROWS
    for name in ("rows", "text"):
        assert found[name].startswith("CorruptFileError"), found[name]


@pytest.mark.parametrize("number", ["record_count", "file_size_in_bytes"])
def test_numbers_of_a_delete_file_size_nothing(make_table, outcomes, number):
    table = make_table({"write.delete.mode": "merge-on-read"})
    table.delete("id < 10")
    for manifest in Path(table.location(), "metadata").glob("*-m*.avro"):
        with manifest.open("rb") as file:
            reader = fastavro.reader(file)
            entries, schema = list(reader), reader.writer_schema
            metadata = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
        if metadata["content"] != "deletes":
            continue
        for entry in entries:
            entry["data_file"][number] = MANY
        with manifest.open("wb") as file:
            fastavro.writer(file, schema, entries, metadata=metadata)
    found = outcomes(table)
    if number == "record_count":
        assert f"expected {MANY} rows by the table's metadata, got 10" in found["rows"]
    else:
        assert found["rows"] == ROWS - 10


def test_numbers_of_a_snapshot_summary_size_nothing(make_table, outcomes):
    table = make_table()
    path = Path(table.metadata_location)
    metadata = json.loads(path.read_bytes())
    for snapshot in metadata["snapshots"]:
        snapshot["summary"].update(
            {"total-records": str(MOST), "total-data-files": str(MOST), "total-files-size": "-1"}
        )
    path.write_text(json.dumps(metadata))
    found = outcomes(table)
    assert found.pop("tasks") == found.pop("inspect") == 1
    assert found == WHOLE
