"""Drops of hadoop tables are atomic, even if files cannot be deleted."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import LeftoverFilesWarning, NoSuchTableError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.update import AssertTableUUID, SetPropertiesUpdate
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField

from tests.faults.strace import CHANGES, needs_strace, run

SCHEMA = Schema(NestedField(1, "id", LongType()))
SPEC = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "id"))
ROWS = pa.table({"id": [1, 2, 3]})
CHANGE = """
import sys
import warnings
import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError
warnings.simplefilter("always")
warehouse, call = sys.argv[1:]
catalog = load_catalog("cat", type="hadoop", warehouse=warehouse)
try:
    if call == "create":
        catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    else:
        getattr(catalog, call)("db.t")
except IcebergError as error:
    print(type(error).__name__, type(error.__cause__).__name__)
"""


def filled(warehouse):
    catalog = load_catalog("cat", type="hadoop", warehouse=str(warehouse))
    catalog.create_namespace("db")
    catalog.create_table("db.t", SCHEMA, partition_spec=SPEC).append(ROWS)
    return catalog


def hidden(warehouse):
    return [path.name for path in (Path(warehouse) / "db").iterdir() if path.name.startswith(".")]


def is_whole_or_gone(catalog):
    """Check that a listed table is complete and an unlisted table does not exist. Return whether the table is listed."""
    assert catalog.list_namespaces("db") == []
    if catalog.list_tables("db") == [("db", "t")]:
        assert catalog.load_table("db.t").scan().count() in (0, 3)
        return True
    with pytest.raises(NoSuchTableError):
        catalog.load_table("db.t")
    catalog.create_table("db.t", SCHEMA).append(ROWS)
    assert catalog.load_table("db.t").scan().count() == 3
    return False


@needs_strace
@pytest.mark.parametrize("call", ["drop_table", "purge_table"])
def test_killed_drop_leaves_the_whole_table_or_none(tmp_path, call):
    def killed(number):
        warehouse = tmp_path / str(number)
        catalog = filled(warehouse)
        options = ("-e", f"inject={CHANGES}:signal=KILL:when={number}")
        return catalog, run(CHANGE, *options, arguments=(str(warehouse), call)).returncode

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(killed, range(1, 26)))
    listed = []
    for catalog, code in ends:
        assert code in (0, -signal.SIGKILL, 128 + signal.SIGKILL)
        listed.append(is_whole_or_gone(catalog))
        catalog.drop_table("db.t")
        assert hidden(catalog.properties["warehouse"]) == []
        catalog.drop_namespace("db")
    # The rename is the drop: kills before it leave the whole table, kills after it leave no table.
    assert listed == sorted(listed, reverse=True)
    assert set(listed) == {True, False}
    assert {code for _, code in ends} > {0}


@needs_strace
def test_killed_creation_leaves_a_whole_table_or_none(tmp_path):
    def killed(number):
        warehouse = tmp_path / str(number)
        catalog = load_catalog("cat", type="hadoop", warehouse=str(warehouse))
        catalog.create_namespace("db")
        options = ("-e", f"inject={CHANGES}:signal=KILL:when={number}")
        return catalog, run(CHANGE, *options, arguments=(str(warehouse), "create")).returncode

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(killed, range(1, 17)))
    listed = []
    for catalog, code in ends:
        assert code in (0, -signal.SIGKILL, 128 + signal.SIGKILL)
        listed.append(is_whole_or_gone(catalog))
        catalog.drop_table("db.t")
        catalog.drop_namespace("db")
        assert catalog.list_namespaces() == []
    assert set(listed) == {True, False}
    assert {code for _, code in ends} > {0}


@needs_strace
@pytest.mark.parametrize("code", ["EACCES", "EIO", "ENOSPC", "EBUSY"])
def test_failed_drop_changes_nothing(tmp_path, code):
    catalog = filled(tmp_path)
    options = ("-e", f"inject=?rename,?renameat,renameat2:error={code}")
    done = run(CHANGE, *options, arguments=(str(tmp_path), "purge_table"))
    assert done.stdout.split()[0] == "StorageError"
    assert done.stdout.split()[1] == ("PermissionError" if code == "EACCES" else "OSError")
    assert catalog.load_table("db.t").scan().count() == 3


@needs_strace
@pytest.mark.parametrize("call", ["unlink", "rmdir", "fsync"])
def test_drop_warns_of_undeleted_files_and_the_next_drop_deletes_them(tmp_path, call):
    catalog = filled(tmp_path)
    names = {"unlink": "?unlink,unlinkat", "rmdir": "?rmdir,unlinkat", "fsync": "fsync"}
    options = ("-e", f"inject={names[call]}:error=EIO")
    done = run(CHANGE, *options, arguments=(str(tmp_path), "drop_table"))
    assert done.returncode == 0
    assert "LeftoverFilesWarning: table db.t is dropped, but not all of its files could be deleted" in done.stderr
    assert "Input/output error" in done.stderr
    assert hidden(tmp_path) != []
    assert not is_whole_or_gone(catalog)
    catalog.drop_table("db.t")
    assert hidden(tmp_path) == []


def test_drop_without_permission_warns_of_every_file(tmp_path):
    catalog = filled(tmp_path)
    directory = Path(catalog.load_table("db.t").location()) / "data" / "id=2"
    undeletable = next(directory.iterdir()).name
    # The first drop imports modules, which may be unreadable after the change of permissions below.
    catalog.create_table("db.other", SCHEMA)
    catalog.drop_table("db.other")
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o011)
    if os.geteuid() == 0:
        for path in (tmp_path / "db", *(tmp_path / "db").rglob("*")):
            os.chown(path, 65534, 65534)
    directory.chmod(0o500)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            with pytest.warns(LeftoverFilesWarning, match="Permission denied") as caught:
                catalog.drop_table("db.t")
            files = caught[0].message.files
            code = 0 if [Path(location).name for location, _ in files] == [undeletable] else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    left = [path for path in (tmp_path / "db").rglob("*") if path.is_file()]
    assert [path.name for path in left] == [undeletable]
    assert catalog.list_tables("db") == []


class DroppedMeanwhile(AssertTableUUID):
    """A requirement whose check runs a concurrent drop of the table, followed by a creation if `again`."""

    again: bool

    def validate(self, base_metadata):
        super().validate(base_metadata)
        directory = Path(base_metadata.location)
        other = load_catalog("other", type="hadoop", warehouse=str(directory.parents[1]))
        other.drop_table("db.t")
        if self.again:
            other.create_table("db.t", SCHEMA)


@pytest.mark.parametrize("again", [False, True])
def test_commit_during_a_drop_fails_and_does_not_restore_the_table(tmp_path, again):
    catalog = filled(tmp_path)
    table = catalog.load_table("db.t")
    requirement = DroppedMeanwhile(uuid=table.metadata.table_uuid, again=again)
    with pytest.raises(NoSuchTableError, match=r"db\.t"):
        catalog.commit_table(table, (requirement,), (SetPropertiesUpdate(updates={"a": "1"}),))
    assert catalog.list_tables("db") == ([("db", "t")] if again else [])
    assert catalog.list_namespaces("db") == []
    if again:
        found = catalog.load_table("db.t")
        assert (found.properties.get("a"), found.scan().count()) == (None, 0)
    else:
        catalog.drop_namespace("db")


def test_concurrent_drops_leave_no_files(tmp_path):
    catalog = load_catalog("cat", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    for number in range(8):
        catalog.create_table(f"db.t{number}", SCHEMA, partition_spec=SPEC).append(pa.table({"id": range(20)}))
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(catalog.drop_table, f"db.t{number}") for number in range(8)]:
            done.result()
    catalog.drop_namespace("db")
    assert list(tmp_path.iterdir()) == []
