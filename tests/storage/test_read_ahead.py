"""Requests that a scan of a remote table sends before it needs the bytes."""

from __future__ import annotations

import re
import time

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import ValidationError

from tests.storage.lake_of_all_kinds import COLUMNS, noise
from tests.storage.servers import Gate
from tests.storage.test_s3_table import make_catalog

FILES, ROWS = 6, 20_000
GROUP_BYTES = 200_000
"""About the size of a row group; a file has four, of which a part comes with the footer."""


def is_data(request) -> bool:
    return request.method == "GET" and request.path.endswith(".parquet")


def is_row_group(request) -> bool:
    return is_data(request) and not request.range.startswith("bytes=-")


@pytest.fixture(scope="module")
def lake(s3, tmp_path_factory):
    """The directory of the catalog of a table of several files."""
    directory = tmp_path_factory.mktemp("ahead")
    (s3.root / "ahead").mkdir()
    properties = {"write.parquet.row-group-size-bytes": str(GROUP_BYTES)}
    table = make_catalog(s3, "ahead", directory).create_table("db.t", COLUMNS, properties=properties)
    for _ in range(FILES):
        table.append(noise(ROWS))
    return directory


@pytest.fixture
def reader(s3, line, lake):
    """Opens a stream of the table behind the proxy."""

    def opened(threads: int, **properties: str):
        far = make_catalog(s3, "ahead", lake, **{"s3.endpoint": line.endpoint, **properties})
        table = far.load_table("db.t")
        scan = table.scan()
        plan = scan.plan()
        line.requests.clear()
        return _core.read(
            table.io.core, plan.context, plan.files, plan.deletes, projection=plan.projection, threads=threads
        )

    return opened


def rows_of(stream) -> int:
    return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(stream))


def final_requests(line) -> int:
    """Return the number of requests once it grows no more."""
    count = -1
    while count != len(line.requests):
        count = len(line.requests)
        time.sleep(0.3)
    return count


@pytest.mark.parametrize("wanted", [is_data, is_row_group])
def test_bytes_are_requested_before_a_thread_needs_them(line, reader, wanted):
    stream = reader(1)
    line.fault = Gate(3 if wanted is is_row_group else 2, wanted)
    assert rows_of(stream) == FILES * ROWS


def test_property_turns_reading_ahead_off(line, reader):
    stream = reader(1, **{"s3.read-ahead-bytes": "0"})
    line.fault = Gate(2, is_data, 0.5)
    with pytest.raises(pa.ArrowInvalid, match="403"):
        rows_of(stream)


def test_no_byte_is_requested_twice(line, reader):
    found = rows_of(reader(2))
    ahead = sorted((request.path, request.range) for request in line.requests)
    assert found == rows_of(reader(2, **{"s3.read-ahead-bytes": "0"}))
    assert ahead == sorted((request.path, request.range) for request in line.requests)
    assert len(set(ahead)) == len(ahead)


def test_paused_consumer_stops_the_reading(line, reader):
    stream = pa.RecordBatchReader.from_stream(reader(1, **{"s3.read-ahead-bytes": str(2 * GROUP_BYTES)}))
    first = stream.read_next_batch()
    assert final_requests(line) < FILES * 4
    assert first.num_rows + sum(batch.num_rows for batch in stream) == FILES * ROWS


def test_error_ahead_is_raised_after_the_rows_before_it(s3, lake, line, reader):
    plan = make_catalog(s3, "ahead", lake).load_table("db.t").scan().plan()
    files = plan.files["file_path"].to_pylist()

    def broken(**properties):
        stream = reader(1, **properties)
        line.fault = lambda request: 403 if is_row_group(request) and files[3].endswith(request.path) else None
        rows = 0
        with pytest.raises(pa.ArrowInvalid) as caught:  # noqa: PT012  the rows before the error count
            for batch in pa.RecordBatchReader.from_stream(stream):
                rows += batch.num_rows
        line.fault = None
        return rows, re.sub(r" in [0-9.]+\w+", "", str(caught.value))

    found = broken()
    assert found == broken(**{"s3.read-ahead-bytes": "0"})
    assert found[0] == 3 * ROWS


def test_dropped_stream_ends_its_requests(line, reader):
    stream = pa.RecordBatchReader.from_stream(reader(1, **{"s3.read-ahead-bytes": str(2 * GROUP_BYTES)}))
    stream.read_next_batch()
    del stream
    count = final_requests(line)
    assert count < FILES * 4
    assert final_requests(line) == count


def test_wrong_value_is_named(reader):
    with pytest.raises(ValidationError, match=r"s3\.read-ahead-bytes"):
        reader(1, **{"s3.read-ahead-bytes": "much"})
