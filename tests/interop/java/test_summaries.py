"""Snapshot summaries of icefloe and of the Java reference after the same operations."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog

# Names of engines and sizes of files differ; Spark's rewriting of manifests counts no entries.
IGNORED = ("engine", "iceberg-version", "app-", "spark.", "entries-processed")
SIZES = {"added-files-size", "removed-files-size", "total-files-size"}

pytestmark = pytest.mark.interop


def rows(*pairs):
    ids, parts = zip(*pairs, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array(parts, pa.string())})


def write(warehouse: Path):
    """A table after the operations of `summaries.STATEMENTS`."""
    catalog = load_catalog("ours", type="hadoop", warehouse=str(warehouse))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", rows((1, "a")).schema)
    table.update_spec().add_field("part", "identity", "part").commit()

    def written(data):
        return table.transaction().target().writer.data_files(data)

    table.append(rows((1, "a"), (2, "b")))
    table.append(rows((3, "a")))
    table.append(rows((4, "b")))
    table.delete("part = 'b'")
    table.new_replace_partitions().append(written(rows((9, "a")))).commit()
    table.append(rows((5, "c")))
    table.rewrite_manifests().commit()
    files = table.scan().plan_whole_files().files.column("file_path")
    table.new_rewrite().delete(files).append(written(table.scan().to_arrow())).commit()
    return table


def comparable(summary):
    return {key: value for key, value in summary.items() if not key.startswith(IGNORED) and key not in SIZES}


def test_summaries_equal_those_of_the_reference(java, tmp_path):
    ours = [
        (one.operation.value, comparable({key: one.summary[key] for key in one.summary.additional_properties}))
        for one in write(tmp_path).snapshots()
    ]
    theirs = java.record("summaries", "statements")
    assert ours == [(operation, comparable(summary)) for operation, summary in theirs]


def overwrite(warehouse: Path):
    """A table after the operations of `summaries.OVERWRITES`, except replacements of the table."""
    catalog = load_catalog("ours", type="hadoop", warehouse=str(warehouse))
    catalog.create_namespace("db")
    one, none = rows((9, "a")), rows((9, "a")).slice(1)
    table = catalog.create_table("db.o", one.schema)
    table.update_spec().add_field("part", "identity", "part").commit()
    table.overwrite(none)
    table.overwrite(one)
    table.overwrite(rows((9, "b")), "part = 'b'")
    table.overwrite(none, "part = 'z'")
    table.overwrite(none, "part = 'b'")
    table.overwrite(one)
    return table


def test_overwrites_have_the_operations_and_summaries_of_the_reference(java, tmp_path):
    ours = [
        (one.operation.value, comparable({key: one.summary[key] for key in one.summary.additional_properties}))
        for one in overwrite(tmp_path).snapshots()
    ]
    theirs = [(operation, comparable(summary)) for operation, summary in java.record("summaries", "overwrites")]
    assert [operation for operation, _ in theirs[-2:]] == ["overwrite", "delete"]
    assert ours == theirs[:-2]
