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
SIX_SIZES = b"\x19\x66"
"""The start of the second field of an offset index of texts: a list of six numbers."""
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


class OffsetIndexes:
    """The bytes of the offset indexes by their meaning, which decides whether a wrong byte is an error.

    Attributes:
        places: All bytes of the indexes.
        ends: The byte after each page's first row, and after each index: the ends of structures.
        counts: The number and the type of the elements of each list.
        first_rows: First rows of all pages but each column's first, in a byte each.
        optional: The start of the list of the sizes of texts, a field that readers may pass over.
    """

    def __init__(self, good: bytes, region: range) -> None:
        pages = page_locations(good, region)
        rows = [first_row for _, _, first_row in pages]
        indexes = [rows[:6], rows[6:]]
        starts = [pages[number][0] - 1 - len(SIX_PAGES) for number in (0, 6)]
        self.places = range(starts[0], region.stop)
        self.optional = rows[-1] + 2
        assert good[self.optional : self.optional + 2] == SIX_SIZES
        self.ends = {place + 1 for place in rows} | {rows[5] + 2, region.stop - 1}
        self.counts = {start + 1 for start in (*starts, self.optional)}
        self.first_rows = {place for one in indexes for place in one[1:]}

    def is_refused(self, good: bytes, damaged: bytes) -> bool:
        """Return whether a file with one wrong byte must be refused.

        Offsets and sizes of pages are not used, since the headers of pages have them, and neither are the types of fields. A number of
        another length shifts all that follows. A field of type 0 ends a structure, whatever its number is.
        """
        place = next(n for n, (one, other) in enumerate(zip(good, damaged, strict=True)) if one != other)
        if place == self.optional:
            return False
        if place in self.ends:
            return damaged[place] % 16 != 0
        has_other_length = (good[place] ^ damaged[place]) >= 0x80
        return has_other_length or place in self.counts or place in self.first_rows


def test_wrong_byte_of_an_offset_index_is_an_error_if_it_matters(indexed, tmp_path):
    good, region = indexed.read_bytes(), between_rows_and_footer(indexed)
    expected, indexes = rows(indexed, FILTERS[1]), OffsetIndexes(good, region)
    damaged = tmp_path / "damaged.parquet"
    refused = 0
    for data in wrong_bytes(good, indexes.places):
        damaged.write_bytes(data)
        if indexes.is_refused(good, data):
            refused += 1
            with pytest.raises(CorruptFileError, match=r"damaged\.parquet"):
                rows(damaged, FILTERS[1])
        else:
            assert rows(damaged, FILTERS[1]) == expected
    assert 0 < refused < 2 * len(indexes.places)


def test_wrong_byte_of_what_a_filter_does_not_use_changes_no_rows(indexed, tmp_path):
    """A range of ids needs neither bloom filters nor the bounds of names."""
    good, region = indexed.read_bytes(), between_rows_and_footer(indexed)
    expected = rows(indexed, FILTERS[1])
    used = {*bounds_of_pages(good, region), *OffsetIndexes(good, region).places}
    damaged = tmp_path / "damaged.parquet"
    for data in wrong_bytes(good, (place for place in region if place not in used)):
        damaged.write_bytes(data)
        assert rows(damaged, FILTERS[1]) == expected


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
