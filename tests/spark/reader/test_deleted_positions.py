"""The positions of deleted rows, read on the driver."""

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.spark.reader.deleted_positions import deleted_positions
from icefloe.table import StaticTable

from tests.unit.table.relative_table import relative_table


def plan_after_deletes(tmp_path):
    catalog = load_catalog("positions", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table(
        "db.t", pa.schema([("id", pa.int64())]), properties={"write.delete.mode": "merge-on-read"}
    )
    for start in (0, 100, 200):
        table.append(pa.table({"id": range(start, start + 100)}))
    table.delete("id in (3, 5, 102)")
    table.delete("id = 7")
    return table.scan().plan(), table


def test_deleted_positions_belong_to_the_referenced_file(tmp_path):
    plan, table = plan_after_deletes(tmp_path)
    paths = plan.files.column("file_path").to_pylist()
    found = deleted_positions(table.io.core, plan.files, plan.deletes, pa.array(range(len(paths)), pa.int64()))
    rows = (
        table.scan(selected_fields=("id", "_file")).to_arrow().group_by("_file").aggregate([("id", "min")]).to_pylist()
    )
    start = {row["_file"]: row["id_min"] // 100 * 100 for row in rows}
    deleted = {start[paths[row["key"]]] + row["pos"] for row in found.to_pylist()}
    assert deleted == {3, 5, 7, 102}


def test_deleted_positions_ignore_delete_files_that_do_not_apply(tmp_path):
    plan, table = plan_after_deletes(tmp_path)
    index = plan.files.schema.get_field_index("deletes")
    nothing = pa.array([[]] * plan.files.num_rows, plan.files.schema.field(index).type)
    clean = plan.files.set_column(index, "deletes", nothing)
    keys = pa.array(range(plan.files.num_rows), pa.int64())
    assert deleted_positions(table.io.core, clean, plan.deletes, keys).num_rows == 0


def test_deleted_positions_resolve_relative_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = StaticTable.from_metadata(relative_table(tmp_path))
    monkeypatch.chdir("/")
    plan = table.scan().plan()
    keys = pa.array(range(plan.files.num_rows), pa.int64())
    found = deleted_positions(table.io.core, plan.files, plan.deletes, keys)
    assert found.column("pos").to_pylist() == [1, 1]
    assert len(set(found.column("key").to_pylist())) == 2
