"""Explanations of changelog scans."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog


@pytest.fixture
def table():
    """A table with two appended files, a delete file for the first and the second removed."""
    with load_catalog("explained", type="memory") as catalog:
        catalog.create_namespace("db")
        schema = pa.schema([("id", pa.int64()), ("s", pa.string())])
        made = catalog.create_table("db.t", schema, properties={"write.delete.mode": "merge-on-read"})
        for start in (0, 100):
            made.append(pa.table({"id": range(start, start + 100), "s": ["text"] * 100}, schema=schema))
        made.delete("id = 5")
        made.delete("id >= 100")
        yield made


def test_explain_reports_files_bytes_and_snapshots(table):
    scan = table.incremental_changelog_scan()
    explanation = scan.explain()
    snapshots = [snapshot.snapshot_id for snapshot in table.metadata.snapshots]
    assert explanation.snapshot_ids == tuple(snapshots)
    changed_files = [(one.snapshot_id, one.change_type, one.files, one.rows) for one in explanation.changes]
    assert changed_files == [
        (snapshots[0], "INSERT", 1, 100),
        (snapshots[1], "INSERT", 1, 100),
        (snapshots[2], "DELETE", 1, 100),
        (snapshots[3], "DELETE", 1, 100),
    ]
    [deletes] = Path(table.location(), "data").rglob("*-deletes.parquet")
    assert explanation.deletes.to_pylist() == [
        {"content": 1, "file_path": str(deletes), "size": deletes.stat().st_size}
    ]
    assert explanation.bytes_to_read == sum(one.size for one in explanation.changes) + deletes.stat().st_size


def test_explain_prints_a_tree_and_shows_html(table):
    explanation = table.incremental_changelog_scan(row_filter="s = '<b>'", selected_fields=("id",)).explain()
    text = str(table.incremental_changelog_scan().explain())
    assert text.startswith("changes of db.t, snapshots ")
    assert "snapshots: 4 of 4 changed rows" in text
    assert ": 1 file for inserted rows, " in text
    assert "filter: all rows" in text
    assert "data files: 2 for inserted rows, 2 for deleted rows" in text
    assert "delete files: 1 to apply" in text
    assert "columns: id, _change_type, _change_ordinal, _commit_snapshot_id" in str(explanation)
    shown = explanation._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "changes of db.t" in shown


def test_explain_of_an_empty_range_reads_nothing(table):
    last = table.current_snapshot().snapshot_id
    explanation = table.incremental_changelog_scan(from_snapshot_id_exclusive=last).explain()
    assert explanation.title() == ("changes of db.t", "no snapshots")
    assert explanation.bytes_to_read == 0
    assert "delete files: 0 to apply" in str(explanation)
