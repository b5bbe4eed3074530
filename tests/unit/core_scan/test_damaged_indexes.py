"""Page indexes and bloom filters with wrong bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import CorruptFileError

from tests.unit.scan_tables import ID, NAME, arrow_field, leaf, schema, stream, task, write

pytestmark = pytest.mark.recent_pyarrow

COUNT = 60
SIX_PAGES = b"\x19\x6c"
"""The start of an offset index: its first field is a list of six structures."""
SIX_FLAGS = b"\x19\x61"
"""The start of a column index: its first field is a list of six booleans."""
PAGE_ROWS = 10
BOTH = schema(ID, NAME)
FILTERS = [leaf("eq", "id", 31), leaf("gt", "id", 44), leaf("eq", "name", "name 07"), leaf("not-eq", "id", 5)]


@pytest.fixture
def indexed(tmp_path) -> Path:
    """Six pages of each of two columns, with indexes and bloom filters."""
    columns = {
        arrow_field(1, "id", pa.int64()): list(range(COUNT)),
        arrow_field(2, "name", pa.string()): [f"name {n:02}" for n in range(COUNT)],
    }
    filters = {name: {"ndv": COUNT, "fpp": 0.1} for name in ("id", "name")}
    options = {"write_page_index": True, "max_rows_per_page": PAGE_ROWS, "write_batch_size": 5, "use_dictionary": False}
    return Path(write(tmp_path / "good.parquet", columns, **options, bloom_filter_options=filters))


def between_rows_and_footer(path: Path) -> range:
    """Return the bytes with indexes and bloom filters."""
    group = pq.ParquetFile(path).metadata.row_group(0)
    chunks = [group.column(place) for place in range(group.num_columns)]
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return range(max(chunk.data_page_offset + chunk.total_compressed_size for chunk in chunks), footer)


def rows(path: Path, row_filter: dict) -> list[dict]:
    scan = stream([task(str(path), record_count=COUNT, residual=json.dumps(row_filter))], BOTH, threads=1)
    return [row for batch in scan for row in batch.to_pylist()]


def page_locations(data: bytes, region: range) -> list[tuple[int, int, int]]:
    """Return the positions of offset, size and first row of each page, for two columns of six pages."""
    found, place = [], data.index(SIX_PAGES, region.start)
    while place > 0:
        place += len(SIX_PAGES)
        for _ in range(6):
            numbers = []
            for _ in range(3):
                numbers.append(place + 1)
                place += 2
                while data[place - 1] >= 0x80:
                    place += 1
            assert data[place] == 0
            place += 1
            found.append(tuple(numbers))
        place = data.find(SIX_PAGES, place, region.stop)
    assert len(found) == 12
    return found


@pytest.mark.parametrize("part", ["offset", "size", "first row"])
def test_wrong_page_location_changes_no_rows(indexed, tmp_path, part):
    good = indexed.read_bytes()
    expected = [rows(indexed, row_filter) for row_filter in FILTERS]
    assert [len(found) for found in expected] == [1, 15, 1, COUNT - 1]
    damaged = tmp_path / "damaged.parquet"
    for numbers in page_locations(good, between_rows_and_footer(indexed)):
        place = numbers[("offset", "size", "first row").index(part)]
        # Another number of as many bytes; a row that is no page's first, the file's last, or beyond the file.
        byte = good[place] & 0x80 | 0x7E if part == "first row" else good[place] ^ 2
        damaged.write_bytes(good[:place] + bytes([byte]) + good[place + 1 :])
        assert [rows(damaged, row_filter) for row_filter in FILTERS] == expected


def bounds_of_pages(data: bytes, region: range) -> range:
    """Return the bytes of the first column's index: null flags, bounds and null counts of its pages."""
    starts = [place for place in region if data[place : place + 2] == SIX_FLAGS]
    assert len(starts) == 2
    return range(*starts)


def wrong_bytes(good: bytes, places: Iterable[int]) -> Iterator[bytes]:
    """Yield the file with one wrong byte, two for each place."""
    for place in places:
        for byte in {(good[place] + 2) % 256, good[place] ^ 0x80}:
            yield good[:place] + bytes([byte]) + good[place + 1 :]


def rows_or_error(path: Path) -> list[dict] | None:
    """Return the rows of a filter on the first column; None after an error that names the file."""
    reason = ""
    try:
        return rows(path, FILTERS[1])
    except CorruptFileError as error:
        reason = str(error)
    assert str(path) in reason
    return None


def test_wrong_byte_changes_no_rows_or_is_an_error(indexed, tmp_path):
    good, region = indexed.read_bytes(), between_rows_and_footer(indexed)
    expected = rows(indexed, FILTERS[1])
    bounds = bounds_of_pages(good, region)
    damaged = tmp_path / "damaged.parquet"
    errors = 0
    for data in wrong_bytes(good, (place for place in region if place not in bounds)):
        damaged.write_bytes(data)
        found = rows_or_error(damaged)
        errors += found is None
        assert found is None or found == expected
    assert errors > 0


@pytest.mark.parametrize("column", ["id", "name"])
def test_first_rows_shifted_in_one_column_are_an_error(indexed, tmp_path, column):
    data = bytearray(indexed.read_bytes())
    located = page_locations(bytes(data), between_rows_and_footer(indexed))
    pages = located[:6] if column == "id" else located[6:]
    # Pages 1 to 4 have as many rows as their headers state, from one row too late on. First rows are stored doubled.
    for _, _, place in pages[1:]:
        data[place] += 2
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(data)
    for row_filter in FILTERS:
        with pytest.raises(CorruptFileError, match="expected 11 values by the offset index, got 10"):
            rows(damaged, row_filter)


def test_wrong_bound_of_a_page_loses_whole_pages_only(indexed, tmp_path):
    good, region = indexed.read_bytes(), between_rows_and_footer(indexed)
    expected = rows(indexed, FILTERS[1])
    damaged = tmp_path / "damaged.parquet"
    lost = 0
    for data in wrong_bytes(good, bounds_of_pages(good, region)):
        damaged.write_bytes(data)
        found = rows(damaged, FILTERS[1])
        pages = {row["id"] // PAGE_ROWS for row in found}
        assert found == [row for row in expected if row["id"] // PAGE_ROWS in pages]
        lost += found != expected
    assert lost > 0


def test_overwritten_indexes_are_an_error(indexed, tmp_path):
    good = indexed.read_bytes()
    region = between_rows_and_footer(indexed)
    damaged = tmp_path / "damaged.parquet"
    for fill in (b"\x00", b"\xff"):
        damaged.write_bytes(good[: region.start] + fill * len(region) + good[region.stop :])
        for row_filter in FILTERS:
            with pytest.raises(CorruptFileError, match=r"damaged\.parquet"):
                rows(damaged, row_filter)
