import numpy as np
import pyarrow as pa
import pytest
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.types import LongType, StringType


def test_scan_selects_filters_and_limits(new_table):
    table = new_table()
    scan = table.scan("id > 1", selected_fields=("kind", "id"), limit=2)
    assert scan.to_arrow().num_rows == 2
    assert set(scan.to_arrow().column_names) == {"kind", "id"}
    assert table.scan().select("id").filter("id > 4").filter("id < 6").to_arrow().to_pydict() == {"id": [5]}


@pytest.mark.parametrize("text", ["id > 3", "value is null", "kind = 'a'", "id > 3 and value < 2.2", "id > 100"])
def test_count_is_the_number_of_rows(new_table, spec, mode, text):
    table = new_table(spec, mode)
    table.delete("id = 4")
    assert table.scan(text).count() == table.scan(text).to_arrow().num_rows
    assert table.scan(limit=2).count() == 2


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 6, 100])
def test_limit_drops_files(new_table, rows, limit):
    table = new_table()
    table.append(rows((7, "a", None)))
    table.append(rows((8, "a", None)))
    counts = table.scan().plan().files.column("record_count").to_pylist()
    needed = sum(sum(counts[:before]) < limit for before in range(len(counts)))
    assert table.scan(limit=limit).plan().drop_files_past_limit().files.num_rows == needed
    assert table.scan(limit=limit).to_arrow().num_rows == min(limit, 8)


@pytest.mark.parametrize("limit", [2**63 - 1, 2**63, 10**30, np.int64(2)])
def test_limit_is_any_whole_number(new_table, limit):
    scan = new_table().scan(limit=limit)
    rows = min(int(limit), 6)
    assert (scan.count(), scan.to_arrow().num_rows) == (rows, rows)
    assert sum(batch.num_rows for batch in scan.to_arrow_batch_reader()) == rows


def test_limit_keeps_files_whose_rows_may_not_match(new_table):
    table = new_table(properties={"write.delete.mode": "merge-on-read"})
    table.delete("id = 1")
    assert table.scan(limit=4).plan().drop_files_past_limit().files.num_rows == 2
    assert table.scan("kind = 'b'", limit=1).plan().drop_files_past_limit().files.num_rows == 2
    assert table.scan(limit=5).to_arrow().num_rows == 5
    assert sorted(table.scan("kind = 'b'", limit=2).to_arrow().column("id").to_pylist()) == [2, 5]


def test_count_of_whole_files_reads_no_file(new_table):
    table = new_table()
    for path in table.inspect.files().column("file_path").to_pylist():
        table.io.core.delete(path)
    assert table.scan().count() == 6
    assert table.scan("id > 3").count() == 3


def test_time_travel_uses_the_schema_of_the_snapshot(new_table, rows):
    table = new_table()
    old = table.current_snapshot()
    table.update_schema().rename_column("kind", "sort").add_column("note", StringType()).commit()
    assert table.scan().to_arrow().column_names == ["id", "sort", "value", "note"]
    assert table.scan(snapshot_id=old.snapshot_id).to_arrow().column_names == ["id", "kind", "value"]
    assert table.scan().as_of(old.timestamp_ms).snapshot().snapshot_id == old.snapshot_id
    table.manage_snapshots().create_tag(old.snapshot_id, "tag").create_branch(old.snapshot_id, "branch").commit()
    assert "kind" in table.scan().use_ref("tag").to_arrow().column_names
    assert "note" in table.scan().use_ref("branch").to_arrow().column_names


def test_scan_names_missing_columns_snapshots_and_options(new_table):
    table = new_table()
    with pytest.raises(ResolveError, match="nothing"):
        table.scan("nothing = 1").to_arrow()
    with pytest.raises(ResolveError, match="nothing"):
        table.scan(selected_fields=("nothing",)).to_arrow()
    with pytest.raises(ValidationError, match="no snapshot 5"):
        table.scan(snapshot_id=5).to_arrow()
    with pytest.raises(ValidationError, match="'dev'; it has main"):
        table.scan().use_ref("dev")
    with pytest.raises(ValidationError, match="had no snapshot"):
        table.scan().as_of(0)
    with pytest.raises(ValidationError, match=r"scan options: expected .* got splitsize"):
        table.scan(options={"splitsize": "1"})


def test_names_match_regardless_of_case(new_table):
    table = new_table()
    assert table.scan("ID = 1", case_sensitive=False).count() == 1
    with pytest.raises(ResolveError):
        table.scan("ID = 1").count()


def test_empty_table_has_no_rows_and_all_columns(catalog):
    table = catalog.create_table("db.none", pa.schema([("id", pa.int64())]))
    assert table.scan().to_arrow().schema.names == ["id"]
    assert table.scan().count() == 0
    assert list(table.scan().plan_files()) == []
    assert list(table.scan().plan_tasks()) == []


def test_other_libraries_read_a_scan(new_table):
    import duckdb
    import polars as pl

    table = new_table()
    scan = table.scan("id > 2")
    assert scan.to_pandas().shape == (4, 3)
    assert scan.to_polars().shape == (4, 3)
    assert pl.DataFrame(scan).shape == (4, 3)
    assert scan.to_duckdb("t").sql("select sum(id) from t").fetchone() == (18,)
    assert duckdb.sql("select count(*) from scan").fetchone() == (4,)
    assert pa.table(scan).num_rows == 4
    assert scan.to_arrow_batch_reader().read_all().num_rows == 4


def test_least_ints_are_found_in_a_column_that_became_long(catalog):
    """The multiple of ten below the least ints is out of range, so their partition is one of the greatest ints."""
    table = catalog.create_table("db.promoted", pa.schema([("x", pa.int32())]))
    with table.update_spec() as change:
        change.add_field("x", "truncate[10]")
    values = [-(2**31), -(2**31) + 7, 0, 2**31 - 1]
    table.append(pa.table({"x": pa.array(values, pa.int32())}))
    with table.update_schema() as change:
        change.update_column("x", LongType())

    def found(row_filter):
        return sorted(table.scan(row_filter).to_arrow().column("x").to_pylist())

    assert found("x <= 1") == values[:3]
    assert found("x = -2147483648") == values[:1]
    assert found("x != -2147483641") == [values[0], *values[2:]]
    table.delete("x > 1")
    assert found("true") == values[:3]
    table.delete("x < -2147483645")
    assert found("true") == values[1:3]
