"""Distinct counts of columns: plans, sketches, the statistics file."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import CorruptFileError, ResolveError, ValidationError, ValidationException
from icefloe.table.maintenance import MaintenanceTable
from icefloe.table.statistics import BlobMetadata, StatisticsFile
from icefloe.types import LongType

from tests.unit.table.conftest import rows_of


def counts(table, *names):
    return MaintenanceTable(table).compute_statistics().columns(*names).execute().distinct_counts


def test_counts_ignore_nulls_and_duplicates(new_table):
    result = MaintenanceTable(new_table()).compute_statistics().execute()
    assert result.distinct_counts == {"id": 6, "kind": 2, "value": 4}
    assert result.summary().startswith("Counted the distinct values of 3 columns in ")


def test_counts_ignore_deleted_rows(new_table, mode):
    table = new_table(properties=mode)
    table.delete("id > 4")
    assert counts(table, "id", "kind") == {"id": 4, "kind": 2}


def test_counts_of_an_older_snapshot(new_table):
    table = new_table()
    first = table.snapshots()[0].snapshot_id
    result = MaintenanceTable(table).compute_statistics().snapshot(first).execute()
    assert result.distinct_counts == {"id": 3, "kind": 2, "value": 2}
    assert result.statistics_file.snapshot_id == first


def test_second_run_finds_nothing_to_do(new_table):
    table = new_table()
    maintenance = MaintenanceTable(table)
    assert maintenance.compute_statistics().columns("id").execute().distinct_counts == {"id": 6}
    assert maintenance.compute_statistics().columns("id").plan().is_empty
    plan = maintenance.compute_statistics().plan()
    assert [name for _, name in plan.columns] == ["kind", "value"]
    maintenance.execute(plan)
    location = table.metadata_location
    result = maintenance.compute_statistics().execute()
    assert (result.statistics_file, result.distinct_counts) == (None, {})
    assert table.metadata_location == location
    (file,) = table.metadata.statistics
    assert sorted(blob.fields[0] for blob in file.blob_metadata) == [1, 2, 3]


def test_plan_pickles_prints_and_is_executed_exactly(new_table):
    table = new_table()
    plan = MaintenanceTable(table).compute_statistics().plan()
    assert plan == pickle.loads(pickle.dumps(plan))
    assert plan.rows().column("column").to_pylist() == ["id", "kind", "value"]
    assert (plan.file_count, plan.as_dict()["data_files"]) == (2, 2)
    assert "Count the distinct values of 3 columns" in str(plan)
    table.append(rows_of((7, "z", 1.0)))
    result = MaintenanceTable(table).execute(plan)
    assert result.statistics_file.snapshot_id == plan.snapshot_id
    assert result.distinct_counts["id"] == 6


def test_plan_is_refused_after_the_statistics_changed(new_table):
    table = new_table()
    plan = MaintenanceTable(table).compute_statistics().plan()
    MaintenanceTable(table).compute_statistics().columns("id").execute()
    with pytest.raises(ValidationException, match=r"the statistics of snapshot .* changed since the plan; plan again"):
        MaintenanceTable(table).execute(plan)


def test_plan_is_refused_after_another_process_expired_the_snapshot(new_table):
    table = new_table()
    plan = MaintenanceTable(table).compute_statistics().plan()
    other = table.catalog.load_table("db.t")
    other.append(rows_of((7, "z", 1.0)))
    other.maintenance.expire_snapshots().older_than("0s").execute()
    with pytest.raises(ValidationError, match=f"no snapshot {plan.snapshot_id}; it may have been expired"):
        MaintenanceTable(table).execute(plan)


def test_blobs_of_other_writers_are_kept(new_table):
    table = new_table()
    snapshot = table.current_snapshot()
    blob = ("other-v1", [1, 2], snapshot.snapshot_id, 2, b"bytes of another writer", "lz4", {"kept": "yes"})
    content, footer_size = _core.encode_puffin([blob], {})
    path = f"{table.location()}/metadata/other.stats"
    with table.io.new_output(path).create() as stream:
        stream.write(content)
    own = BlobMetadata(type="other-v1", snapshot_id=snapshot.snapshot_id, sequence_number=2, fields=[1, 2])
    file = StatisticsFile(
        snapshot_id=snapshot.snapshot_id,
        statistics_path=path,
        file_size_in_bytes=len(content),
        file_footer_size_in_bytes=footer_size,
        blob_metadata=[own],
    )
    table.update_statistics().set_statistics(file).commit()
    result = MaintenanceTable(table).compute_statistics().columns("id").execute()
    written = table.io.new_input(result.statistics_file.statistics_path).open().read()
    entries = json.loads(_core.puffin_footer(written))["blobs"]
    assert [entry["type"] for entry in entries] == ["other-v1", "apache-datasketches-theta-v1"]
    start = entries[0]["offset"]
    assert written[start : start + entries[0]["length"]] == b"bytes of another writer"
    assert (entries[0]["compression-codec"], entries[0]["properties"]) == ("lz4", {"kept": "yes"})


def test_nested_columns_are_counted_and_lists_refused(catalog):
    kind = pa.struct([("x", pa.int32()), ("l", pa.list_(pa.int64()))])
    table = catalog.create_table("db.t", pa.schema([("s", kind), ("m", pa.map_(pa.string(), pa.int64()))]))
    table.append(
        pa.table(
            {"s": pa.array([{"x": 1}, {"x": 1}, None, {"x": 3}], kind), "m": [None] * 4},
            schema=pa.schema([("s", kind), ("m", pa.map_(pa.string(), pa.int64()))]),
        )
    )
    assert counts(table, "s.x") == {"s.x": 2}
    assert MaintenanceTable(table).compute_statistics().plan().is_empty
    for name in ("s", "s.l", "s.l.element", "m"):
        with pytest.raises(ValidationError, match="expected a primitive column outside lists and maps"):
            MaintenanceTable(table).compute_statistics().columns(name).plan()
    with pytest.raises(ResolveError):
        MaintenanceTable(table).compute_statistics().columns("nothing").plan()


def test_columns_without_a_name_are_refused(new_table):
    with pytest.raises(ValidationError, match="columns: expected at least one name"):
        MaintenanceTable(new_table()).compute_statistics().columns()


def test_estimate_of_many_values_is_close_and_repeatable(catalog):
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64()), ("text", pa.string())]))
    for start in (0, 20_000):
        ids = range(start, start + 30_000)
        table.append(pa.table({"id": ids, "text": [f"value {one}" for one in ids]}))
    result = MaintenanceTable(table).compute_statistics().execute()
    for count in result.distinct_counts.values():
        assert abs(count / 50_000 - 1) < 0.05
    again = _core.distinct_values(table.scan().plan().stream(), [[0], [1]])
    assert [int(estimate) for estimate, _ in again] == list(result.distinct_counts.values())
    assert [len(sketch) for _, sketch in again] == [24 + 8 * 4096] * 2


def test_sketches_do_not_depend_on_format_and_encoding(catalog):
    # Columns of few values are read as dictionaries, whose entries are hashed once; the others and Avro files are read row by row.
    count = 20_000
    rows = pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "n": pa.array([None if one % 7 == 0 else one % 1_000 for one in range(count)], pa.int32()),
            "text": pa.array([None if one % 5 == 0 else f"text {one % 300}" for one in range(count)]),
            "price": pa.array([one % 400 for one in range(count)]).cast(pa.decimal128(19)).cast(pa.decimal128(38, 2)),
            "day": pa.array([one % 90 for one in range(count)], pa.int32()).cast(pa.date32()),
            "raw": pa.array([bytes([one % 50]) for one in range(count)]),
            "none": pa.array([None] * count, pa.string()),
        }
    )
    sketches = []
    small_groups = {"write.parquet.row-group-size-bytes": "1", "write.parquet.row-group-check-min-record-count": "3000"}
    for properties in ({}, small_groups, {"write.format.default": "avro"}):
        name = f"db.t{len(sketches)}"
        table = catalog.create_table(name, rows.schema, properties={**properties, "write.delete.mode": "merge-on-read"})
        table.append(rows)
        table.delete("n >= 500 or text = 'text 7'")
        sketches.append(
            [
                bytes(sketch)
                for _, sketch in _core.distinct_values(table.scan().plan().stream(), [[at] for at in range(7)])
            ]
        )
        assert counts(table, "n", "text", "day", "raw", "none") == {
            "n": 500,
            "text": 239,
            "day": 90,
            "raw": 50,
            "none": 0,
        }
    assert sketches[0] == sketches[1] == sketches[2]


def test_promoted_columns_are_counted_with_their_new_type(catalog):
    table = catalog.create_table("db.t", pa.schema([("n", pa.int32())]))
    table.append(pa.table({"n": pa.array([1, 2, 2, None] * 100, pa.int32())}))
    with table.update_schema() as update:
        update.update_column("n", LongType())
    table.append(pa.table({"n": pa.array([2, 3] * 100, pa.int64())}))
    assert counts(table, "n") == {"n": 3}


def test_scans_with_a_limit_are_refused(new_table):
    stream = new_table().scan(limit=2).plan().stream()
    with pytest.raises(ValidationError, match="expected a scan without a limit, got a limit of 2 rows"):
        _core.distinct_values(stream, [[0]])


def test_tables_without_rows_have_nothing_to_count(catalog):
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    assert MaintenanceTable(table).compute_statistics().plan().is_empty
    table.append(pa.table({"id": pa.array([], pa.int64())}))
    assert counts(table, "id") == {"id": 0}


def test_failed_commit_leaves_no_file(new_table, tmp_path):
    table = new_table()
    plan = MaintenanceTable(table).compute_statistics().plan()
    stale = table.catalog.load_table("db.t")
    table.catalog.drop_table("db.t")
    before = set(Path(table.location()).rglob("*"))
    with pytest.raises(Exception, match=r"db\.t"):
        MaintenanceTable(stale).execute(plan)
    assert set(Path(table.location()).rglob("*")) == before


@pytest.mark.parametrize("content", [b"", b"PFA1", b"PFA1" * 5, b"x" * 100])
def test_other_files_are_no_puffin_files(content):
    with pytest.raises(CorruptFileError, match="puffin file"):
        _core.puffin_footer(content)


def test_sketches_of_parts_merge_to_the_sketch_of_all_rows(new_table):
    table = new_table()
    for first in range(0, 30_000, 10_000):
        table.append(pa.table({"id": range(first, first + 12_000), "kind": ["a"] * 12_000, "value": [0.5] * 12_000}))
    plan = table.scan(selected_fields=("id",)).plan_whole_files()
    whole = _core.distinct_values(plan.stream(), [[0]])[0]
    parts = [replace(plan, files=plan.files.slice(place, 1)) for place in range(plan.files.num_rows)]
    assert len(parts) > 3
    sketches = [_core.distinct_values(part.stream(), [[0]])[0][1] for part in parts]
    assert _core.merge_sketches(sketches) == whole
    assert _core.merge_sketches(sketches[::-1]) == whole
    assert _core.merge_sketches([]) == (0.0, _core.merge_sketches([])[1])
    with pytest.raises(CorruptFileError, match="theta sketch"):
        _core.merge_sketches([b"no sketch"])
