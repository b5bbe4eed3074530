"""Snapshots, summaries, manifests and entries after the same operations in the Java reference and in icefloe."""

from __future__ import annotations

from pathlib import Path

import pytest
from icefloe.catalog import load_catalog
from icefloe.partitioning import PartitionSpec
from icefloe.table import StaticTable
from icefloe.table.snapshots import Snapshot

from tests.interop.java.our_steps import BY_PART, SCHEMA, OurSteps
from tests.interop.java.same_steps import SCRIPTS, Script

pytestmark = pytest.mark.interop
# The environment of a Spark process is in the summaries of its commits.
IGNORED = ("engine", "iceberg-version", "app-", "spark.")


def ours(script: Script, warehouse: Path) -> list[str]:
    catalog = load_catalog("ours", type="hadoop", warehouse=str(warehouse))
    catalog.create_namespace("db")
    properties = {"format-version": str(script.version), **script.properties}
    spec = BY_PART if script.partitioned else PartitionSpec()
    table = catalog.create_table(f"db.{script.name}", SCHEMA, partition_spec=spec, properties=properties)
    return OurSteps(table).run(script)


def state(location: str) -> dict[str, object]:
    """A version of a table, with snapshots by their number and files by their name."""
    table = StaticTable.from_metadata(location)
    number = {snapshot.snapshot_id: place for place, snapshot in enumerate(table.snapshots())}
    refs = {name: (ref.snapshot_ref_type.value, number[ref.snapshot_id]) for name, ref in table.refs().items()}
    return {
        "snapshots": [
            {
                "operation": one.operation.value,
                "parent": number.get(one.parent_snapshot_id),
                "sequence": one.sequence_number,
                "schema": one.schema_id,
                "summary": summary(one, number),
            }
            for one in table.snapshots()
        ],
        "log": [number[entry.snapshot_id] for entry in table.history()],
        "refs": refs,
        "heads": {name: manifests(table, ref.snapshot_id, number) for name, ref in table.refs().items()},
    }


def summary(snapshot: Snapshot, number: dict[int, int]) -> dict[str, object]:
    found: dict[str, object] = {
        key: snapshot.summary[key] for key in snapshot.summary.additional_properties if not key.startswith(IGNORED)
    }
    if "source-snapshot-id" in found:
        found["source-snapshot-id"] = number[int(snapshot.summary["source-snapshot-id"])]
    return found


def manifests(table: StaticTable, snapshot_id: int, number: dict[int, int]) -> list[object]:
    found = []
    for manifest in table.snapshot_by_id(snapshot_id).manifests(table.io):
        entries = [
            (
                entry.status.name,
                entry.data_file.file_path.rsplit("/", 1)[-1],
                number[entry.snapshot_id],
                entry.sequence_number,
                entry.file_sequence_number,
                list(entry.data_file.partition),
            )
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)
        ]
        found.append(
            {
                "content": manifest.content.name,
                "spec": manifest.partition_spec_id,
                "sequence": (manifest.sequence_number, manifest.min_sequence_number),
                "by": number[manifest.added_snapshot_id],
                "files": (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count),
                "rows": (manifest.added_rows_count, manifest.existing_rows_count, manifest.deleted_rows_count),
                "entries": sorted(entries, key=repr),
            }
        )
    return found


@pytest.mark.parametrize("script", [pytest.param(script, id=script.name) for script in SCRIPTS])
def test_metadata_after_each_step_equals_that_of_java(java, tmp_path, script):
    theirs = java.record("steps", script.name)
    for step, own, other in zip(script.steps, ours(script, tmp_path), theirs, strict=True):
        assert state(own) == state(other), step
