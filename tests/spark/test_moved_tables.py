"""Tables of a hadoop catalog whose directory was moved: Spark's writers refuse them before a job starts."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.spark.writer.write_task import data_task


def test_write_task_refuses_a_moved_table_and_names_both_paths(tmp_path):
    catalog = load_catalog("moved", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    old = Path(catalog.create_table("db.t", pa.schema([("id", pa.int64())])).location())
    assert data_task(catalog.load_table("db.t"), presorted=False).table_location == str(old)
    new = old.rename(old.parent / "new")
    with pytest.raises(ValidationError) as caught:
        data_task(catalog.load_table("db.new"), presorted=False)
    assert str(old) in str(caught.value)
    assert str(new) in str(caught.value)
