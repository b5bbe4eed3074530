"""Commits of hadoop tables whose system calls take effect and report an error, in separate processes."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hadoop.versions import publish
from icefloe.exceptions import CommitFailedException

from tests.faults.strace import needs_strace, run

# Sets a table property and prints the outcome of the commit.
COMMIT = """
import sys
from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError
table = load_catalog("cat", type="hadoop", warehouse=sys.argv[1]).load_table("db.t")
try:
    table.transaction().set_properties({"a": "1"}).commit_transaction()
except IcebergError as error:
    print(f"{type(error).__name__}: {error}")
else:
    print("committed")
"""


@pytest.fixture
def table(tmp_path):
    catalog = load_catalog("cat", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    return catalog.create_table("db.t", pa.schema([("id", pa.int64())]))


def commit(table, *faults):
    """Commit in a process with failing system calls, and return its output."""
    done = run(COMMIT, *faults, arguments=(table.catalog.properties["warehouse"],))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def committed(table):
    """Return the property as read by another client, and the names of the version files."""
    files = sorted(path.name for path in (Path(table.location()) / "metadata").glob("*.metadata.json"))
    return table.catalog.load_table("db.t").properties.get("a"), files


@needs_strace
def test_commit_whose_directory_sync_fails_has_taken_effect(table):
    faults = ("-P", f"{table.location()}/metadata", "-e", "inject=fsync:error=EIO")
    assert commit(table, *faults) == "committed"
    assert committed(table) == ("1", ["v1.metadata.json", "v2.metadata.json"])


@needs_strace
def test_commit_whose_version_cannot_be_read_back_is_unknown_and_deletes_nothing(table):
    directory = f"{table.location()}/metadata"
    # The version file is published; then the sync of its directory and the read of the version file fail.
    faults = ("-P", directory, "-P", f"{directory}/v2.metadata.json", "-e", "inject=?open,openat:error=EIO")
    outcome = commit(table, *faults)
    assert outcome.startswith("CommitStateUnknownException: ")
    assert "v2.metadata.json: unknown whether the commit took effect" in outcome
    assert "nothing was cleaned up" in outcome
    assert committed(table) == ("1", ["v1.metadata.json", "v2.metadata.json"])


@needs_strace
def test_commit_whose_version_gets_no_name_is_a_failure(table):
    outcome = commit(table, "-e", "inject=?link,linkat:error=EIO")
    assert outcome.startswith("StorageError: ")
    assert committed(table) == (None, ["v1.metadata.json"])


def test_commit_that_meets_the_version_of_another_writer_is_a_conflict(table):
    table.transaction().set_properties({"a": "2"}).commit_transaction()
    stale = table.catalog.load_table("db.t")
    with pytest.raises(CommitFailedException, match="another commit was first"):
        publish(stale.io, stale.metadata.model_copy(update={"properties": {}}), stale.metadata_location)
    assert committed(table) == ("2", ["v1.metadata.json", "v2.metadata.json"])
