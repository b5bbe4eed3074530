"""Maintenance procedures: names, arguments and columns of the Java runtime. No session is needed."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.spark import call
from pyarrow import orc

from tests.spark.raised_texts import raised_texts, texts_without_a_case
from tests.unit.table.maintenance.every_file import put


@pytest.fixture
def table():
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        made = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
        for number in range(6):
            made.append(pa.table({"id": [number]}))
        yield made


def test_data_files_are_rewritten(table):
    row = call("system.rewrite_data_files", table=table, options={"min-input-files": "2"}, where="id >= 0")
    assert row.pop("rewritten_bytes_count") > 0
    assert row == {
        "rewritten_data_files_count": 6,
        "added_data_files_count": 1,
        "failed_data_files_count": 0,
        "removed_delete_files_count": 0,
    }
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == list(range(6))
    assert call("rewrite_data_files", table=table)["rewritten_data_files_count"] == 0


@pytest.mark.parametrize(
    "where",
    [
        'name = "it\'s 4" AND id >= 3L',
        "name = 'it\\'s 4' -- the fifth",
        "`name` <=> 'it''s 4' /* the fifth */",
        "id BETWEEN 3.5D AND 4.5BD",
        "id = 4S or id = 99Y",
    ],
)
def test_condition_is_one_of_spark(table, where):
    named = table.catalog.create_table("db.named", pa.schema([("id", pa.int64()), ("name", pa.string())]))
    for number in range(6):
        named.append(pa.table({"id": [number], "name": [f"it's {number}"]}))
    rewritten = call("system.rewrite_data_files", table=named, where=where, options={"rewrite-all": "true"})
    assert rewritten["rewritten_data_files_count"] == 1
    assert set(call("rewrite_position_delete_files", table=named, where=where).values()) == {0}


def test_options_of_estimates_have_no_effect(table):
    estimates = {"compression-factor": "1.5", "shuffle-partitions-per-file": "2"}
    widths = {"max-output-size": "16", "var-length-contribution": "4"}
    for order, options in (("id", estimates), ("zorder(id)", {**estimates, **widths, "rewrite-all": "true"})):
        row = call("rewrite_data_files", table=table, strategy="sort", sort_order=order, options=options)
        assert row["added_data_files_count"] == 1
    with pytest.raises(ValidationError, match="no option 'delete-ratio-threshold'; expected max-concurrent"):
        call("rewrite_position_delete_files", table=table, options={"delete-ratio-threshold": "0.5"})
    with pytest.raises(ValidationError, match="no option 'compression-factor'"):
        call("rewrite_data_files", table=table, options=estimates)
    with pytest.raises(ValidationError, match="no option 'max-output-size'"):
        call("rewrite_data_files", table=table, sort_order="id", options=widths)


@pytest.mark.parametrize("order", ["files-desc", "FILES_DESC", "Bytes-Asc"])
def test_job_order_is_read_in_the_spellings_of_the_reference(table, order):
    options = {"rewrite-job-order": order, "min-input-files": "2"}
    assert call("rewrite_data_files", table=table, options=options)["rewritten_data_files_count"] == 6


def test_integers_of_numpy_are_arguments(table):
    ids = table.inspect.snapshots().column("snapshot_id").to_numpy()
    call("system.expire_snapshots", table=table, snapshot_ids=ids[:2], retain_last=np.int64(9))
    assert [one.snapshot_id for one in table.snapshots()] == ids[2:].tolist()


def test_manifests_are_rewritten(table):
    assert call("system.rewrite_manifests", table=table, use_caching=False) == {
        "rewritten_manifests_count": 6,
        "added_manifests_count": 1,
    }


def test_position_deletes_are_rewritten(table):
    row = call("system.rewrite_position_delete_files", table=table, options={"rewrite-all": "true"}, where="id = 1")
    assert set(row.values()) == {0}


def test_snapshots_are_expired(table):
    for number in range(2):
        table.overwrite(pa.table({"id": [number]}))
    first = table.snapshots()[0].snapshot_id
    none = call("system.expire_snapshots", table=table, snapshot_ids=[first])
    assert none["deleted_manifest_lists_count"] == 1
    assert len(table.snapshots()) == 7
    now = datetime.now(timezone.utc) + timedelta(seconds=1)
    row = call("system.expire_snapshots", table, now, 1, max_concurrent_deletes=4, clean_expired_metadata=True)
    assert row.pop("deleted_manifest_files_count") > 0
    assert row == {
        "deleted_data_files_count": 7,
        "deleted_position_delete_files_count": 0,
        "deleted_equality_delete_files_count": 0,
        "deleted_manifest_lists_count": 6,
        "deleted_statistics_files_count": 0,
    }
    assert len(table.snapshots()) == 1


def test_expiry_of_an_unknown_snapshot_changes_nothing(table):
    row = call("system.expire_snapshots", table=table, snapshot_ids=[12345])
    assert set(row.values()) == {0}
    assert len(table.refresh().snapshots()) == 6


def test_orphan_files_are_found_and_removed(table):
    orphan = put(table, "data/orphan.parquet")
    assert call("system.remove_orphan_files", table=table, dry_run=True) == [{"orphan_file_location": orphan}]
    assert table.io.core.exists(orphan)
    found = call("system.remove_orphan_files", table=table, location=f"{table.location()}/data")
    assert found == [{"orphan_file_location": orphan}]
    assert not table.io.core.exists(orphan)


def test_statistics_are_computed_once(table):
    path = call("system.compute_table_stats", table=table, columns=["id"])["statistics_file"]
    assert table.io.core.exists(path)
    snapshot_id = table.current_snapshot().snapshot_id
    assert call("system.compute_table_stats", table, snapshot_id) == {"statistics_file": path}
    with table.update_spec() as update:
        update.add_identity("id")
    path = call("system.compute_partition_stats", table=table)["partition_statistics_file"]
    assert table.io.core.exists(path)
    assert call("system.compute_partition_stats", table, snapshot_id) == {"partition_statistics_file": path}


def test_snapshots_are_moved(table):
    last, before = (row["snapshot_id"] for row in call("system.ancestors_of", table)[:2])
    assert call("system.rollback_to_snapshot", "db.t", before, catalog=table.catalog) == {
        "previous_snapshot_id": last,
        "current_snapshot_id": before,
    }
    table.refresh()
    assert call("system.set_current_snapshot", table, last)["current_snapshot_id"] == last
    moment = datetime.fromtimestamp(table.snapshot_by_id(last).timestamp_ms / 1000 + 1, timezone.utc)
    assert call("system.rollback_to_timestamp", table, moment)["current_snapshot_id"] == last
    call("system.rollback_to_snapshot", table, before)
    table.append(pa.table({"id": [9]}), branch=None, snapshot_properties={"wap.id": "w"})
    staged = table.snapshots()[-1].snapshot_id
    assert call("system.publish_changes", table, "w")["source_snapshot_id"] == staged
    call("system.rollback_to_snapshot", table, before)
    assert call("system.cherrypick_snapshot", table, staged)["source_snapshot_id"] == staged
    table.manage_snapshots().create_branch(before, "dev").commit()
    row = call("system.fast_forward", table, "dev", "main")
    assert row == {"branch_updated": "dev", "previous_ref": before, "updated_ref": table.current_snapshot().snapshot_id}


def test_existing_orc_files_are_added_alone(table, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    orc.write_table(pa.table({"id": [7]}), files / "a.orc")
    assert call("system.add_files", table, f"`orc`.`{files}`")["added_files_count"] == 1
    assert table.scan("id = 7").count() == 1
    with pytest.raises(ValidationError, match=r"a\.orc: .*expected an Avro file, got an ORC file"):
        call("system.add_files", table, f"avro.`{files}`")
    call("system.snapshot", f"orc.`{files}`", "db.over_orc", catalog=table.catalog)
    assert table.catalog.load_table("db.over_orc").scan().to_arrow().to_pylist() == [{"id": 7}]


def test_existing_files_and_metadata_are_taken_over(table, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    assert call("system.add_files", table, f"parquet.`{files}`")["added_files_count"] == 0
    pq.write_table(pa.table({"id": [7]}), files / "a.parquet")
    row = call("system.add_files", table, f"parquet.`{files}`")
    assert row["added_files_count"] == 1
    snapshot = call("system.snapshot", f"parquet.`{files}`", "db.over", catalog=table.catalog)
    assert snapshot == {"imported_files_count": 1}
    assert table.catalog.load_table("db.over").properties["gc.enabled"] == "false"
    copy = call("system.register_table", "db.copy", table.metadata_location, catalog=table.catalog)
    assert copy == {
        "current_snapshot_id": table.current_snapshot().snapshot_id,
        "total_records_count": 7,
        "total_data_files_count": 7,
    }


def test_paths_are_rewritten(table, tmp_path):
    row = call("system.rewrite_table_path", table, table.location(), str(tmp_path / "copy"))
    assert row["latest_version"] == table.metadata_location.rsplit("/", 1)[-1]
    assert table.io.core.exists(row["file_list_location"])
    assert (row["rewritten_manifest_file_paths_count"], row["rewritten_delete_file_paths_count"]) == (6, 0)


def test_paths_are_rewritten_without_a_list(table, tmp_path):
    arguments = {"staging_location": str(tmp_path / "staged"), "create_file_list": False}
    row = call("system.rewrite_table_path", table, table.location(), str(tmp_path / "copy"), **arguments)
    assert (row["file_list_location"], row["rewritten_manifest_file_paths_count"]) == ("N/A", 6)
    assert {path.suffix for path in (tmp_path / "staged").iterdir()} == {".avro", ".json"}


BAD_ARGUMENTS = [
    ("system.none", {}, "CALL: expected one of add_files, ancestors_of"),
    (
        "system.migrate",
        {},
        "CALL migrate: expected the name of a Parquet, ORC or Avro table of Spark's own catalog, and a session",
    ),
    ("system.rewrite_data_files", {"none": 1}, "expected one of the parameters table, strategy, sort_order"),
    ("system.rewrite_data_files", {"strategy": "zip"}, "expected binpack or sort, got 'zip'"),
    ("system.rewrite_data_files", {"strategy": "binpack", "sort_order": "id"}, "expected strategy sort"),
    ("system.rewrite_data_files", {"options": {"none": "1"}}, "no option 'none'; expected delete-file-threshold"),
    ("system.rewrite_data_files", {"options": {"rewrite-all": "1"}}, "expected true or false, got '1'"),
    ("system.rewrite_data_files", {"options": {"min-input-files": "x"}}, "expected a number, got 'x'"),
    ("system.rewrite_data_files", {"options": {"min-input-files": "1_0"}}, "expected a number, got '1_0'"),
    ("system.rewrite_data_files", {"options": {"min-input-files": "0"}}, "at least 1, got 0"),
    (
        "system.rewrite_data_files",
        {"options": {"min-input-files": "2", "Min_Input_Files": "3"}},
        "option 'Min_Input_Files' is repeated in another spelling; expected one value",
    ),
    (
        "system.rewrite_data_files",
        {"sort_order": "id", "options": {"compression-factor": "0"}},
        "compression-factor: expected a number above 0, got '0'",
    ),
    ("system.rewrite_data_files", {"options": {"min-input-files": 2}}, "options: expected a mapping of texts to texts"),
    ("system.rewrite_data_files", {"where": 1}, "where: expected text, got 1"),
    ("system.rewrite_data_files", {"table": None}, "parameter 'table' is null; expected a value"),
    ("system.rewrite_data_files", {"table": pa.schema([])}, "table: expected a Table or its name, got"),
    ("system.rewrite_data_files", {"table": "db.t", "catalog": "c"}, "call: expected catalog=.*, got 'c'"),
    ("system.expire_snapshots", {"retain_last": True}, "retain_last: expected a whole number, got True"),
    ("system.expire_snapshots", {"snapshot_ids": [1, "a"]}, "snapshot_ids: expected a list of whole numbers"),
    ("system.expire_snapshots", {"older_than": 7}, "older_than: expected a datetime or an ISO 8601 text, got 7"),
    ("system.expire_snapshots", {"max_concurrent_deletes": 0}, "max_concurrent_deletes: expected a whole number, 1 or"),
    ("system.remove_orphan_files", {"dry_run": "no"}, "dry_run: expected True or False, got 'no'"),
    ("system.remove_orphan_files", {"file_list_view": "v"}, "expected a view of a session, got no spark"),
    ("system.rollback_to_snapshot", {}, "parameter 'snapshot_id' is missing; expected table, snapshot_id"),
    ("system.set_current_snapshot", {}, "expected snapshot_id or ref, got neither"),
    ("system.ancestors_of", {"snapshot_id": 7}, "expected a snapshot of the table, got 7"),
    ("system.add_files", {"source_table": "csv.x"}, "expected a directory of Parquet, ORC or Avro files, as in"),
    ("system.add_files", {"source_table": "orc.`/nowhere/at/all`"}, "expected a directory of ORC files, got no such"),
    ("system.add_files", {"source_table": "parquet.`/nowhere/at/all`"}, "/nowhere/at/all: .*got no such directory"),
    ("system.create_changelog_view", {"options": {"none": "1"}}, "expected the options start-snapshot-id"),
    *(
        (
            "system.create_changelog_view",
            {"options": {"start-snapshot-id": text}},
            "start-snapshot-id: expected a whole number",
        )
        for text in ("new", "1_0", "")
    ),
    ("system.register_table", {"table": "db.u", "metadata_file": "/x"}, "call: expected catalog="),
]


@pytest.mark.parametrize(("procedure", "arguments", "message"), BAD_ARGUMENTS)
def test_bad_argument_is_refused(table, procedure, arguments, message):
    with pytest.raises(ValidationError, match=message):
        call(procedure, **{"table": table, **arguments})


def test_arguments_by_position_are_checked(table):
    with pytest.raises(ValidationError, match="expected at most 2 arguments"):
        call("system.ancestors_of", table, 1, 2)
    with pytest.raises(ValidationError, match="'table' is given twice"):
        call("system.ancestors_of", table, table=table)


def test_every_error_of_the_room_has_a_case(table):
    errors = {}
    for procedure, arguments, message in BAD_ARGUMENTS:
        with pytest.raises(ValidationError) as caught:
            call(procedure, **{"table": table, **arguments})
        errors[message] = caught.value
    # Errors of tables of Spark's own catalog have cases beside their other tests.
    of_spark = (
        ": expected an external table (with LOCATION)",
        ", and nothing was cleaned up. If the catalog has table ",
        "source table: expected a table of Spark's own catalog",
        "; expected a table of Parquet, ORC or Avro files, or a directory",
        ": expected a table of Parquet, ORC or Avro files (USING or STORED AS parquet, orc or avro)",
        ": expected type int, long, date or string",
        # Conditions whose constants Spark computes have theirs in test_where.py.
        " is NULL, which equals nothing; expected a ",
        " differs from call to call; expected a ",
    )
    unreachable = (": expected at most ", " is given twice; ", "module 'icefloe.spark.maintenance'", *of_spark)
    assert texts_without_a_case(raised_texts(["maintenance"]), errors, unreachable) == {}
