"""Findings of `Table.doctor` on tables that have one thing wrong each."""

import json
import pickle

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table import StaticTable
from icefloe.table.doctor import Severity
from icefloe.table.write.equality_deletes import write_equality_deletes

from tests.unit.table.doctor.doctor_tables import BY_KIND, found, rewrite_metadata, rows_from

DAY_MS = 86_400_000


def test_doctor_finds_nothing_in_a_fresh_table(new_table):
    diagnosis = new_table().doctor(files="list", statistics=True)
    assert diagnosis.findings == ()
    assert diagnosis.is_healthy
    assert diagnosis.summary() == "db.t is healthy: no findings."
    assert diagnosis.checks == ("properties", "format", "history", "manifests", "files", "storage by list", "footers")


def test_doctor_accepts_a_table_without_snapshots(new_table):
    table = new_table(appends=0)
    for how in ("list", "heads"):
        assert table.doctor(files=how, statistics=True).findings == ()


def test_doctor_counts_small_files_by_partition(new_table):
    table = new_table(appends=6, spec=BY_KIND)
    finding = found(table)["small-files"]
    assert finding.severity is Severity.WARNING
    assert (finding.evidence["small_files"], finding.evidence["data_files"]) == (12, 12)
    assert (finding.evidence["partitions"], finding.evidence["files_after_compaction"]) == (2, 2)
    assert finding.command == "icefloe --catalog lake compact db.t"


def test_doctor_promises_no_number_of_files_that_an_earlier_spec_is_divided_into(new_table):
    table = new_table(appends=6)
    with table.update_spec() as update:
        update.add_identity("kind")
    finding = found(table)["small-files"]
    assert finding.sentence.endswith("in 1 group; compaction leaves at least 1 file.")
    table.maintenance.policy().execute()
    assert table.inspect.files().num_rows == 2


def test_doctor_leaves_small_files_below_the_threshold(new_table):
    assert "small-files" not in found(new_table(appends=4))


def test_doctor_accepts_a_target_that_no_compaction_reaches(new_table):
    assert "small-files" not in found(new_table(appends=6, write_target__file__size__bytes="1"))


def test_doctor_reads_thresholds_from_table_properties(new_table):
    table = new_table(appends=4, maintenance_compact_min__small__files="4")
    assert found(table)["small-files"].evidence["small_files"] == 4


def test_doctor_leaves_small_files_that_compaction_cannot_make_fewer(new_table):
    table = new_table(appends=2, maintenance_compact_min__small__files="2")
    size = max(task.file.file_size_in_bytes for task in table.scan().plan_files())
    for target, is_found in ((size * 10 // 7, False), (size * 3, True)):
        with table.update_properties() as update:
            update.set_properties({"write.target-file-size-bytes": str(target)})
        assert ("small-files" in found(table)) is is_found
        assert table.maintenance.policy().plan().is_empty is not is_found


def test_doctor_reports_delete_files_from_the_number_at_which_compaction_removes_them(new_table):
    table = new_table(write_delete_mode="merge-on-read", maintenance_compact_max__deleted__percent="100")
    with table.update_properties() as update:
        update.set_properties({"maintenance.compact.max-deletes-per-file": "1"})
    table.delete("id = 1")
    assert found(table)["delete-debt"].command == "icefloe --catalog lake compact db.t"
    table.maintenance.policy().execute()
    assert "delete-debt" not in found(table)


def test_doctor_names_a_command_for_delete_files_of_several_data_files(new_table):
    table = new_table(appends=2, write_delete_mode="merge-on-read", write_delete_granularity="partition")
    table.delete("id in (1, 2, 4, 5)")
    finding = found(table)["delete-debt"]
    assert finding.command == "icefloe --catalog lake compact db.t --delete-file-threshold 1"
    assert not table.maintenance.rewrite_data_files().options(delete_file_threshold=1).plan().is_empty


def test_doctor_reports_delete_debt_by_share_of_rows(new_table):
    table = new_table(write_delete_mode="merge-on-read")
    table.delete("id = 1")
    finding = found(table)["delete-debt"]
    assert finding.evidence["position_deletes"] == 1
    assert finding.evidence["rows_of_data_files"] == 3
    assert finding.evidence["most_per_data_file"] == 1


def test_doctor_reports_equality_deletes_that_apply(new_table):
    table = new_table()
    deletes = write_equality_deletes(table.io, table.metadata, pa.table({"id": [0]}), [1])
    delta = table.new_row_delta()
    for one in deletes:
        delta.add_deletes(one)
    delta.commit()
    finding = found(table)["equality-deletes"]
    assert (finding.evidence["equality_delete_files"], finding.evidence["keys"]) == (1, 1)
    assert finding.severity is Severity.INFO
    with table.update_properties() as update:
        update.set_properties({"maintenance.compact.max-deletes-per-file": "1"})
    assert found(table)["equality-deletes"].severity is Severity.WARNING


def test_doctor_reports_files_of_an_earlier_spec(new_table):
    table = new_table()
    with table.update_spec() as update:
        update.add_identity("kind")
    finding = found(table)["old-spec-files"]
    assert (finding.severity, finding.evidence["files"], finding.evidence["spec_ids"]) == (Severity.INFO, 1, [0])


def test_doctor_reports_many_small_manifests(new_table):
    table = new_table(appends=21, commit_manifest__merge_enabled="false")
    finding = found(table)["many-manifests"]
    assert (finding.evidence["manifests"], finding.evidence["manifests_after_rewrite"]) == (21, 1)


def test_doctor_reports_manifests_whose_ranges_overlap(new_table):
    table = new_table(appends=21, spec=BY_KIND, commit_manifest__merge_enabled="false")
    assert found(table)["overlapping-manifests"].evidence["average_overlap"] == 21.0


def test_doctor_leaves_manifests_that_no_rewrite_makes_fewer(new_table):
    properties = {"write_delete_mode": "merge-on-read", "maintenance_manifests_min__count": "2"}
    table = new_table(spec=BY_KIND, **properties)
    table.delete("id = 0")
    with table.update_spec() as update:
        update.add_field("id", "bucket[4]")
    table.append(rows_from(3))
    assert table.inspect.manifests().num_rows == 3
    assert table.maintenance.rewrite_manifests().plan().is_empty
    assert not {"many-manifests", "overlapping-manifests"} & found(table).keys()
    assert "rewrite-manifests" not in [one.step for one in table.maintenance.policy().plan().steps if one.has_changes]


@pytest.mark.parametrize("target", ["8388608", "7000"])
def test_commands_for_manifests_end_their_findings(new_table, target):
    properties = {"commit_manifest__merge_enabled": "false", "maintenance_manifests_min__count": "5"}
    table = new_table(appends=8, spec=BY_KIND, commit_manifest_target__size__bytes=target, **properties)
    findings = found(table)
    assert ("many-manifests" in findings) is (target == "8388608")
    command = findings["overlapping-manifests"].command
    by = "" if target == "8388608" else " --by kind"
    assert command == f"icefloe --catalog lake rewrite-manifests db.t{by}"
    builder = table.maintenance.rewrite_manifests()
    (builder if by == "" else builder.sort_by("kind")).execute()
    assert not {"many-manifests", "overlapping-manifests"} & found(table).keys()


def test_doctor_reports_snapshots_without_a_policy(catalog, new_table):
    table = new_table(appends=12)

    def age(metadata):
        for number, one in enumerate(metadata["snapshots"]):
            one["timestamp-ms"] -= 30 * DAY_MS - number
        metadata["snapshot-log"] = []

    old = rewrite_metadata(catalog, table, age)
    finding = found(old)["snapshots-without-policy"]
    assert (finding.evidence["snapshots"], finding.evidence["overdue"]) == (12, 11)
    with old.update_properties() as update:
        update.set_properties({"history.expire.max-snapshot-age-ms": str(DAY_MS)})
    assert "snapshots-past-retention" in found(old)
    with old.update_properties() as update:
        update.set_properties({"gc.enabled": "false"})
    forbidden = found(old)["snapshots-past-retention"]
    assert (forbidden.severity, forbidden.command) == (Severity.INFO, None)
    with old.update_properties() as update:
        update.set_properties({"gc.enabled": "true"})
    current = old.current_snapshot().snapshot_id
    old.manage_snapshots().create_branch(current, "audit", min_snapshots_to_keep=12).commit()
    assert not {"snapshots-past-retention", "snapshots-without-policy"} & found(old).keys()


def test_doctor_names_staged_snapshots_that_the_retention_keeps(catalog, new_table):
    table = new_table()
    table.append(rows_from(3), branch=None)

    def age(metadata):
        for one in metadata["snapshots"]:
            one["timestamp-ms"] -= 2 * DAY_MS
        metadata["snapshot-log"] = []

    old = rewrite_metadata(catalog, table, age)
    (staged,) = {one.snapshot_id for one in old.snapshots()} - {old.current_snapshot().snapshot_id}
    command = f"icefloe --catalog lake expire db.t --snapshot-id={staged}"
    assert found(old)["unreferenced-snapshots"].command == command


@pytest.mark.filterwarnings("ignore::icefloe.exceptions.MetadataWarning")
def test_doctor_reports_the_age_of_statistics_in_a_unit_that_fits(catalog, new_table):
    table = new_table(appends=2)
    table.maintenance.compute_statistics().snapshot(table.snapshots()[0].snapshot_id).execute()

    def moved(metadata):
        metadata["snapshots"][0]["timestamp-ms"] = metadata["snapshots"][1]["timestamp-ms"] - 5_400_000
        metadata["snapshot-log"] = []

    finding = found(rewrite_metadata(catalog, table, moved))["old-statistics"]
    assert finding.sentence == (
        "The newest column statistics describe a snapshot that is 90 minutes older than the current one."
    )


def test_doctor_reports_clocks_that_differ(catalog, new_table):
    def skew(metadata):
        metadata["snapshots"][1]["timestamp-ms"] -= 3_600_000
        metadata["last-updated-ms"] += 7_200_000
        metadata["snapshot-log"] = []

    findings = found(rewrite_metadata(catalog, new_table(appends=2), skew))
    assert findings["clock-skew"].evidence["back_ms"] > 3_500_000
    assert findings["clock-ahead"].evidence["ahead_ms"] > 7_000_000


def test_doctor_reports_a_full_metadata_log(new_table):
    table = new_table(appends=4, write_metadata_previous__versions__max="3")
    finding = found(table)["metadata-files-stay"]
    assert finding.command == (
        "icefloe --catalog lake properties set db.t write.metadata.delete-after-commit.enabled=true"
    )


def test_doctor_reports_format_version_1(new_table):
    finding = found(new_table(format__version="1", write_delete_mode="merge-on-read"))
    assert finding["format-version-1"].command == "icefloe --catalog lake upgrade db.t"
    assert finding["contradicting-properties"].evidence["properties"] == {"write.delete.mode": "merge-on-read"}


@pytest.mark.parametrize(
    ("properties", "code", "sentence"),
    [
        (
            {"commit.retry.min-wait-ms": "900000"},
            "contradicting-properties",
            "The shortest wait between commit retries (900,000 ms) is longer than the longest (60,000 ms).",
        ),
        (
            {"gc.enabled": "false", "history.expire.min-snapshots-to-keep": "3"},
            "contradicting-properties",
            "The table has a retention of snapshots, and gc.enabled=false forbids to delete their files.",
        ),
        (
            {"write.metadata.metrics.column.gone": "full"},
            "property-of-missing-column",
            "Property write.metadata.metrics.column.gone is of column 'gone', which the table does not have.",
        ),
        (
            {"write.format.default": "csv"},
            "unreadable-property",
            "Table property write.format.default: expected parquet, avro or orc, got 'csv'. Operations that read it fail.",
        ),
        (
            {"write.folder-storage.path": "/x"},
            "deprecated-property",
            "Property write.folder-storage.path is deprecated; write.data.path replaced it.",
        ),
    ],
)
def test_doctor_reports_properties_that_fight(catalog, new_table, properties, code, sentence):
    table = rewrite_metadata(catalog, new_table(), lambda metadata: metadata["properties"].update(properties))
    (finding,) = table.doctor().findings
    assert (finding.code, finding.sentence) == (code, sentence)
    assert finding.command.startswith("icefloe --catalog lake properties unset db.t ")


def test_doctor_of_a_static_table_has_no_commands(new_table):
    table = new_table(appends=6)
    diagnosis = StaticTable.from_metadata(table.metadata_location).doctor()
    assert diagnosis.table == table.metadata_location
    assert [one.command for one in diagnosis.findings] == [None]


def test_doctor_refuses_an_unknown_way_to_look_up_files(new_table):
    with pytest.raises(ValidationError, match="files: expected 'list', 'heads' or None, got 'all'"):
        new_table().doctor(files="all")


def test_diagnosis_pickles_and_shows_findings_as_text_and_html(new_table):
    table = new_table(appends=6)
    diagnosis = pickle.loads(pickle.dumps(table.doctor()))
    assert diagnosis == table.doctor()
    assert "db.t needs attention: 1 warning." in str(diagnosis)
    assert "icefloe --catalog lake compact db.t" in str(diagnosis)
    assert "<code>icefloe --catalog lake compact db.t</code>" in diagnosis._repr_html_()
    assert diagnosis.rows().column("code").to_pylist() == ["small-files"]
    assert json.loads(json.dumps(diagnosis.as_dict()))["findings"][0]["severity"] == "warning"
