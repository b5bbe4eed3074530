"""Parquet files of any layout have the rows that pyarrow reads."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.property.parquet_layout import Layout
from tests.unit.scan_tables import POS, leaf, position_deletes, read, schema, task


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_those_that_pyarrow_reads(tmp_path, seed):
    layout = Layout(seed, rows=[0, 1, 7, 600, 3_000, 9_000])
    rng = layout.rng
    location = layout.write(tmp_path / "file.parquet")
    rows = pq.read_table(location).append_column("_pos", pa.array(range(layout.rows), pa.int64()))

    deleted = set(layout.deleted())
    deletes = (
        [position_deletes(tmp_path / "deletes.parquet", [(location, row) for row in sorted(deleted)])]
        if deleted
        else []
    )
    bound = rng.choice([None, 5, 0])
    residual = None if bound is None else json.dumps(leaf("lt", "id", bound))
    passes = [bound is None or (value is not None and value < bound) for value in rows["id"].to_pylist()]
    kept = [row not in deleted and passes[row] for row in range(layout.rows)]
    expected = rows.filter(pa.array(kept, pa.bool_()))

    wanted = rng.sample(sorted(layout.kinds), rng.randrange(1, len(layout.kinds) + 1))
    projection = schema(*(column for column in layout.schema["fields"] if column["name"] in wanted), POS)
    tasks = [task(location, residual=residual, deletes=[0] if deletes else [])]
    options = {"batch_size": rng.choice([10, 999, 65_536]), "string_views": rng.random() < 0.5}
    found = read(tasks, layout.schema, deletes=deletes, projection=projection, **options)

    assert found.column_names == [*(name for name in layout.kinds if name in wanted), "_pos"]
    for name in found.column_names:
        # Equal by value: a view of text is its text, and -0.0 is 0.0 as pyarrow has it.
        assert found[name].cast(expected[name].type).equals(expected[name]), (
            name,
            layout.kinds.get(name),
            layout.options,
        )
