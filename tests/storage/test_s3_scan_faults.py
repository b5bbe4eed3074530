"""A failing line or server while a whole table is scanned: all rows, or one error that names the file."""

from __future__ import annotations

import itertools

import pytest
from icefloe.exceptions import StorageError

from tests.storage.lake_of_all_kinds import KINDS, fill, rows_of
from tests.storage.test_s3_table import make_catalog

# Requests that no fault hits pass on a loaded machine, too.
QUICK = {"s3.request-timeout": "2", "s3.retry.num-retries": "2", "s3.retry.max-wait-ms": "10"}
FAULTS = [503, "cut", "half", "stall"]


@pytest.fixture(scope="module")
def lake(s3, tmp_path_factory):
    """The directory of the table's catalog, and the table's rows."""
    directory = tmp_path_factory.mktemp("lake")
    (s3.root / "lake").mkdir()
    return directory, fill(make_catalog(s3, "lake", directory), directory)


def far_table(s3, line, directory):
    return make_catalog(s3, "lake", directory, **{"s3.endpoint": line.endpoint, **QUICK}).load_table("db.t")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_rows_come_after_faults_that_pass(s3, line, lake, kind, fault):
    directory, expected = lake
    hit = itertools.count()
    of_kind = KINDS[kind]
    line.fault = lambda request: fault if of_kind(request.path) and next(hit) < (1 if fault == "stall" else 2) else None
    assert rows_of(far_table(s3, line, directory)).equals(expected)
    assert next(hit) > 1


@pytest.mark.parametrize("fault", [503, "half", "stall"])
@pytest.mark.parametrize("kind", KINDS)
def test_faults_that_stay_are_one_error_that_names_the_file(s3, line, lake, kind, fault):
    directory, _ = lake
    of_kind = KINDS[kind]
    line.fault = lambda request: fault if of_kind(request.path) else None
    with pytest.raises(StorageError) as caught:
        rows_of(far_table(s3, line, directory))
    message = str(caught.value)
    assert message.startswith("s3://lake/"), message
    assert of_kind(message.split(": ", maxsplit=1)[0]), message
    assert len(message) > len(message.split(": ", maxsplit=1)[0]) + 10
    assert len([request for request in line.requests if of_kind(request.path)]) < 40


def test_fault_between_the_batches_of_a_scan_is_an_error_and_no_end(s3, line, lake):
    directory, expected = lake
    reader = far_table(s3, line, directory).scan().to_arrow_batch_reader()
    seen = itertools.count()
    of_kind = KINDS["Parquet"]
    # The footer comes, and the first rows.
    line.fault = lambda request: 503 if of_kind(request.path) and next(seen) > 1 else None
    read = []
    with pytest.raises(StorageError, match=r"s3://lake/.*parquet.*503.*snapshot \d+ of db\.t"):
        read.extend(batch.num_rows for batch in reader)
    assert sum(read) < expected.num_rows
