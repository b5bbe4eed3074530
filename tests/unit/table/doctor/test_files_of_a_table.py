"""Findings of `Table.doctor` on files that are missing, cannot be read, or differ from their manifest entries."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.schema import Schema
from icefloe.table.doctor import Severity
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.types import ListType, LongType, MapType, NestedField, StringType, StructType

from tests.unit.table.doctor.doctor_tables import found, rows_from


def test_doctor_reports_missing_and_truncated_files(new_table):
    table = new_table(appends=3)
    first, second, _ = (task.file.file_path for task in table.scan().plan_files())
    Path(first).unlink()
    Path(second).write_bytes(Path(second).read_bytes()[:-1])
    for how in ("list", "heads"):
        findings = found(table, files=how)
        assert findings["missing-files"].evidence["locations"] == [first]
        assert findings["wrong-file-sizes"].evidence["locations"] == [second]
        assert findings["missing-files"].severity is Severity.ERROR
    assert "missing-files" not in found(table)


def test_doctor_reports_files_whose_footers_cannot_be_read(new_table):
    table = new_table(appends=5)
    first, second, third, *_ = (task.file.file_path for task in table.scan().plan_files())
    Path(first).unlink()
    Path(second).write_bytes(b"no Parquet")
    pq.write_table(pq.read_table(third).slice(1), third)
    findings = found(table, files="heads", statistics=True)
    assert set(findings["unreadable-files"].evidence["reasons"]) == {first, second}
    assert findings["unreadable-files"].severity is Severity.ERROR
    assert list(findings["wrong-statistics"].evidence["differences"]) == [third]
    assert findings["missing-files"].evidence["locations"] == [first]


def test_doctor_reports_files_whose_columns_do_not_fit(new_table):
    table = new_table(appends=2)
    _, second = (task.file.file_path for task in table.scan().plan_files())
    schema = pq.read_schema(second)
    texts = schema.set(0, schema.field(0).with_type(pa.string()))
    pq.write_table(pa.table({"id": ["x"], "kind": ["a"]}, schema=texts), second)
    findings = found(table, statistics=True)
    assert list(findings["unreadable-files"].evidence["reasons"]) == [second]


def test_doctor_reports_files_whose_columns_have_other_types(new_table):
    table = new_table(appends=2)
    first, _ = (task.file.file_path for task in table.scan().plan_files())
    rows = pq.read_table(first)
    id_field = rows.schema.field("id").with_type(pa.string())
    pq.write_table(rows.set_column(0, id_field, pa.array(["a", "b", "c"])), first)
    findings = found(table, statistics=True)
    assert list(findings["unreadable-files"].evidence["reasons"]) == [first]
    assert "column id: the data does not fit; expected long, got string" in findings["unreadable-files"].sentence


def test_doctor_reports_manifests_that_cannot_be_read(new_table):
    table = new_table(appends=2)
    Path(table.inspect.manifests().column("path")[0].as_py()).write_bytes(b"no Avro")
    diagnosis = table.doctor(files="list", statistics=True)
    (finding,) = (one for one in diagnosis.findings if one.severity is Severity.ERROR)
    assert (finding.code, diagnosis.is_healthy) == ("unreadable-metadata", False)
    assert finding.evidence["stopped_checks"] == ["files", "storage by list", "footers"]
    assert diagnosis.checks == ("properties", "format", "history", "manifests")
    assert "the magic bytes are missing" in finding.sentence


def test_doctor_reports_a_missing_manifest_list(new_table):
    table = new_table()
    location = table.current_snapshot().manifest_list
    Path(location).unlink()
    (finding,) = table.doctor().findings
    assert (finding.code, finding.evidence["reason"].startswith(f"{location}: no such file")) == (
        "unreadable-metadata",
        True,
    )


def test_doctor_reports_statistics_that_contradict_footers(new_table):
    table = new_table()
    (task,) = table.scan().plan_files()
    size = Path(task.file.file_path).stat().st_size
    schema = pq.read_schema(task.file.file_path)
    pq.write_table(pa.table({"id": [7, 8], "kind": [None, "b"]}).cast(schema), task.file.file_path)
    padded = Path(task.file.file_path)
    assert padded.stat().st_size != size
    finding = found(table, statistics=True)["wrong-statistics"]
    (differences,) = finding.evidence["differences"].values()
    assert "record_count is 3 in the manifest and 2 in the footer" in differences
    assert "null count of field 2 is 0 in the manifest and 1 in the footer" in differences
    assert "upper bound of field 1 is 2 in the manifest and 8 in the footer" in differences
    assert not any("lower bound of field 1" in one for one in differences)


@pytest.mark.parametrize(("before", "after"), [("full", "truncate(2)"), ("truncate(4)", "none"), ("counts", "full")])
def test_doctor_compares_bounds_whatever_the_metrics_modes_are_now(new_table, before, after):
    table = new_table(appends=0, write_metadata_metrics_default=before)
    table.append(pa.table({"id": [1, 2], "kind": ["long text", "longer text"]}))
    with table.update_properties() as update:
        update.set_properties({"write.metadata.metrics.default": after})
        update.set_properties({"write.metadata.metrics.column.kind": after})
    assert table.doctor(statistics=True).findings == ()
    (task,) = table.scan().plan_files()
    schema = pq.read_schema(task.file.file_path)
    pq.write_table(pa.table({"id": [1, 2], "kind": ["a", "b"]}).cast(schema), task.file.file_path)
    (differences,) = found(table, statistics=True)["wrong-statistics"].evidence["differences"].values()
    assert any("lower bound of field 2" in one for one in differences) is (before != "counts")


def test_doctor_compares_counts_of_values(new_table):
    table = new_table()
    (task,) = table.scan().plan_files()
    rows = pq.read_table(task.file.file_path)
    pq.write_table(pa.concat_tables([rows, rows]), task.file.file_path)
    (differences,) = found(table, statistics=True)["wrong-statistics"].evidence["differences"].values()
    assert "value count of field 1 is 3 in the manifest and 6 in the footer" in differences


@pytest.mark.parametrize("granularity", ["file", "partition"])
def test_doctor_compares_footers_of_delete_files(new_table, granularity):
    table = new_table(appends=2, write_delete_mode="merge-on-read", write_delete_granularity=granularity)
    table.delete("id in (1, 4)")
    keys = write_equality_deletes(table.io, table.metadata, pa.table({"id": [2, 3]}), [1])
    table.new_row_delta().add_deletes(keys[0]).commit()
    assert not {"unreadable-files", "wrong-delete-statistics"} & found(table, statistics=True).keys()
    deletes = table.inspect.delete_files().to_pylist()
    positions = next(one["file_path"] for one in deletes if one["content"] == 1)
    equality = next(one["file_path"] for one in deletes if one["content"] == 2)
    for path, column, values in ((positions, "pos", [7]), (equality, "id", [1])):
        rows = pq.read_table(path).slice(0, 1)
        place = rows.column_names.index(column)
        pq.write_table(rows.set_column(place, rows.schema.field(place), pa.array(values, pa.int64())), path)
    finding = found(table, statistics=True)["wrong-delete-statistics"]
    assert (finding.severity, finding.command) == (Severity.ERROR, None)
    differences = finding.evidence["differences"]
    assert set(differences) == {positions, equality}
    is_path_scoped = granularity == "file"
    assert ("record_count is 2 in the manifest and 1 in the footer" in differences[positions]) is not is_path_scoped
    assert (
        "upper bound of field 2147483545 is 1 in the manifest and 7 in the footer" in differences[positions]
    ) is is_path_scoped
    assert "record_count is 2 in the manifest and 1 in the footer" in differences[equality]
    assert "lower bound of field 1 is 2 in the manifest and 1 in the footer" in differences[equality]
    Path(positions).write_bytes(b"no Parquet")
    assert positions in found(table, statistics=True)["unreadable-files"].evidence["reasons"]


@pytest.mark.parametrize("format_name", ["avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)])
def test_doctor_states_how_many_files_it_has_not_compared(new_table, format_name):
    table = new_table(appends=2)
    with table.update_properties() as update:
        update.set_properties({"write.format.default": format_name})
    table.append(rows_from(6))
    finding = found(table, statistics=True)["unchecked-footers"]
    assert finding.severity is Severity.INFO
    assert finding.sentence == "Manifest entries of Avro and ORC files were not compared: 1 of 3 files."


def test_doctor_compares_footers_of_files_with_columns_that_were_dropped_since(catalog):
    first = StructType(NestedField(5, "x", LongType()), NestedField(6, "y", LongType()))
    second = StructType(NestedField(9, "x", LongType()), NestedField(10, "y", LongType()))
    nested = (
        NestedField(2, "places", ListType(3, first, element_required=False)),
        NestedField(4, "named", MapType(7, StringType(), 8, second, value_required=False)),
    )
    table = catalog.create_table("db.nested", Schema(NestedField(1, "id", LongType()), *nested))
    points = [[{"x": 1, "y": 2}], None]
    maps = [[("k", {"x": 1, "y": 2})], []]
    table.append(pa.table({"id": [1, 2], "places": points, "named": maps}, schema=table.schema().as_arrow()))
    with table.update_schema() as update:
        update.delete_column("id")
        update.delete_column("places.element.x")
        update.delete_column("named.value.y")
    with table.update_schema() as update:
        update.add_column("id", StringType())
        update.rename_column("places", "points")
    table.append(pa.table({"id": ["a"]}))
    table.maintenance.expire_snapshots().older_than("0s").clean_expired_metadata().execute()
    assert len(table.schemas()) == 1
    assert table.doctor(statistics=True).findings == ()
