"""Scans of metadata tables: columns, filters, streams."""

import pickle

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import MissingFileError, ResolveError, ValidationError
from icefloe.table.inspect import METADATA_TABLES

from tests.unit.table.conftest import BY_KIND, rows_of

REQUIRED = {
    "snapshots": "committed_at snapshot_id",
    "history": "made_current_at snapshot_id is_current_ancestor",
    "refs": "name type snapshot_id",
    "metadata_log_entries": "timestamp file",
    "files": "file_path file_format partition record_count file_size_in_bytes",
    "entries": "status data_file",
}
OPTIONAL = {
    "snapshots": "parent_id operation manifest_list summary",
    "history": "parent_id",
    "refs": "max_reference_age_in_ms min_snapshots_to_keep max_snapshot_age_in_ms",
    "metadata_log_entries": "latest_snapshot_id latest_schema_id latest_sequence_number",
    "partitions": "last_updated_at last_updated_snapshot_id",
    "position_deletes": "row",
}


@pytest.fixture
def table(new_table):
    table = new_table(BY_KIND, {"write.delete.mode": "merge-on-read"})
    table.append(rows_of((7, "a", 0.0), (8, "a", 0.0)))
    table.delete("id = 8")
    return table


def test_there_are_sixteen_metadata_tables():
    assert len(METADATA_TABLES) == 16


@pytest.mark.parametrize("name", METADATA_TABLES)
def test_every_table_has_its_schema_with_and_without_rows(catalog, table, name):
    empty = catalog.create_table("db.none", table.schema(), partition_spec=BY_KIND)
    for one in (table, empty):
        scan = one.inspect.scan(name)
        rows = scan.to_arrow()
        rows.validate(full=True)
        assert rows.column_names == [field.name for field in scan.schema().fields]
        assert [field.nullable for field in rows.schema] == [not field.required for field in scan.schema().fields]
        assert rows.schema.types == scan.arrow_schema().types
    assert getattr(table.inspect, name)().equals(table.inspect.scan(name).to_arrow())


@pytest.mark.parametrize(("names", "nullable"), [(REQUIRED, False), (OPTIONAL, True)], ids=["required", "optional"])
def test_nullability_is_that_of_the_reference(table, names, nullable):
    for name, columns in names.items():
        schema = table.inspect.scan(name).arrow_schema()
        assert {schema.field(column).nullable for column in columns.split()} == {nullable}, name


def test_selected_fields_reach_into_structs(table):
    names = ("record_count", "partition.kind", "readable_metrics.id.lower_bound")
    rows = table.inspect.scan("files", selected_fields=names).to_arrow().to_pylist()
    assert rows[0] == {"partition": {"kind": "a"}, "record_count": 2, "readable_metrics": {"id": {"lower_bound": 7}}}
    rows = table.inspect.scan("entries", selected_fields=("data_file.content", "status")).to_arrow().to_pylist()
    assert {tuple(row) for row in rows} == {("status", "data_file")}
    (row,) = table.inspect.scan("position_deletes", selected_fields=("partition.kind", "pos")).to_arrow().to_pylist()
    assert row == {"pos": 1, "partition": {"kind": "a"}}


@pytest.mark.parametrize(
    ("name", "where", "count"),
    [
        ("files", "content = 1", 1),
        ("files", "content = 0", 7),
        ("files", "partition.kind = 'a'", 4),
        ("files", "partition.kind is null and record_count = 1", 2),
        ("files", "not (partition.kind = 'a' or content = 1)", 2),
        ("files", "readable_metrics.id.lower_bound >= 4 and content = 0", 4),
        ("entries", "data_file.partition.kind = 'b'", 2),
        ("all_entries", "status = 1 and data_file.content = 1", 1),
        ("partitions", "position_delete_file_count > 0", 1),
        ("snapshots", "operation = 'append'", 3),
        ("manifests", "content = 1", 1),
        ("refs", "type = 'TAG'", 0),
        ("position_deletes", "pos = 0", 0),
        ("position_deletes", "pos = 1", 1),
    ],
)
def test_where_filters_the_rows_of_a_metadata_table(table, name, where, count):
    scan = table.inspect.scan(name, where=where)
    assert scan.count() == scan.to_arrow().num_rows == count


@pytest.mark.parametrize(
    ("name", "where", "count"),
    [
        ("files", "content = 1", 1),
        ("files", "content > 0 and partition.kind = 'a'", 1),
        ("files", "content = 1 or spec_id = 7", 1),
        ("all_files", "not content = 0", 1),
        ("entries", "data_file.content != 0", 1),
        ("all_entries", "data_file.spec_id = 7", 0),
    ],
)
def test_filter_on_content_or_spec_reads_no_other_manifest(table, name, where, count):
    manifests = table.inspect.manifests()
    for path in manifests.filter(pc.equal(manifests["content"], 0))["path"].to_pylist():
        table.io.delete(path)
    assert table.inspect.scan(name, where=where).count() == count
    with pytest.raises(MissingFileError):
        table.inspect.scan(name).count()


def test_files_are_filtered_by_their_columns_and_by_those_of_the_table(table):
    assert table.inspect.files(where="content = 1").column("content").to_pylist() == [1]
    assert table.inspect.data_files(row_filter="id = 5").num_rows == 1
    assert table.inspect.delete_files(where="record_count > 1").num_rows == 0


def test_row_filter_leaves_out_files_without_matching_rows(table):
    files = table.inspect.scan("data_files", row_filter="id = 5").to_arrow()
    assert [row["partition"]["kind"] for row in files.to_pylist()] == ["b"]
    assert table.inspect.scan("entries", row_filter="id = 5").count() == 2
    with pytest.raises(ValidationError, match="row_filter: metadata table snapshots is not about files"):
        table.inspect.scan("snapshots", row_filter="id = 5").to_arrow()


@pytest.mark.recent_pyarrow  # Polars 1.22 panics on maps.
def test_scan_is_a_frame_of_polars(table):
    scan = table.inspect.scan("files")
    assert pl.DataFrame(scan).height == scan.to_polars().height == 8


def test_scan_is_an_arrow_stream(table):
    scan = table.inspect.scan("files")
    assert pa.table(scan).equals(scan.to_arrow())
    assert sum(batch.num_rows for batch in scan.to_arrow_batch_reader()) == 8
    assert duckdb.sql("SELECT content, count(*) FROM scan GROUP BY content ORDER BY content").fetchall() == [
        (0, 7),
        (1, 1),
    ]
    assert scan.to_duckdb("f").sql("SELECT sum(record_count) FROM f WHERE content = 0").fetchall() == [(8,)]
    assert len(scan.to_pandas()) == 8
    refs = table.inspect.scan("refs")
    assert pa.table(refs).to_pylist() == table.inspect.refs().to_pylist()


def test_scan_keeps_its_version_of_the_table(table):
    scan = table.inspect.scan("files")
    table.append(rows_of((9, "z", 0.0)))
    assert scan.count() == 8
    assert pickle.loads(pickle.dumps(scan.select("file_path"))).count() == 8
    assert table.inspect.scan("files").count() == 9


def test_scan_of_an_older_snapshot(table):
    first = table.snapshots()[0].snapshot_id
    assert table.inspect.scan("files", first).count() == 3
    assert table.inspect.scan("partitions").use_snapshot(first).count() == 3


@pytest.mark.parametrize("name", ["snapshots", "history", "refs", "metadata_log_entries", "all_files", "all_manifests"])
def test_snapshot_is_refused_where_rows_are_of_all_snapshots(table, name):
    with pytest.raises(ValidationError, match=f"metadata table {name}: expected no snapshot id"):
        table.inspect.scan(name, table.current_snapshot().snapshot_id)


def test_unknown_names_are_refused(table):
    with pytest.raises(ValidationError, match=r"metadata table: expected one of all_data_files, .*; got 'fils'"):
        table.inspect.scan("fils")
    with pytest.raises(ResolveError):
        table.inspect.scan("files", where="id = 1").to_arrow()
    with pytest.raises(ResolveError):
        table.inspect.scan("files", selected_fields=("paths",)).to_arrow()
