"""A table whose snapshots expire."""

import pyarrow as pa
import pytest

from tests.unit.table.maintenance.every_file import rows


@pytest.fixture
def table(catalog):
    """Three snapshots of one file each: rows 1, 2 and 3."""
    made = catalog.create_table("db.t", pa.schema([("id", pa.int64()), ("kind", pa.string())]))
    for number in (1, 2, 3):
        made.append(rows(number))
    return made
