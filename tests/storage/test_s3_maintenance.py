"""Maintenance of a table on S3: refused deletions, lost replies, and writers that are killed at a request."""

import json
import subprocess
import sys

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog

IDS = list(range(6))


@pytest.fixture
def properties(s3, bucket, tmp_path):
    return {
        **s3.properties(),
        "type": "sql",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"s3://{bucket}/warehouse",
        "s3.retry.num-retries": "1",
    }


@pytest.fixture
def table(properties):
    """A table of six data files of one row, with a handle that reaches the storage directly."""
    catalog = load_catalog("lake", **properties)
    catalog.create_namespace("db")
    made = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    for number in IDS:
        made.append(pa.table({"id": [number]}))
    return made


@pytest.fixture
def far(properties, table, line):
    """The table through a proxy before the storage."""
    return load_catalog("lake", **{**properties, "s3.endpoint": line.endpoint}).load_table("db.t")


def is_deletion(request):
    return request.method == "DELETE" or (request.method == "POST" and "delete" in request.path)


def files(table):
    return set(table.io.core.list(table.location()).column("location").to_pylist())


def orphans(table):
    return table.refresh().maintenance.remove_orphan_files().older_than("0s").force()


def ids(table):
    return sorted(table.refresh().scan().to_arrow().column("id").to_pylist())


def test_maintained_table_has_only_the_files_that_it_needs(table):
    compacted = table.maintenance.rewrite_data_files().execute()
    assert (compacted.rewritten_data_files_count, compacted.added_data_files_count) == (6, 1)
    expired = table.maintenance.expire_snapshots().older_than("0s").execute()
    assert expired.deleted_data_files_count == 6
    table.io.core.write(f"{table.location()}/data/stray.parquet", b"x", overwrite=True)
    assert orphans(table).execute().deletion.deleted_files == 1
    assert orphans(table).plan().is_empty
    assert ids(table) == IDS
    assert sum(path.endswith(".parquet") for path in files(table)) == 1


@pytest.mark.parametrize("fault", [403, "cut", "mute"])
def test_refused_deletions_are_reported_and_left_to_the_removal_of_orphans(table, far, line, fault):
    far.maintenance.rewrite_data_files().execute()
    before = files(table)
    line.fault = lambda request: fault if is_deletion(request) else None
    expired = far.maintenance.expire_snapshots().older_than("0s").execute()
    reported = {location for location, _ in expired.deletion.failures}
    assert expired.is_partial
    assert len(table.refresh().snapshots()) == 1
    assert len(reported) == len(expired.deletion.failures) > 6
    assert reported <= before
    # A deletion whose reply was lost may have taken effect.
    if fault != "mute":
        assert before <= files(table)
        assert expired.deletion.deleted_files == 0
        failed = orphans(far).execute()
        assert (failed.deletion.deleted_files, failed.is_partial) == (0, True)
    line.fault = None
    orphans(far).execute()
    assert orphans(table).plan().is_empty
    assert ids(table) == IDS
    # Files that the current snapshot names as deleted are orphans after the next commit.
    assert all(path.endswith(".parquet") for path in reported & files(table))
    table.append(pa.table({"id": [99]}))
    table.maintenance.expire_snapshots().older_than("0s").execute()
    orphans(table).execute()
    assert not reported & files(table)
    assert ids(table) == [*IDS, 99]


COMPACT = """
import json, sys
from icefloe.catalog import load_catalog
table = load_catalog("lake", **json.loads(sys.argv[1])).load_table("db.t")
table.maintenance.rewrite_data_files().execute()
"""


@pytest.mark.parametrize(("part", "fault"), [(".parquet", "mute"), ("snap-", "cut"), (".metadata.json", "mute")])
def test_compaction_that_is_killed_at_a_request_leaves_a_sound_table(table, properties, line, part, fault):
    started = []

    def kill(request):
        if request.method != "PUT" or part not in request.path:
            return None
        started[0].kill()
        return fault

    line.fault = kill
    arguments = json.dumps({**properties, "s3.endpoint": line.endpoint})
    started.append(subprocess.Popen([sys.executable, "-c", COMPACT, arguments]))
    assert started[0].wait(120) == -9
    assert ids(table) == IDS
    assert len(table.snapshots()) == 6
    orphans(table).execute()
    again = table.maintenance.rewrite_data_files().execute()
    assert again.rewritten_data_files_count == 6
    assert ids(table) == IDS
