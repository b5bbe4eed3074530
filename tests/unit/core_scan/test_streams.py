"""Streams of a scan, and what fails."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import (
    CorruptFileError,
    FeatureUnsupportedError,
    MissingFileError,
    SchemaMismatchError,
    ValidationError,
)

from tests.unit.scan_tables import (
    ID,
    NAME,
    schema,
    stream,
    task,
)


def test_stream_is_read_again_by_every_consumer(numbers):
    scan = stream([task(numbers)], schema(ID))
    assert scan.schema == pa.schema([("id", pa.int64())])
    assert pa.table(scan) == pa.table(scan)
    assert pa.schema(scan) == scan.schema
    assert sum(batch.num_rows for batch in scan) == 1000


def test_dropped_iterator_leaves_others_alone(numbers):
    scan = stream([task(numbers)] * 50, schema(ID), batch_size=10)
    first = iter(scan)
    assert next(first).num_rows == 10
    del first
    assert sum(batch.num_rows for batch in scan) == 50_000


def test_error_names_the_missing_file(tmp_path, numbers):
    gone = str(tmp_path / "gone.parquet")
    batches = iter(stream([task(numbers), task(gone, record_count=5)], schema(ID)))
    with pytest.raises(MissingFileError, match=r"gone\.parquet"):
        list(batches)
    assert list(batches) == []


@pytest.mark.parametrize("keep", [0, 3, 8, 100, -9, -1])
def test_cut_off_file_is_corrupt_and_named(numbers, keep, tmp_path):
    path = tmp_path / "cut.parquet"
    path.write_bytes(Path(numbers).read_bytes()[:keep])
    with pytest.raises(CorruptFileError, match=r"cut\.parquet"):
        list(stream([task(numbers) | {"file_path": str(path)}], schema(ID)))


def test_damaged_bytes_never_do_worse_than_an_error(numbers, tmp_path):
    good = Path(numbers).read_bytes()
    rng = random.Random(1)
    for round_number in range(60):
        damaged = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
        path = tmp_path / f"{round_number}.parquet"
        path.write_bytes(damaged)
        outcome = str(path)
        try:
            for batch in stream([task(numbers) | {"file_path": str(path)}], schema(ID, NAME)):
                batch.validate()
        except (CorruptFileError, SchemaMismatchError, FeatureUnsupportedError) as error:
            outcome = str(error)
        assert path.name in outcome


def test_error_with_a_nul_in_its_text_is_raised_by_every_consumer(tmp_path):
    """The location is in the text, as are names in damaged files."""
    scan = stream([task(str(tmp_path / "a\0b.parquet"))], schema(ID))
    with pytest.raises(pa.ArrowInvalid, match=r"a\\0b.parquet"):
        pa.table(scan)


def test_another_row_count_than_the_tables_is_corrupt(numbers):
    with pytest.raises(CorruptFileError, match=r"expected 999 rows .*, got 1000"):
        list(stream([task(numbers, record_count=999)], schema(ID)))


@pytest.mark.parametrize("file_format", ["PUFFIN", "VORTEX"])
def test_other_formats_are_refused_by_name(numbers, file_format):
    with pytest.raises(FeatureUnsupportedError, match=file_format):
        stream([task(numbers, file_format=file_format)], schema(ID))


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"threads": 0}], ids=str)
def test_zero_is_no_size(numbers, options):
    with pytest.raises(ValidationError, match=next(iter(options))):
        stream([task(numbers)], schema(ID), **options)
