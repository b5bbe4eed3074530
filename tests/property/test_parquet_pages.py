"""Parquet pages in every encoding, version, codec and framing, in any order within a column, have the values written."""

from __future__ import annotations

import pytest

from tests.property.parquet_pages import PageFile
from tests.unit.scan_tables import POS, position_deletes, read, schema, task


@pytest.mark.parametrize("seed", range(60))
def test_values_are_those_that_were_written(tmp_path, seed):
    file = PageFile(seed, tmp_path / "file.parquet")
    rng = file.rng
    deleted = {row for row in range(file.rows) if rng.random() < 0.2} if rng.random() < 0.4 else set()
    deletes = []
    if deleted:
        positions = [(file.location, row) for row in sorted(deleted)]
        deletes = [position_deletes(tmp_path / "deletes.parquet", positions)]
    wanted = rng.sample(file.columns, rng.randint(1, len(file.columns)))
    found = read(
        [task(file.location, record_count=file.rows, deletes=[0] if deletes else [])],
        file.schema,
        deletes=deletes,
        projection=schema(*(column.field for column in wanted), POS),
        batch_size=rng.choice([1, 10, 65_536]),
        string_views=rng.random() < 0.5,
    )
    kept = [row for row in range(file.rows) if row not in deleted]
    assert found["_pos"].to_pylist() == kept
    for column in wanted:
        assert found[column.name].to_pylist() == [column.values[row] for row in kept], column.kind
